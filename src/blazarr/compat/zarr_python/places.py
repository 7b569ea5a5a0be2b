"""Where chunks are, and how their bytes get from there to the engine and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from zarr.core.buffer import Buffer, cpu
from zarr.storage import LocalStore, MemoryStore, ObjectStore, StorePath, ZipStore

from blazarr.compat.zarr_python.archives import read_entries
from blazarr.compat.zarr_python.buckets import client_of, fetch_from
from blazarr.compat.zarr_python.sessions import Runner
from blazarr.compat.zarr_python.transfer import Item, fetch, fetch_whole, store_all
from blazarr.compat.zarr_python.untouched import has_own_methods
from blazarr.engine.chunks import ChunkBatch, folder

_STORE_METHODS = frozenset(
    [
        "_open",
        "_ensure_open",
        "_sync_open",
        "_zipfile",
        "_get",
        "_set",
        "get",
        "get_sync",
        "get_partial_values",
        "set",
        "set_sync",
        "delete",
        "delete_sync",
    ]
)
_PATH_METHODS = frozenset(["get", "get_sync", "set", "set_sync", "delete", "delete_sync"])


class Place(Protocol):
    """A kind of store.

    Attributes
    ----------
    holds_bytes
        Whether the encoded bytes of a whole batch are in memory at once.
    """

    holds_bytes: ClassVar[bool]

    async def read(self, items: list[Item], chunks: ChunkBatch, run: Runner) -> bytes:
        """Read a batch; a byte for each chunk: whether it was there."""

    async def write(self, items: list[Item], chunks: ChunkBatch, run: Runner) -> None:
        """Write a batch."""


@dataclass(frozen=True)
class Folder:
    """A `LocalStore` that nobody changed."""

    holds_bytes: ClassVar[bool] = False

    store: LocalStore

    async def read(self, items: list[Item], chunks: ChunkBatch, run: Runner) -> bytes:
        """Read through the core."""
        await _opened(self.store)
        return await run(partial(chunks.read, self._core(), threads=run.threads))

    async def write(self, items: list[Item], chunks: ChunkBatch, run: Runner) -> None:
        """Write through the core."""
        await _opened(self.store)
        self.store._check_writable()
        work = partial(
            chunks.write,
            self._core(),
            threads=run.threads,
            write_empty=_write_empty(items),
        )
        await run(work)

    def _core(self) -> Any:
        # Looked up at each call, since a store may be moved.
        return folder(str(self.store.root))


@dataclass(frozen=True)
class Memory:
    """A `MemoryStore` that nobody changed: a dictionary of buffers."""

    holds_bytes: ClassVar[bool] = False

    store: MemoryStore

    async def read(self, items: list[Item], chunks: ChunkBatch, run: Runner) -> bytes:
        """Decode where the bytes lie."""
        await _opened(self.store)
        stored = self.store._store_dict
        data = [_bytes(stored.get(item[0].path)) for item in items]
        return await run(partial(chunks.decode, data, threads=run.threads))

    async def write(self, items: list[Item], chunks: ChunkBatch, run: Runner) -> None:
        """Encode, and keep what that gives."""
        await _opened(self.store)
        self.store._check_writable()
        stored = self.store._store_dict
        data: list[Any] = [None] * len(items)
        for number in chunks.partial():
            data[number] = _bytes(stored.get(items[number][0].path))
        encoded = await run(_encoding(items, chunks, data, run.threads))
        # In the host's memory, where arrays on a GPU are read from too.
        buffer = cpu.Buffer
        for item, new in zip(items, encoded, strict=True):
            if new is None:
                stored.pop(item[0].path, None)
            else:
                stored[item[0].path] = buffer.from_array_like(_array(new))


@dataclass(frozen=True)
class Elsewhere:
    """Any other store, by its own methods."""

    holds_bytes: ClassVar[bool] = True

    async def read(self, items: list[Item], chunks: ChunkBatch, run: Runner) -> bytes:
        """Fetch what is wanted, then decode it."""
        data = await fetch(items, chunks)
        return await run(partial(chunks.decode, data, threads=run.threads))

    async def write(self, items: list[Item], chunks: ChunkBatch, run: Runner) -> None:
        """Fetch what is changed in part, encode, then store."""
        data = await fetch_whole(items, chunks.partial())
        encoded = await run(_encoding(items, chunks, data, run.threads))
        await store_all(items, encoded)


@dataclass(frozen=True)
class Archive(Elsewhere):
    """A `ZipStore` of a file that nobody changed; it is written by its own methods."""

    store: ZipStore

    async def read(self, items: list[Item], chunks: ChunkBatch, run: Runner) -> bytes:
        """Decode what lies in the file."""
        await _opened(self.store)

        def work() -> bytes:
            data = read_entries(self.store, [item[0].path for item in items], chunks)
            return chunks.decode(data, threads=run.threads)

        return await run(work)


@dataclass(frozen=True)
class Bucket(Elsewhere):
    """An `ObjectStore` of a server: blazarr's own client reads; it is written by its own methods."""

    store: ObjectStore[Any]

    async def read(self, items: list[Item], chunks: ChunkBatch, run: Runner) -> bytes:
        """Fetch what is wanted with many requests at a time, then decode it."""
        client = client_of(self.store.store)
        if client is None:
            return await super().read(items, chunks, run)
        await _opened(self.store)

        def work() -> bytes:
            data = fetch_from(client, [item[0].path for item in items], chunks)
            return chunks.decode(data, threads=run.threads)

        return await run(work)


def place_of(items: list[Item]) -> Place:
    """Find out where a batch's chunks are."""
    first = items[0][0]
    if type(first) is not StorePath or not has_own_methods(first, _PATH_METHODS):
        return Elsewhere()
    store = first.store
    kind = _KINDS.get(type(store))
    if kind is None or not has_own_methods(store, _STORE_METHODS):
        return Elsewhere()
    if isinstance(store, ZipStore) and not isinstance(store.path, Path):
        return Elsewhere()
    if any(type(item[0]) is not StorePath or item[0].store is not store for item in items):
        return Elsewhere()
    return kind(store)


_KINDS: dict[type, Callable[[Any], Place]] = {
    LocalStore: Folder,
    MemoryStore: Memory,
    ZipStore: Archive,
    ObjectStore: Bucket,
}


def _encoding(
    items: list[Item], chunks: ChunkBatch, data: list[Any], threads: int | None
) -> Callable[[], list[bytes | memoryview | None]]:
    return partial(chunks.encode, data, threads=threads, write_empty=_write_empty(items))


def _write_empty(items: list[Item]) -> bool:
    return bool(items[0][1].config.write_empty_chunks)


async def _opened(store: LocalStore | MemoryStore | ZipStore | ObjectStore[Any]) -> None:
    if not store._is_open:
        await store._ensure_open()


def _bytes(buffer: Buffer | None) -> Any:
    return None if buffer is None else buffer.as_numpy_array()


def _array(data: bytes | memoryview) -> Any:
    return np.frombuffer(data, np.uint8)
