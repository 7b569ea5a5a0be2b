"""Chunk grids: how an array is cut into what one store key holds."""

from __future__ import annotations

from blazarr.grids.arguments import chunks_from_argument, shards_from_argument
from blazarr.grids.axis import Axis
from blazarr.grids.document import parse_chunk_shape, parse_grid
from blazarr.grids.grid import ChunkGrid
from blazarr.grids.guess import guess_chunks, guess_shards
from blazarr.grids.kinds import RectilinearChunkGrid, RegularChunkGrid

__all__ = [
    "Axis",
    "ChunkGrid",
    "RectilinearChunkGrid",
    "RegularChunkGrid",
    "chunks_from_argument",
    "guess_chunks",
    "guess_shards",
    "parse_chunk_shape",
    "parse_grid",
    "shards_from_argument",
]
