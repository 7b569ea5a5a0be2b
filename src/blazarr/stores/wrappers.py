"""Stores around another store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from blazarr._core import parse_folder
from blazarr.stores.base import (
    ANY,
    Capabilities,
    Children,
    Data,
    Expect,
    Generation,
    Page,
    Store,
)


@dataclass(frozen=True)
class WrapperStore(Store):
    """Another store, unchanged: derive from this to change some of what a store does.

    Parameters
    ----------
    store
        The other store.
    """

    store: Store

    @property
    def capabilities(self) -> Capabilities:
        """What the other store can do; its files are not shown, so that nothing goes around this."""
        return replace(self.store.capabilities, local_path=None)

    def get(self, key: str, range: slice | None = None) -> tuple[Data, Generation] | None:
        """Return what is under a key; see `Store.get`."""
        return self.store.get(key, range)

    def get_many(
        self, keys: Sequence[str], ranges: Sequence[slice | None] | None = None
    ) -> list[tuple[Data, Generation] | None]:
        """Return what is under many keys; see `Store.get_many`."""
        return self.store.get_many(keys, ranges)

    def put(self, key: str, data: Data, if_generation: Generation | Expect = ANY) -> Generation:
        """Replace what is under a key; see `Store.put`."""
        return self.store.put(key, data, if_generation)

    def delete(self, key: str, if_generation: Generation | Expect = ANY) -> bool:
        """Delete a key; see `Store.delete`."""
        return self.store.delete(key, if_generation)

    def list(self, prefix: str = "", start_after: str = "") -> Iterator[Page]:
        """Yield keys and sizes by pages; see `Store.list`."""
        return self.store.list(prefix, start_after)

    def children(self, folder: str = "") -> Children:
        """Return the names of what is directly in a folder."""
        return self.store.children(folder)

    def size(self, key: str) -> int | None:
        """Return the size of a value; None where the key does not exist."""
        return self.store.size(key)

    def delete_folder(self, folder: str = "") -> None:
        """Delete every key in a folder and below."""
        self.store.delete_folder(folder)

    def location(self, folder: str = "") -> str | None:
        """Return the URL of a folder of the other store; see `Store.location`."""
        return self.store.location(folder)

    def close(self) -> None:
        """Close the other store."""
        self.store.close()

    def __str__(self) -> str:
        return str(self.store)


@dataclass(frozen=True)
class ReadOnlyStore(WrapperStore):
    """Another store, refusing every change.

    Parameters
    ----------
    store
        The other store.
    """

    @property
    def capabilities(self) -> Capabilities:
        """What this store can do."""
        return replace(self.store.capabilities, read_only=True)

    def put(self, key: str, data: Data, if_generation: Generation | Expect = ANY) -> Generation:
        """Raise `ReadOnlyError`."""
        self.require_writable(key)
        return None

    def delete(self, key: str, if_generation: Generation | Expect = ANY) -> bool:
        """Raise `ReadOnlyError`."""
        self.require_writable(key)
        return False

    def delete_folder(self, folder: str = "") -> None:
        """Raise `ReadOnlyError`."""
        self.require_writable(folder)


@dataclass(frozen=True)
class PrefixStore(WrapperStore):
    """A folder of another store as a store of its own.

    Parameters
    ----------
    store
        The other store.
    folder
        The folder in it.
    """

    folder: str

    @property
    def capabilities(self) -> Capabilities:
        """What this store can do."""
        inner = self.store.capabilities
        path = None if inner.local_path is None else inner.local_path / self.folder
        return replace(inner, local_path=path)

    @property
    def _prefix(self) -> str:
        return parse_folder(self.folder)

    def get(self, key: str, range: slice | None = None) -> tuple[Data, Generation] | None:
        """Return what is under a key; see `Store.get`."""
        return self.store.get(self._prefix + key, range)

    def get_many(
        self, keys: Sequence[str], ranges: Sequence[slice | None] | None = None
    ) -> list[tuple[Data, Generation] | None]:
        """Return what is under many keys; see `Store.get_many`."""
        prefix = self._prefix
        return self.store.get_many([prefix + key for key in keys], ranges)

    def put(self, key: str, data: Data, if_generation: Generation | Expect = ANY) -> Generation:
        """Replace what is under a key; see `Store.put`."""
        return self.store.put(self._prefix + key, data, if_generation)

    def delete(self, key: str, if_generation: Generation | Expect = ANY) -> bool:
        """Delete a key; see `Store.delete`."""
        return self.store.delete(self._prefix + key, if_generation)

    def list(self, prefix: str = "", start_after: str = "") -> Iterator[Page]:
        """Yield keys and sizes by pages; see `Store.list`."""
        own = self._prefix
        for page in self.store.list(own + prefix, own + start_after if start_after else ""):
            yield [(key[len(own) :], size) for key, size in page]

    def children(self, folder: str = "") -> Children:
        """Return the names of what is directly in a folder."""
        return self.store.children(self._prefix + folder)

    def size(self, key: str) -> int | None:
        """Return the size of a value; None where the key does not exist."""
        return self.store.size(self._prefix + key)

    def delete_folder(self, folder: str = "") -> None:
        """Delete every key in a folder and below."""
        self.store.delete_folder(self._prefix + folder)

    def location(self, folder: str = "") -> str | None:
        """Return the URL of a folder; see `Store.location`."""
        return self.store.location(self._prefix + folder)

    def __str__(self) -> str:
        return f"{self.store}/{self.folder}"
