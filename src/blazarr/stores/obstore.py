"""What a store of obstore keeps in this process, as a mapping."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any


class ObstoreMapping(MutableMapping[str, bytes]):
    """The values of a store of obstore, asked through obstore.

    Parameters
    ----------
    store
        The store.
    """

    def __init__(self, store: Any) -> None:
        self.store = store

    def __getitem__(self, key: str) -> bytes:
        import obstore

        try:
            return obstore.get(self.store, key).bytes().to_bytes()
        except FileNotFoundError as error:
            raise KeyError(key) from error

    def __setitem__(self, key: str, value: bytes) -> None:
        import obstore

        obstore.put(self.store, key, bytes(value))

    def __delitem__(self, key: str) -> None:
        import obstore

        obstore.head(self.store, key)
        obstore.delete(self.store, key)

    def __iter__(self) -> Iterator[str]:
        import obstore

        return (meta["path"] for page in obstore.list(self.store) for meta in page)

    def __len__(self) -> int:
        return sum(1 for _ in self)
