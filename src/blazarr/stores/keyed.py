"""Stores over an object that has keys, values and listings: Rust's, or a mapping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from blazarr.stores.base import (
    ABSENT,
    ANY,
    PAGE,
    Children,
    Data,
    Expect,
    Generation,
    Page,
    Store,
    bounds,
)


class Listing(Protocol):
    """A listing under way."""

    def next_page(self, limit: int) -> Page:
        """Return the next keys; none at the end."""


class Values(Protocol):
    """What `_core.KeyStore` has. `expected` is None for any generation, b"" for absence."""

    def read(
        self, key: str, start: int = 0, stop: int | None = None
    ) -> tuple[bytes | memoryview, Any] | None:
        """Return a part of a value, and the generation of the whole."""

    def write(self, key: str, data: Data, expected: Any = None) -> Any:
        """Replace a value; return its generation."""

    def delete(self, key: str, expected: Any = None) -> bool:
        """Delete a value; return whether there was one."""

    def delete_folder(self, folder: str) -> None:
        """Delete what is in a folder and below."""

    def size(self, key: str) -> int | None:
        """Return the size of a value."""

    def children(self, folder: str) -> tuple[list[str], list[str]]:
        """Return names of keys and of folders."""

    def list(self, prefix: str, start_after: str) -> Listing:
        """Return a listing."""


class KeyedStore(Store):
    """A store over `Values`."""

    values: Values

    def get(self, key: str, range: slice | None = None) -> tuple[Data, Generation] | None:
        """Return what is under a key; see `Store.get`."""
        return self.values.read(key) if range is None else self.values.read(key, *bounds(range))

    def put(self, key: str, data: Data, if_generation: Generation | Expect = ANY) -> Generation:
        """Replace what is under a key; see `Store.put`."""
        self.require_writable(key)
        generation: Generation = self.values.write(key, data, _expected(if_generation))
        return generation

    def delete(self, key: str, if_generation: Generation | Expect = ANY) -> bool:
        """Delete a key; see `Store.delete`."""
        self.require_writable(key)
        return self.values.delete(key, _expected(if_generation))

    def list(self, prefix: str = "", start_after: str = "") -> Iterator[Page]:
        """Yield keys and sizes by pages; see `Store.list`."""
        listing = self.values.list(prefix, start_after)
        while page := listing.next_page(PAGE):
            yield page

    def children(self, folder: str = "") -> Children:
        """Return the names of what is directly in a folder."""
        keys, folders = self.values.children(folder)
        return Children(keys, sorted(folders))

    def size(self, key: str) -> int | None:
        """Return the size of a value; None where the key does not exist."""
        return self.values.size(key)

    def delete_folder(self, folder: str = "") -> None:
        """Delete every key in a folder and below."""
        self.require_writable(folder)
        self.values.delete_folder(folder)


def _expected(if_generation: Generation | Expect) -> Any:
    if if_generation is ANY:
        return None
    return b"" if if_generation is ABSENT else if_generation
