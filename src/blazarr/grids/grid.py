"""`ChunkGrid`: how an array is cut into what one store key holds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from blazarr.config import config
from blazarr.errors import LimitError, SelectionError, UnsupportedError
from blazarr.grids.axis import Axis


@dataclass(frozen=True)
class ChunkGrid:
    """A regular or rectilinear grid, one `Axis` a dimension.

    The grid doesn't know the array's shape; methods that need it take it.
    """

    axes: tuple[Axis, ...]

    @classmethod
    def regular(cls, chunk_shape: tuple[int, ...]) -> ChunkGrid:
        """Make the grid whose chunks all have this shape."""
        return cls(tuple(Axis(size) for size in chunk_shape))

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.axes)

    @property
    def is_regular(self) -> bool:
        """Whether all chunks have one shape."""
        return all(axis.lengths is None for axis in self.axes)

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """The shape of every chunk of a regular grid."""
        if not self.is_regular:
            raise UnsupportedError(
                "chunks of a rectilinear grid have no one shape; use read_chunk_sizes"
            )
        return tuple(axis.size for axis in self.axes)

    def chunk_count(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Count the chunks along each axis."""
        return tuple(axis.count(extent) for axis, extent in zip(self.axes, shape, strict=True))

    def total_chunks(self, shape: tuple[int, ...]) -> int:
        """Count all chunks."""
        return math.prod(self.chunk_count(shape))

    def chunk_sizes(self, shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """Give the lengths of the chunks along each axis, cut at the array's end, as dask does.

        Raises
        ------
        LimitError
            There are more chunks along one axis than ``limits.listed_chunks``.
        """
        most, limit = max(self.chunk_count(shape), default=0), config.limits.listed_chunks
        if most > limit:
            raise LimitError(
                f"{most} chunks along one axis are too many to list; raise limits.listed_chunks if "
                "that is meant",
                size=most,
                limit=limit,
            )
        return tuple(axis.sizes(extent) for axis, extent in zip(self.axes, shape, strict=True))

    def chunk_slices(
        self, coordinates: tuple[int, ...], shape: tuple[int, ...]
    ) -> tuple[slice, ...]:
        """Give the part of the array that one chunk holds."""
        if len(coordinates) != self.ndim:
            raise SelectionError(
                f"{len(coordinates)} chunk coordinates for a grid of {self.ndim} dimensions"
            )
        bounds = (
            axis.bounds(index, extent)
            for axis, index, extent in zip(self.axes, coordinates, shape, strict=True)
        )
        return tuple(slice(start, stop) for start, stop in bounds)

    def encoded_shape(self, coordinates: tuple[int, ...]) -> tuple[int, ...]:
        """Give the shape that a chunk is encoded with, which may pass the array's end."""
        return tuple(
            axis.full_length(index) for axis, index in zip(self.axes, coordinates, strict=True)
        )

    def grown(self, shape: tuple[int, ...]) -> ChunkGrid:
        """Give the grid of an array resized to `shape`."""
        return ChunkGrid(
            tuple(axis.grown(extent) for axis, extent in zip(self.axes, shape, strict=True))
        )

    def to_json(self) -> dict[str, Any]:
        """Give the ``chunk_grid`` member of a v3 document."""
        if self.is_regular:
            return {"name": "regular", "configuration": {"chunk_shape": list(self.chunk_shape)}}
        shapes = [axis.to_json() for axis in self.axes]
        return {
            "name": "rectilinear",
            "configuration": {"kind": "inline", "chunk_shapes": shapes},
        }
