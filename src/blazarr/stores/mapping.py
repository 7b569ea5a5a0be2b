"""A dict, or any other mutable mapping from keys to bytes, as what a store is made over."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, MutableMapping
from itertools import islice
from typing import Any

from blazarr._core import parse_folder, parse_key
from blazarr.errors import ConflictError
from blazarr.stores.base import Data, Page, children_of

# Mappings cannot compare and write in one step. One lock for all of them, since several stores may
# be made over one mapping.
_lock = threading.Lock()


def _renew_lock() -> None:
    global _lock  # noqa: PLW0603 - whoever held it does not exist in a forked child
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


class MappingValues:
    """`blazarr.stores.keyed.Values` over a mapping; a generation is the value itself.

    Parameters
    ----------
    mapping
        Holds the values; what others put there is seen.
    """

    def __init__(self, mapping: MutableMapping[str, Any]) -> None:
        self.mapping = mapping

    def read(
        self, key: str, start: int = 0, stop: int | None = None
    ) -> tuple[memoryview, tuple[bytes]] | None:
        """Return a part of a value, and the generation of the whole."""
        value = self._value(parse_key(key))
        if value is None:
            return None
        # Unlike a slice of bytes, this is not a copy.
        return memoryview(value)[start:stop], (value,)

    def write(self, key: str, data: Data, expected: Any = None) -> tuple[bytes]:
        """Replace a value; return its generation."""
        value = bytes(data)
        with _lock:
            self._check(key, expected)
            self.mapping[key] = value
        return (value,)

    def delete(self, key: str, expected: Any = None) -> bool:
        """Delete a value; return whether there was one."""
        with _lock:
            self._check(key, expected)
            return self.mapping.pop(key, None) is not None

    def delete_folder(self, folder: str) -> None:
        """Delete what is in a folder and below."""
        for key in self._sorted(parse_folder(folder)):
            self.mapping.pop(key, None)

    def size(self, key: str) -> int | None:
        """Return the size of a value."""
        value = self._value(parse_key(key))
        return None if value is None else len(value)

    def children(self, folder: str) -> tuple[list[str], list[str]]:
        """Return names of keys and of folders."""
        prefix = parse_folder(folder)
        return children_of(self._sorted(prefix), prefix)

    def _value(self, key: str) -> bytes | None:
        value = self.mapping.get(key)
        return value if value is None or type(value) is bytes else bytes(value)

    def _check(self, key: str, expected: Any) -> None:
        value = self._value(parse_key(key))
        if expected is None or (value is None if expected == b"" else (value,) == expected):
            return
        raise ConflictError(f"{key!r} was changed by another writer", key=key)

    def _sorted(self, prefix: str) -> list[str]:
        return sorted(key for key in [*self.mapping] if key.startswith(prefix))

    def list(self, prefix: str, start_after: str) -> _MappingListing:
        """Return a listing of what is there now."""
        keys = (key for key in self._sorted(prefix) if key > start_after)
        return _MappingListing((key, size) for key in keys if (size := self.size(key)) is not None)


class _MappingListing:
    def __init__(self, entries: Iterator[tuple[str, int]]) -> None:
        self._entries = entries

    def next_page(self, limit: int) -> Page:
        return [*islice(self._entries, limit)]
