"""Reads of zarr-python's `ObjectStore` through blazarr's own client of the same server."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from blazarr.engine.chunks import ChunkBatch
from blazarr.errors import BlazarrError
from blazarr.stores.object_store import ObjectStore
from blazarr.stores.server import Server, server_of

# Parts of a shard that lie so near each other are one request, up to this size.
GAP, GROUP = 64 << 10, 4 << 20

# Clients that are kept, with their connections.
CLIENTS = 16

Span = tuple[int, int]


def client_of(store: Any) -> ObjectStore | None:
    """Return blazarr's client of the server that a store of obstore asks; None for other stores.

    Parameters
    ----------
    store
        The store that zarr-python's has in it.
    """
    if not type(store).__module__.startswith("obstore."):
        return None
    try:
        return _client(server_of(store, {}))
    except (BlazarrError, TypeError):
        # In memory or a folder, or with options that only obstore knows.
        return None


@lru_cache(CLIENTS)
def _client(server: Server) -> ObjectStore:
    return ObjectStore.of_server(server)


def fetch_from(client: ObjectStore, keys: list[str], chunks: ChunkBatch) -> list[Any]:
    """Fetch what a batch needs of each chunk: all of it, or a shard's index and what that names.

    Parameters
    ----------
    client
        What asks the server.
    keys
        Where the chunks are.
    chunks
        The batch.
    """
    indexes = chunks.index_ranges()
    first = client.get_many(keys, [part and slice(*part) for part in indexes])
    data = [None if found is None else found[0] for found in first]
    wanted: list[tuple[int, Span]] = []
    for number, (part, index) in enumerate(zip(indexes, data, strict=True)):
        if part is not None and index is not None:
            wanted += [(number, span) for span in _joined(chunks.ranges(number, index))]
    found = client.get_many(
        [keys[number] for number, _ in wanted], [slice(*span) for _, span in wanted]
    )
    return _with_parts(indexes, data, wanted, found)


def _with_parts(
    indexes: list[Any], data: list[Any], wanted: list[tuple[int, Span]], found: list[Any]
) -> list[Any]:
    parts: dict[int, list[tuple[int, Any]]] = {}
    gone = set()
    for (number, (start, _)), part in zip(wanted, found, strict=True):
        if part is None:
            gone.add(number)
        else:
            parts.setdefault(number, []).append((start, part[0]))
    return [
        None
        if number in gone
        else value
        if part is None or value is None
        else (value, parts.get(number, []))
        for number, (part, value) in enumerate(zip(indexes, data, strict=True))
    ]


def _joined(spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, stop in sorted(spans):
        if joined and start - joined[-1][1] <= GAP and stop - joined[-1][0] <= GROUP:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    return joined
