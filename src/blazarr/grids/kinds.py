"""Names of the two kinds of grid, for ``isinstance``: there is one class, `ChunkGrid`."""

from __future__ import annotations

from typing import ClassVar

from blazarr.grids.grid import ChunkGrid


class _Kind(type):
    """The class of a name that stands for some of the grids."""

    regular: ClassVar[bool]

    def __instancecheck__(cls, grid: object) -> bool:
        return isinstance(grid, ChunkGrid) and grid.is_regular == cls.regular


class RegularChunkGrid(metaclass=_Kind):
    """Grids whose chunks all have one shape."""

    regular: ClassVar[bool] = True


class RectilinearChunkGrid(metaclass=_Kind):
    """Grids whose chunks differ along some axis."""

    regular: ClassVar[bool] = False
