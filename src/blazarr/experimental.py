"""zarr-python's name for what is no experiment here."""

from blazarr.grids import ChunkGrid

__all__ = ["ChunkGrid"]
