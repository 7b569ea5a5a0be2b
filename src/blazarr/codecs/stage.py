"""What stands between two codecs of a chain: elements of a type in a shape, or bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

BYTE: Final[np.dtype[Any]] = np.dtype("u1")

# Numbers that an element of a kind consists of; other kinds are bytes.
_PARTS_OF_KIND: Final = {"i": 1, "u": 1, "f": 1, "m": 1, "M": 1, "c": 2}
_UTF32_UNIT: Final = 4


@dataclass(frozen=True, slots=True)
class Stage:
    """The data that a codec is given when it encodes, and gives back when it decodes.

    Attributes
    ----------
    dtype : numpy.dtype
        Type of the elements, in the byte order in which they lie there.
    shape : tuple of (int or None), or None
        Shape of the chunk; None for an axis whose size differs from chunk to chunk, and for all
        of it where the length of the data is not known.
    item : int
        Size of an element where the chain turned elements into bytes, or else here.
    """

    dtype: np.dtype[Any]
    shape: tuple[int | None, ...] | None
    item: int

    @classmethod
    def of(cls, dtype: np.dtype[Any], shape: tuple[int | None, ...] | None) -> Stage:
        """Elements of a type."""
        return cls(dtype, shape, dtype.itemsize)

    @property
    def count(self) -> int | None:
        """Number of elements, where it is the same in all chunks."""
        if self.shape is None:
            return None
        sizes = [size for size in self.shape if size is not None]
        return math.prod(sizes) if len(sizes) == len(self.shape) else None

    @property
    def nbytes(self) -> int | None:
        """Number of bytes, where it is the same in all chunks."""
        count = self.count
        return None if count is None else count * self.dtype.itemsize

    def as_bytes(self) -> Stage:
        """The same data as bytes of unknown number."""
        return Stage(BYTE, None, self.item)

    def viewed(self, dtype: np.dtype[Any]) -> Stage:
        """The same bytes as elements of another type, in one row."""
        count = self.count
        size = None if count is None else count * self.dtype.itemsize // dtype.itemsize
        return Stage.of(dtype, (size,))

    def flat(self, dtype: np.dtype[Any]) -> Stage:
        """As many elements of another type, in one row."""
        return Stage.of(dtype, (self.count,))

    def retyped(self, dtype: np.dtype[Any]) -> Stage:
        """As many elements of another type, in the same shape."""
        return replace(self, dtype=dtype, item=dtype.itemsize)


def swap_unit(dtype: np.dtype[Any]) -> int:
    """Bytes that change order together when an element changes its byte order; 0 for none.

    Structured types have no one unit: see `has_orders`.
    """
    if dtype.kind == "U":
        return _UTF32_UNIT
    if dtype.kind == "V" and dtype.type is not np.void:
        # bfloat16 and its kin are numbers to all but numpy.
        unit = dtype.itemsize
    else:
        unit = dtype.itemsize // _PARTS_OF_KIND.get(dtype.kind, dtype.itemsize or 1)
    return unit if unit > 1 else 0


def has_orders(dtype: np.dtype[Any]) -> bool:
    """Whether elements of a type look different in another byte order."""
    if dtype.subdtype is not None:
        return has_orders(dtype.subdtype[0])
    if dtype.names is not None:
        return any(has_orders(dtype[name]) for name in dtype.names)
    return swap_unit(dtype) > 0
