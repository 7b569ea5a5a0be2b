"""Block selections (`blocks`): whole chunks, by their position in the grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from blazarr.errors import BoundsCheckError, SelectionError
from blazarr.indexing.axis import as_integer, axis_slice, fill_key, unsupported
from blazarr.indexing.selection import Selection, Strided

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Axis(Protocol):
    def count(self, extent: int) -> int: ...
    def bounds(self, index: int, extent: int) -> tuple[int, int]: ...


class _Grid(Protocol):
    @property
    def axes(self) -> Sequence[_Axis]: ...


def parse_block(key: Any, shape: tuple[int, ...], grid: _Grid) -> Selection:
    """Parse a key of chunk positions.

    Parameters
    ----------
    key : int, slice with step 1, ellipsis or tuple of them
        Positions in the chunk grid. An integer keeps its axis, for a chunk has one.
    shape : tuple of int
        Shape of the array.
    grid : ChunkGrid
        The array's grid.

    Returns
    -------
    Selection

    Raises
    ------
    SelectionError
        If the key does not fit the grid.
    """
    terms = tuple(
        _axis_blocks(item, axis, size, grid.axes[axis])
        for axis, (item, size) in enumerate(zip(fill_key(key, len(shape)), shape, strict=True))
    )
    return Selection(shape, (), terms, tuple(term.count for term in terms))


def _axis_blocks(item: Any, axis: int, size: int, grid_axis: _Axis) -> Strided:
    first, last = _chunk_range(item, axis, grid_axis.count(size))
    if first == last:
        return axis_slice(slice(0), axis, size)
    start, _ = grid_axis.bounds(first, size)
    _, stop = grid_axis.bounds(last - 1, size)
    return axis_slice(slice(start, stop), axis, size)


def _chunk_range(item: Any, axis: int, chunks: int) -> tuple[int, int]:
    if isinstance(item, slice):
        if item.step not in (None, 1):
            raise SelectionError(
                f"a block slice takes a step of 1 only, not {item.step} (axis {axis})"
            )
        start = as_integer(item.start)
        # As zarr-python does, unlike numpy: who writes blocks that aren't there should know.
        if chunks and start is not None and not -chunks <= start < chunks:
            raise BoundsCheckError(
                f"block {start} is out of bounds for axis {axis} with {chunks} chunks"
            )
        blocks = axis_slice(item, axis, chunks)
        return blocks.start, blocks.start + blocks.count
    index = as_integer(item)
    if index is None:
        raise unsupported(item, axis, "an integer or a slice with step 1")
    if not -chunks <= index < chunks:
        raise BoundsCheckError(
            f"block {index} is out of bounds for axis {axis} with {chunks} chunks"
        )
    index %= chunks
    return index, index + 1
