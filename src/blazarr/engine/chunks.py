"""The core's engine for chunks that somebody else has planned."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from blazarr import _core
from blazarr._core import ChunkBatch, ChunkEngine
from blazarr.config import config
from blazarr.grids import Axis
from blazarr.metadata import ArrayMetadata
from blazarr.stores import LocalStore, native

__all__ = ["ChunkBatch", "ChunkEngine", "chunk_spec", "folder"]


def chunk_spec(metadata: ArrayMetadata, chain: dict[str, Any], fill: bytes) -> bytes:
    """Describe an array's chunks for a `ChunkEngine`.

    Parameters
    ----------
    metadata
        The array's metadata.
    chain
        Its codecs, as the core reads them.
    fill
        The bytes of one item that was never written, as decoded items have them.
    """
    spec = {
        "shape": list(metadata.shape),
        "grid": [_axis(axis) for axis in metadata.grid.axes],
        "item": len(fill),
        "fill": fill.hex(),
        # Whoever plans the chunks names them.
        "keys": {"prefix": "", "kind": "default", "separator": "/"},
        "chain": chain,
        "max_chunk_bytes": config.limits.chunk_bytes,
    }
    return json.dumps(spec).encode()


@lru_cache(maxsize=256)
def folder(root: str) -> _core.Store:
    """Give the core's store of a folder."""
    return native(LocalStore(root))


def _axis(axis: Axis) -> dict[str, Any]:
    return {"size": axis.size} if axis.lengths is None else {"edges": list(axis.edges)}
