"""zarr-python's methods for each kind of selection: the part of `Array` that parses."""

from __future__ import annotations

from typing import Any

from blazarr.indexing import (
    Selection,
    parse_basic,
    parse_block,
    parse_coordinate,
    parse_getitem,
    parse_mask,
    parse_orthogonal,
    parse_vindex,
    pop_fields,
)
from blazarr.indexing.fields import Fields
from blazarr.nodes.accessors import Accessor
from blazarr.nodes.state import ArrayState


class Selectable:
    """Every way to select, over one way to read and one to write."""

    __slots__ = ()

    _state: ArrayState

    def _get(self, selection: Selection, fields: Fields | None = None, out: Any = None) -> Any:
        raise NotImplementedError

    def _set(self, selection: Selection, value: Any, fields: Fields | None = None) -> None:
        raise NotImplementedError

    def __getitem__(self, selection: Any) -> Any:
        fields, key = pop_fields(selection)
        return self._get(parse_getitem(key, self._state.shape), fields)

    def __setitem__(self, selection: Any, value: Any) -> None:
        fields, key = pop_fields(selection)
        self._set(parse_getitem(key, self._state.shape), value, fields)

    def get_basic_selection(
        self,
        selection: Any = ...,
        *,
        out: Any = None,
        prototype: Any = None,
        fields: Fields | None = None,
    ) -> Any:
        """Read a selection of integers, slices and an ellipsis.

        Parameters
        ----------
        selection
            What ``array[...]`` takes, without index arrays.
        out
            Array to read into; of the selection's shape, with any strides.
        prototype
            Accepted for zarr-python's sake; results are numpy arrays.
        fields
            Fields of a structured data type to read.
        """
        return self._get(parse_basic(selection, self._state.shape), fields, out)

    def set_basic_selection(
        self,
        selection: Any,
        value: Any,
        *,
        fields: Fields | None = None,
        prototype: Any = None,
    ) -> None:
        """Write a selection of integers, slices and an ellipsis; see `get_basic_selection`."""
        self._set(parse_basic(selection, self._state.shape), value, fields)

    def get_orthogonal_selection(
        self,
        selection: Any,
        *,
        out: Any = None,
        fields: Fields | None = None,
        prototype: Any = None,
    ) -> Any:
        """Read with an index array, mask, slice or integer for each axis.

        Parameters are those of `get_basic_selection`.
        """
        return self._get(parse_orthogonal(selection, self._state.shape), fields, out)

    def set_orthogonal_selection(
        self,
        selection: Any,
        value: Any,
        *,
        fields: Fields | None = None,
        prototype: Any = None,
    ) -> None:
        """Write with an index array, mask, slice or integer for each axis."""
        self._set(parse_orthogonal(selection, self._state.shape), value, fields)

    def get_mask_selection(
        self,
        mask: Any,
        *,
        out: Any = None,
        fields: Fields | None = None,
        prototype: Any = None,
    ) -> Any:
        """Read the elements where a boolean array of the array's shape is true."""
        return self._get(parse_mask(mask, self._state.shape), fields, out)

    def set_mask_selection(
        self,
        mask: Any,
        value: Any,
        *,
        fields: Fields | None = None,
        prototype: Any = None,
    ) -> None:
        """Write the elements where a boolean array of the array's shape is true."""
        self._set(parse_mask(mask, self._state.shape), value, fields)

    def get_coordinate_selection(
        self,
        selection: Any,
        *,
        out: Any = None,
        fields: Fields | None = None,
        prototype: Any = None,
    ) -> Any:
        """Read points: an array of coordinates for each axis."""
        return self._get(parse_coordinate(selection, self._state.shape), fields, out)

    def set_coordinate_selection(
        self,
        selection: Any,
        value: Any,
        *,
        fields: Fields | None = None,
        prototype: Any = None,
    ) -> None:
        """Write points: an array of coordinates for each axis."""
        self._set(parse_coordinate(selection, self._state.shape), value, fields)

    def get_block_selection(
        self,
        selection: Any,
        *,
        out: Any = None,
        fields: Fields | None = None,
        prototype: Any = None,
    ) -> Any:
        """Read whole chunks (shards, where sharded) by their place in the grid."""
        return self._get(_block(self, selection), fields, out)

    def set_block_selection(
        self,
        selection: Any,
        value: Any,
        *,
        fields: Fields | None = None,
        prototype: Any = None,
    ) -> None:
        """Write whole chunks (shards, where sharded) by their place in the grid."""
        self._set(_block(self, selection), value, fields)

    @property
    def oindex(self) -> Accessor:
        """Brackets for `get_orthogonal_selection`."""
        return Accessor(self, _orthogonal)

    @property
    def vindex(self) -> Accessor:
        """Brackets for `get_coordinate_selection` and `get_mask_selection`."""
        return Accessor(self, _vindex)

    @property
    def blocks(self) -> Accessor:
        """Brackets for `get_block_selection`."""
        return Accessor(self, _block)


# Functions of the module, so that accessors can be pickled.
def _orthogonal(array: Selectable, key: Any) -> Selection:
    return parse_orthogonal(key, array._state.shape)  # noqa: SLF001


def _vindex(array: Selectable, key: Any) -> Selection:
    return parse_vindex(key, array._state.shape)  # noqa: SLF001


def _block(array: Selectable, key: Any) -> Selection:
    state = array._state  # noqa: SLF001
    return parse_block(key, state.shape, state.metadata.grid)
