"""Every way to select, for arrays on a device: over one way to read and one to write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
)

Parser = Callable[[Any], Selection]


@dataclass(frozen=True)
class Brackets:
    """Brackets that select in their own way."""

    parse: Parser
    get: Callable[[Selection], Any]
    set: Callable[[Selection, Any], None]

    def __getitem__(self, key: Any) -> Any:
        return self.get(self.parse(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        self.set(self.parse(key), value)


class Selectable:
    """zarr-python's ways to select; results and values are on the device."""

    array: Any

    def _get(self, selection: Selection, out: Any = None) -> Any:
        raise NotImplementedError

    def _set(self, selection: Selection, value: Any) -> None:
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Any:
        return self._get(parse_getitem(key, self.array.shape))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._set(parse_getitem(key, self.array.shape), value)

    @property
    def oindex(self) -> Brackets:
        """An index array, mask, slice or integer for each axis."""
        return self._brackets(parse_orthogonal)

    @property
    def vindex(self) -> Brackets:
        """Points, or a mask of the array's shape."""
        return self._brackets(parse_vindex)

    @property
    def blocks(self) -> Brackets:
        """Whole chunks (shards, where sharded) by their place in the grid."""
        return Brackets(self._parse_block, self._get, self._set)

    def get_basic_selection(self, selection: Any = ..., *, out: Any = None) -> Any:
        """Read integers, slices and an ellipsis."""
        return self._get(parse_basic(selection, self.array.shape), out)

    def set_basic_selection(self, selection: Any, value: Any) -> None:
        """Write integers, slices and an ellipsis."""
        self._set(parse_basic(selection, self.array.shape), value)

    def get_orthogonal_selection(self, selection: Any, *, out: Any = None) -> Any:
        """Read with an index array, mask, slice or integer for each axis."""
        return self._get(parse_orthogonal(selection, self.array.shape), out)

    def set_orthogonal_selection(self, selection: Any, value: Any) -> None:
        """Write with an index array, mask, slice or integer for each axis."""
        self._set(parse_orthogonal(selection, self.array.shape), value)

    def get_coordinate_selection(self, selection: Any, *, out: Any = None) -> Any:
        """Read points: an array of coordinates for each axis."""
        return self._get(parse_coordinate(selection, self.array.shape), out)

    def set_coordinate_selection(self, selection: Any, value: Any) -> None:
        """Write points: an array of coordinates for each axis."""
        self._set(parse_coordinate(selection, self.array.shape), value)

    def get_mask_selection(self, mask: Any, *, out: Any = None) -> Any:
        """Read the elements where a boolean array of the array's shape is true."""
        return self._get(parse_mask(mask, self.array.shape), out)

    def set_mask_selection(self, mask: Any, value: Any) -> None:
        """Write the elements where a boolean array of the array's shape is true."""
        self._set(parse_mask(mask, self.array.shape), value)

    def get_block_selection(self, selection: Any, *, out: Any = None) -> Any:
        """Read whole chunks (shards, where sharded) by their place in the grid."""
        return self._get(self._parse_block(selection), out)

    def set_block_selection(self, selection: Any, value: Any) -> None:
        """Write whole chunks (shards, where sharded) by their place in the grid."""
        self._set(self._parse_block(selection), value)

    def _brackets(self, parse: Callable[[Any, tuple[int, ...]], Selection]) -> Brackets:
        shape = self.array.shape
        return Brackets(lambda key: parse(key, shape), self._get, self._set)

    def _parse_block(self, key: Any) -> Selection:
        return parse_block(key, self.array.shape, self.array.metadata.grid)
