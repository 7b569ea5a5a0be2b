"""A store of zarr-python, or any that follows `zarr.abc.store.Store`, such as Icechunk's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from functools import partial
from itertools import compress
from typing import Any, TypeVar

from blazarr._core import parse_folder
from blazarr.stores.base import PAGE, Capabilities, Children, Data, Page, file_location
from blazarr.stores.fsspec import FsspecStore
from blazarr.stores.unversioned import WRITES, Bounds, UnversionedStore

T = TypeVar("T")

DOCUMENTS = {"zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata"}
# The engine never asks for so many bytes at once.
LARGE = 32 << 20
# How many requests wait at a time.
REQUESTS = 64
# How many keys are in memory at a time; for more of them the store is listed again.
KEPT = 1 << 17


class ZarrPythonStore(UnversionedStore):
    """A store of zarr-python.

    Parameters
    ----------
    store
        The store: a ``zarr.abc.store.Store``.
    """

    def __init__(self, store: Any) -> None:
        self.store = store

    @property
    def capabilities(self) -> Capabilities:
        """What this store can do."""
        return Capabilities(read_only=self.store.read_only, ranges=True, writes=WRITES)

    def location(self, folder: str = "") -> str | None:
        """Return the URL of a folder in what lies in files; see `Store.location`."""
        from zarr.storage import FsspecStore as ZarrFsspecStore
        from zarr.storage import LocalStore, WrapperStore, ZipStore

        store = self.store
        while isinstance(store, WrapperStore):
            store = store._store  # noqa: SLF001 - zarr-python has no other name for it
        if isinstance(store, ZarrFsspecStore):
            fs = getattr(store.fs, "sync_fs", store.fs)
            return FsspecStore(fs, store.path).location(folder)
        if isinstance(store, LocalStore):
            return file_location(store.root, folder)
        if isinstance(store, ZipStore) and store.path is not None:
            return file_location(store.path, folder)
        return None

    def fetch(self, parts: Sequence[tuple[str, Bounds]]) -> list[Data | None]:
        """Return parts of values; see `UnversionedStore.fetch`."""
        calls = [partial(self._get, key, part) for key, part in parts]
        return _run(_gather(calls, REQUESTS))

    async def _get(self, key: str, part: Bounds) -> Data | None:
        from zarr.core.buffer import default_buffer_prototype

        start, stop = part
        if stop == start:
            return b"" if await self.store.exists(key) else None
        if stop is not None and stop - start > LARGE:
            # Meant as a limit; Icechunk fails on an end far beyond the value's.
            size = await self._size(key)
            if size is None:
                return None
            stop = min(stop, max(size, start + 1))
        try:
            found = await self.store.get(key, default_buffer_prototype(), _request(start, stop))
        except Exception:
            # Some stores refuse what lies beyond the end, where others cut off.
            if (start, stop) == (0, None) or not await self.store.exists(key):
                raise
            if start >= await self.store.getsize(key):
                return b""
            raise
        data: Data | None = None if found is None else found.as_numpy_array().data
        # And some give more than was asked for.
        return data if data is None or stop is None else data[: stop - start]

    def write(self, key: str, data: Data) -> None:
        """Replace a value."""
        from zarr.core.buffer import default_buffer_prototype

        buffer = default_buffer_prototype().buffer.from_bytes(bytes(data))
        _run(self.store.set(key, buffer))

    def remove(self, key: str) -> None:
        """Delete a value that is there."""
        _run(self.store.delete(key))

    def size(self, key: str) -> int | None:
        """Return the size of a value; None where the key does not exist."""
        return _run(self._size(key))

    async def _size(self, key: str) -> int | None:
        return await self.store.getsize(key) if await self.store.exists(key) else None

    def list(self, prefix: str = "", start_after: str = "") -> Iterator[Page]:
        """Yield keys and sizes by pages; see `Store.list`."""
        # These listings have no order and folders alone for prefixes.
        folder = prefix.rpartition("/")[0]
        listing = partial(self.store.list_prefix, f"{folder}/" if folder else "")
        while keys := _run(_smallest(listing, prefix, start_after)):
            for first in range(0, len(keys), PAGE):
                page = keys[first : first + PAGE]
                sizes = _run(_gather([partial(self._size, key) for key in page], REQUESTS))
                yield [(k, size) for k, size in zip(page, sizes, strict=True) if size is not None]
            if len(keys) < KEPT:
                return
            start_after = keys[-1]

    def children(self, folder: str = "") -> Children:
        """Return the names of what is directly in a folder."""
        prefix = parse_folder(folder)
        names = sorted(set(_run(_all(self.store.list_dir, prefix.rstrip("/")))))
        unclear = [name for name in names if name not in DOCUMENTS]
        folders: set[str] = set()
        for first in range(0, len(unclear), PAGE):
            some = unclear[first : first + PAGE]
            calls = [partial(self._is_folder, prefix + name) for name in some]
            folders.update(compress(some, _run(_gather(calls, REQUESTS))))
        return Children([name for name in names if name not in folders], sorted(folders))

    async def _is_folder(self, name: str) -> bool:
        # Not asked by `exists`: Icechunk's refuses names that cannot be a document's or a chunk's.
        async for _ in self.store.list_dir(name):
            return True
        return False

    def delete_folder(self, folder: str = "") -> None:
        """Delete every key in a folder and below."""
        self.require_writable(folder)
        _run(self.store.delete_dir(folder.rstrip("/")))

    def close(self) -> None:
        """Close the store of zarr-python."""
        self.store.close()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZarrPythonStore) and bool(self.store == other.store)

    __hash__ = None  # type: ignore[assignment] # nor have theirs

    def __str__(self) -> str:
        return str(self.store)


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on zarr-python's own loop, to which its file systems may be bound."""
    from zarr.core.sync import sync

    return sync(work)


async def _all(listing: Callable[[str], Any], folder: str) -> list[str]:
    # Some listings begin at the call, for which there has to be a loop.
    return [name async for name in listing(folder)]


async def _smallest(listing: Callable[[], Any], prefix: str, start_after: str) -> list[str]:
    """Return the first keys, in order, that begin with a prefix and come after another."""
    keys: list[str] = []
    last = None
    async for key in listing():
        if key.startswith(prefix) and key > start_after and (last is None or key < last):
            keys.append(key)
            if len(keys) == 2 * KEPT:
                keys.sort()
                del keys[KEPT:]
                last = keys[-1]
    return sorted(keys)[:KEPT]


def _request(start: int, stop: int | None) -> Any:
    from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest

    if start < 0:
        return SuffixByteRequest(-start)
    if stop is not None:
        return RangeByteRequest(start, stop)
    return OffsetByteRequest(start) if start else None


async def _gather(work: Iterable[Callable[[], Awaitable[T]]], most: int) -> list[T]:
    """Return the results of many calls, of which at most so many wait at a time.

    Parameters
    ----------
    work
        The calls.
    most
        How many wait at a time.
    """
    free = asyncio.Semaphore(most)

    async def one(call: Callable[[], Awaitable[T]]) -> T:
        async with free:
            return await call()

    tasks = [asyncio.ensure_future(one(call)) for call in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
