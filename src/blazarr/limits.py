"""What blazarr accepts from outside before it refuses, in one place.

Stores are untrusted: a document or header may claim anything. Each limit is far above what
real data needs; raise one with ``blazarr.config.set({"limits.json_depth": 200})``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds on hostile input. `blazarr.config.limits` holds the current ones.

    Attributes
    ----------
    document_bytes
        Size of one metadata document.
    json_depth
        Nesting of one metadata document.
    rank
        Dimensions of an array (numpy has no more than 64).
    item_bytes
        Size of one item of an array, such as a record or a fixed-length text.
    grid_edges
        Explicit chunks along one axis of a rectilinear grid.
    listed_chunks
        Chunks along one axis where each is listed, as for copies, conversions and checks.
    shard_nesting
        Shards within shards.
    decode_window_bytes
        What a decoder may produce beyond the size that the chunk grid gives.
    chunk_bytes
        Size of one decoded chunk (of a whole shard, where it is sharded).
    """

    document_bytes: int = 64 * 1024 * 1024
    json_depth: int = 64
    rank: int = 64
    item_bytes: int = 64 * 1024 * 1024
    grid_edges: int = 4 * 1024 * 1024
    listed_chunks: int = 16 * 1024 * 1024
    shard_nesting: int = 8
    decode_window_bytes: int = 64 * 1024
    chunk_bytes: int = 64 * 1024 * 1024 * 1024
