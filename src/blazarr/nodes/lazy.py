"""`array.lazy`: selections that are put together first and run later."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from blazarr.errors import BlazarrError
from blazarr.indexing import (
    Selection,
    parse_advanced,
    parse_getitem,
    parse_orthogonal,
)

if TYPE_CHECKING:
    from blazarr.nodes.array import Array

Parse = Callable[[Any, tuple[int, ...]], Selection]


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class LazyArray:
    """A part of an array that is not read yet.

    Brackets, `oindex`, `vindex` and `transpose` give a part of the part, at no cost but their own;
    `result` reads the whole of it at once. Assigning writes at once. Indices count from 0 in each
    part, and negative ones from its end, as in numpy.

    Attributes
    ----------
    array
        The array.
    selection
        The part of it.
    """

    array: Array
    selection: Selection

    def __repr__(self) -> str:
        return f"<LazyArray {self.array.store_path} shape={self.shape} dtype={self.dtype}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the result."""
        return self.selection.result_shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """numpy data type of the elements."""
        return self.array.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __getitem__(self, key: Any) -> LazyArray:
        return self._part(parse_getitem, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._part(parse_getitem, key).write(value)

    @property
    def oindex(self) -> LazyAccessor:
        """Brackets for an index array, mask, slice or integer for each axis."""
        return LazyAccessor(self, parse_orthogonal)

    @property
    def vindex(self) -> LazyAccessor:
        """Brackets for points, masks, and slices among them, with numpy's meaning."""
        return LazyAccessor(self, parse_advanced)

    def _part(self, parse: Parse, key: Any) -> LazyArray:
        return LazyArray(self.array, self.selection.compose(parse(key, self.shape)))

    def transpose(self, *axes: int) -> LazyArray:
        """Return the part with its axes in another order.

        Parameters
        ----------
        *axes
            The axes, in the order wanted; without them it is reversed.
        """
        order = tuple(axis % self.ndim for axis in axes) if axes else tuple(range(self.ndim))[::-1]
        if sorted(order) != list(range(self.ndim)):
            raise BlazarrError(
                f"axes {axes} do not name each of the {self.ndim} axes once", argument="axes"
            )
        return LazyArray(self.array, self.selection.transpose(order))

    @property
    def T(self) -> LazyArray:  # noqa: N802
        """The part with its axes reversed."""
        return self.transpose()

    def to_json(self) -> dict[str, Any]:
        """Return which part of the array it is, as an ndsel message of kind ``transform``.

        Without ``kind`` it is what TensorStore's ``IndexTransform`` and zarr-indexing's take.
        """
        from blazarr.indexing.ndsel import to_ndsel

        return to_ndsel(self.selection)

    def from_json(self, message: Mapping[str, Any]) -> LazyArray:
        """Return the part of this part that an ndsel message describes.

        Parameters
        ----------
        message
            A message of any kind (``point``, ``box``, ``slice``, ``points``, ``transform``); its indices count from 0 in
            this part, and negative ones are errors.

        Raises
        ------
        SelectionError
            If the message is wrong or does not fit.
        """
        from blazarr.indexing.ndsel import from_ndsel

        return LazyArray(self.array, self.selection.compose(from_ndsel(message, self.shape)))

    def result(self, *, out: Any = None) -> Any:
        """Read the part.

        Parameters
        ----------
        out
            Array to read into; of the part's shape, with any strides.
        """
        return self.array._get(self.selection, out=out)  # noqa: SLF001

    def write(self, value: Any) -> None:
        """Write the part.

        Parameters
        ----------
        value
            What to write; broadcast as numpy does.
        """
        self.array._set(self.selection, value)  # noqa: SLF001

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise BlazarrError("copy=False is not possible: reading makes a copy", argument="copy")
        return np.asarray(self.result(), dtype=dtype)


@dataclass(frozen=True, slots=True)
class LazyAccessor:
    """Brackets of a lazy array whose key `parse` understands."""

    lazy: LazyArray
    parse: Parse

    def __getitem__(self, key: Any) -> LazyArray:
        return self.lazy._part(self.parse, key)  # noqa: SLF001

    def __setitem__(self, key: Any, value: Any) -> None:
        self[key].write(value)
