"""A store that keeps what another one gave."""

from __future__ import annotations

import hashlib
import struct
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from blazarr.errors import BlazarrError
from blazarr.stores.base import ANY, Data, Expect, Generation, Store, bounds
from blazarr.stores.wrappers import WrapperStore

# Documents are small and change; being late with them does harm.
DOCUMENTS: Final = {"zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata"}

# Before each kept value: a mark, when it was kept, a checksum of the rest, and how long the name of
# its place and its generation are. An end of 0 beyond a start of 0 is a whole value.
HEADER: Final = struct.Struct("<4sdIHH")
MARK: Final = b"BZC1"

Bounds = tuple[int, int | None]
Value = tuple[Data, Generation]


class Kept(NamedTuple):
    """A value in the cache."""

    since: float
    value: Value


@dataclass(frozen=True)
class CacheStore(WrapperStore):
    """A store that keeps chunks of another one in a third, up to so many bytes.

    What is changed through this store is seen at once; what others change is seen once it is older
    than `max_age_seconds`, or has fallen out. Documents (``zarr.json`` and the like) are always
    asked for. A cache in a folder serves later processes too, but only one at a time should use it.

    Parameters
    ----------
    store
        The other store.
    cache_store
        Keeps the values: `MemoryStore` or `LocalStore`. Whatever else is in it may be dropped.
    max_size
        The most bytes that it holds; None is no limit.
    max_age_seconds
        After how long a value is asked for again; ``"infinity"`` is never.
    """

    cache_store: Store
    max_size: int | None = None
    max_age_seconds: float | Literal["infinity"] = "infinity"
    _shelf: Shelf = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.cache_store.read_only:
            raise BlazarrError("cache_store has to be writable", argument="cache_store")
        age = float("inf") if self.max_age_seconds == "infinity" else self.max_age_seconds
        object.__setattr__(self, "_shelf", Shelf(self.cache_store, self.max_size, age))

    def get(self, key: str, range: slice | None = None) -> Value | None:
        """Return what is under a key; see `Store.get`."""
        return self.get_many([key], [range])[0]

    def get_many(
        self, keys: Sequence[str], ranges: Sequence[slice | None] | None = None
    ) -> list[Value | None]:
        """Return what is under many keys; see `Store.get_many`."""
        parts = [bounds(part) for part in ranges or [None] * len(keys)]
        found = [self._kept(key, part) for key, part in zip(keys, parts, strict=True)]
        missing = [n for n, value in enumerate(found) if value is None]
        if missing:
            asked = self.store.get_many(
                [keys[n] for n in missing], ranges and [ranges[n] for n in missing]
            )
            for n, value in zip(missing, asked, strict=True):
                found[n] = value
                if value is not None and _is_kept(keys[n]):
                    self._shelf.put(keys[n], parts[n], value)
        return found

    def _kept(self, key: str, part: Bounds) -> Value | None:
        return self._shelf.get(key, part) if _is_kept(key) else None

    def put(self, key: str, data: Data, if_generation: Generation | Expect = ANY) -> Generation:
        """Replace what is under a key; see `Store.put`."""
        try:
            return self.store.put(key, data, if_generation)
        finally:
            self._shelf.drop(key)

    def delete(self, key: str, if_generation: Generation | Expect = ANY) -> bool:
        """Delete a key; see `Store.delete`."""
        try:
            return self.store.delete(key, if_generation)
        finally:
            self._shelf.drop(key)

    def delete_folder(self, folder: str = "") -> None:
        """Delete every key in a folder and below."""
        try:
            self.store.delete_folder(folder)
        finally:
            self._shelf.clear()

    def clear(self) -> None:
        """Forget everything that is kept."""
        self._shelf.clear()

    def __reduce__(self) -> tuple[object, ...]:
        return CacheStore, (self.store, self.cache_store, self.max_size, self.max_age_seconds)


class Shelf:
    """Values in a store, the least recently used of which go first.

    Parameters
    ----------
    store
        Keeps them.
    most
        The most bytes; None is no limit.
    age
        Seconds after which a value counts as gone.
    """

    def __init__(self, store: Store, most: int | None, age: float) -> None:
        self._store = store
        self._most = most
        self._age = age
        self._lock = threading.Lock()
        self._sizes = OrderedDict(item for page in store.list() for item in page)
        self._total = sum(self._sizes.values())

    def get(self, key: str, part: Bounds) -> Value | None:
        """Return what is kept of a key's part."""
        place = _place(key, part)
        with self._lock:
            if place not in self._sizes:
                return None
            self._sizes.move_to_end(place)
        found = self._store.get(place)
        kept = None if found is None else _opened(found[0], key, part)
        if kept is None or time.time() - kept.since > self._age:
            self._forget([place])
            return None
        return kept.value

    def put(self, key: str, part: Bounds, value: Value) -> None:
        """Keep a value, in place of others where there is no room."""
        data = _closed(key, part, value)
        if data is None or (self._most is not None and len(data) > self._most):
            return
        place = _place(key, part)
        self._store.put(place, data)
        with self._lock:
            self._total += len(data) - self._sizes.pop(place, 0)
            self._sizes[place] = len(data)
        self._forget(self._too_many())

    def _too_many(self) -> list[str]:
        with self._lock:
            left, places = self._total, []
            for place, size in self._sizes.items():
                if self._most is None or left <= self._most:
                    break
                places.append(place)
                left -= size
            return places

    def drop(self, key: str) -> None:
        """Forget all parts of a key."""
        folder = f"{_name(key)}/"
        with self._lock:
            places = [place for place in self._sizes if place.startswith(folder)]
        self._forget(places)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            places = [*self._sizes]
        self._forget(places)

    def _forget(self, places: Sequence[str]) -> None:
        for place in places:
            self._store.delete(place)
            with self._lock:
                self._total -= self._sizes.pop(place, 0)


def _is_kept(key: str) -> bool:
    return key.rpartition("/")[2] not in DOCUMENTS


def _name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _place(key: str, part: Bounds) -> str:
    start, stop = part
    return f"{_name(key)}/{start}-{'' if stop is None else stop}"


def _closed(key: str, part: Bounds, value: Value) -> bytes | None:
    """Return what is stored for a value; None where its generation cannot be written down."""
    data, generation = value
    if not isinstance(generation, bytes):
        return None
    name = f"{key}\0{_place('', part)}".encode()
    rest = b"".join((name, generation, data))
    head = HEADER.pack(MARK, time.time(), zlib.crc32(rest), len(name), len(generation))
    return head + rest


def _opened(stored: Data, key: str, part: Bounds) -> Kept | None:
    """Return the value that is stored; None where it is another one's, or damaged."""
    view = memoryview(stored)
    if len(view) < HEADER.size:
        return None
    mark, since, checksum, name_length, generation_length = HEADER.unpack(view[: HEADER.size])
    rest = view[HEADER.size :]
    name = f"{key}\0{_place('', part)}".encode()
    if mark != MARK or zlib.crc32(rest) != checksum or rest[:name_length] != name:
        return None
    end = name_length + generation_length
    return Kept(since, (rest[end:], bytes(rest[name_length:end])))
