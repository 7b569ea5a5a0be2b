"""Stores that have no generations: a digest of the value stands for one."""

from __future__ import annotations

import hashlib
import threading
from abc import abstractmethod
from collections.abc import Sequence
from typing import Final

from blazarr._core import parse_key
from blazarr.errors import ConflictError
from blazarr.stores.base import ABSENT, ANY, Data, Expect, Generation, Store, bounds

# How many writes wait at a time: each has a thread.
WRITES: Final = 16

# Start and stop of a part of a value, as `bounds` gives them.
Bounds = tuple[int, int | None]


class UnversionedStore(Store):
    """A store over something that cannot compare and write in one step.

    Conditions are checked before the write, which other processes may come between.
    """

    _lock = threading.Lock()

    @abstractmethod
    def fetch(self, parts: Sequence[tuple[str, Bounds]]) -> list[Data | None]:
        """Return parts of values, cut off at their ends; None where there is no such key."""

    @abstractmethod
    def write(self, key: str, data: Data) -> None:
        """Replace a value."""

    @abstractmethod
    def remove(self, key: str) -> None:
        """Delete a value that is there."""

    def get(self, key: str, range: slice | None = None) -> tuple[Data, Generation] | None:
        """Return what is under a key; see `Store.get`."""
        return self.get_many([key], [range])[0]

    def get_many(
        self, keys: Sequence[str], ranges: Sequence[slice | None] | None = None
    ) -> list[tuple[Data, Generation] | None]:
        """Return what is under many keys; see `Store.get_many`."""
        parts = [bounds(part) for part in ranges or [None] * len(keys)]
        found = self.fetch([(parse_key(key), part) for key, part in zip(keys, parts, strict=True)])
        return [
            None if data is None else (data, _generation(data, part))
            for data, part in zip(found, parts, strict=True)
        ]

    def put(self, key: str, data: Data, if_generation: Generation | Expect = ANY) -> Generation:
        """Replace what is under a key; see `Store.put`."""
        self.require_writable(key)
        if if_generation is ANY:
            self.write(parse_key(key), data)
        else:
            with self._lock:
                self._check(parse_key(key), if_generation)
                self.write(key, data)
        return _digest(data)

    def delete(self, key: str, if_generation: Generation | Expect = ANY) -> bool:
        """Delete a key; see `Store.delete`."""
        self.require_writable(key)
        with self._lock:
            present = self._check(parse_key(key), if_generation)
            if present:
                self.remove(key)
            return present

    def _check(self, key: str, expected: Generation | Expect) -> bool:
        if expected is ANY:
            return self.size(key) is not None
        found = self.get(key)
        if (ABSENT if found is None else found[1]) != expected:
            raise ConflictError(f"{key!r} was changed by another writer", store=str(self), key=key)
        return found is not None


def _digest(data: Data) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def _generation(data: Data, part: Bounds) -> Generation:
    """Return a digest of a value that is known to its end, or what equals nothing."""
    start, stop = part
    whole = start == 0 and (stop is None or len(data) < stop)
    return _digest(data) if whole else object()
