"""zarr-python's names for what is no experiment here."""

from blazarr.grids import ChunkGrid, RectilinearChunkGrid, RegularChunkGrid

__all__ = ["ChunkGrid", "RectilinearChunkGrid", "RegularChunkGrid"]
