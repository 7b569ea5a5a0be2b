"""A store in memory."""

from __future__ import annotations

from collections.abc import MutableMapping
from functools import cached_property
from typing import Any

from blazarr import _core
from blazarr.stores.base import Capabilities, Store
from blazarr.stores.keyed import KeyedStore, Values
from blazarr.stores.mapping import MappingValues


class MemoryStore(KeyedStore):
    """A store in memory.

    Pickling copies the content. Two of them are equal when their content is.

    Parameters
    ----------
    store_dict
        A dict or another mutable mapping that shall hold the values, as ``bytes``, and may hold
        some already. Without one they are kept outside of Python, which is faster.
    read_only
        Refuse every change.
    """

    def __init__(
        self, store_dict: MutableMapping[str, Any] | None = None, *, read_only: bool = False
    ) -> None:
        self.values: Values = (
            _core.MemoryStore() if store_dict is None else MappingValues(store_dict)
        )
        self._read_only = read_only

    @cached_property
    def capabilities(self) -> Capabilities:
        """What this store can do."""
        return Capabilities(read_only=self._read_only, conditional=True, ranges=True, atomic=True)

    def with_read_only(self, read_only: bool = True) -> MemoryStore:
        """Return this store, or one over the same content, that refuses changes or does not."""
        if read_only == self._read_only:
            return self
        return _over(self.values, read_only)

    def location(self, folder: str = "") -> str:
        """Return the URL of a folder in this memory; see `Store.location`."""
        return f"memory://{id(self.memory)}/{folder}".rstrip("/")

    def shares_data(self, other: Store) -> bool:
        """Whether both are one memory; equal content of two is not enough."""
        return isinstance(other, MemoryStore) and self.memory is other.memory

    @property
    def memory(self) -> object:
        """What holds the values."""
        return self.values.mapping if isinstance(self.values, MappingValues) else self.values

    def _content(self) -> dict[str, bytes]:
        found = ((key, self.values.read(key)) for key in self.keys())
        return {key: bytes(value[0]) for key, value in found if value is not None}

    def __reduce__(self) -> tuple[Any, ...]:
        if isinstance(self.values, MappingValues):
            return _over, (self.values, self._read_only)
        return _copy, (self._content(), self._read_only)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemoryStore) or self._read_only != other._read_only:
            return False
        return self.values is other.values or self._content() == other._content()

    __hash__ = None  # type: ignore[assignment] # its content changes

    def __str__(self) -> str:
        return f"memory://{id(self.values)}"

    def __repr__(self) -> str:
        return f"MemoryStore({str(self)!r}{', read_only=True' if self._read_only else ''})"


def _over(values: Values, read_only: bool) -> MemoryStore:
    store = MemoryStore(read_only=read_only)
    store.values = values
    return store


def _copy(content: dict[str, bytes], read_only: bool) -> MemoryStore:
    store = MemoryStore(read_only=read_only)
    for key, value in content.items():
        store.values.write(key, value)
    return store
