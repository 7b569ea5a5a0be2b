"""Object stores and web servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from blazarr import _core
from blazarr.errors import BlazarrError, UnsupportedError
from blazarr.stores.base import Capabilities, Children, Data, Generation, Page, bounds
from blazarr.stores.keyed import KeyedStore
from blazarr.stores.server import Server, server_at, server_of


class ObjectStore(KeyedStore):
    """A bucket, a container or a folder of a web server.

    A key that is refused is an error and never a missing chunk. Web servers are read, not written
    or listed.

    Parameters
    ----------
    store
        A URL (``s3``, ``gs``, ``az``, ``http``, ``https``), or a store of obstore.
    read_only
        Refuse every change.
    storage_options
        Options of the server and of requests to it, see ``docs/how-to/stores.md``.
    """

    def __init__(
        self,
        store: Any,
        *,
        read_only: bool = False,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        self._open(_server(store, dict(storage_options or {})), read_only)

    @classmethod
    def of_server(cls, server: Server, read_only: bool = False) -> ObjectStore:
        """Return the store of a server.

        Parameters
        ----------
        server
            The server.
        read_only
            Refuse every change.
        """
        store = cls.__new__(cls)
        store._open(server, read_only)  # noqa: SLF001 - it is this very class
        return store

    def _open(self, server: Server, read_only: bool) -> None:
        self.server = server
        self._read_only = read_only or server.is_web
        self.values: _core.KeyStore = _connected(server)

    @property
    def capabilities(self) -> Capabilities:
        """What this store can do."""
        return Capabilities(
            read_only=self._read_only,
            conditional=self.server.conditional and not self.server.is_web,
            ranges=True,
            atomic=True,
            writes=min(self.server.requests, 32),
        )

    def location(self, folder: str = "") -> str:
        """Return the URL of a folder, behind the server's own where one is set; see `Store.location`."""
        endpoint = dict(self.server.options).get("endpoint", "")
        return f"{endpoint}{self}/{folder}".rstrip("/")

    def get_many(
        self, keys: Sequence[str], ranges: Sequence[slice | None] | None = None
    ) -> list[tuple[Data, Generation] | None]:
        """Return what is under many keys; see `Store.get_many`."""
        parts = [bounds(part) for part in ranges or [None] * len(keys)]
        found: list[tuple[Data, Generation] | None] = []
        found += self.values.read_many(
            [(key, *part) for key, part in zip(keys, parts, strict=True)]
        )
        return found

    def list(self, prefix: str = "", start_after: str = "") -> Iterator[Page]:
        """Yield keys and sizes by pages; see `Store.list`."""
        self._require_listing()
        return super().list(prefix, start_after)

    def children(self, folder: str = "") -> Children:
        """Return the names of what is directly in a folder."""
        self._require_listing()
        return super().children(folder)

    def with_read_only(self, read_only: bool = True) -> ObjectStore:
        """Return this store, or one over the same data, that refuses changes or does not."""
        if read_only == self._read_only:
            return self
        return ObjectStore.of_server(self.server, read_only)

    def _require_listing(self) -> None:
        if self.server.is_web:
            raise UnsupportedError(
                f"{self}: web servers have no listings; open arrays by their path, or groups with "
                f"consolidated metadata",
                store=str(self),
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return ObjectStore.of_server, (self.server, self._read_only)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectStore) and (self.server, self._read_only) == (
            other.server,
            other._read_only,
        )

    def __hash__(self) -> int:
        return hash((str(self), self._read_only))

    def __str__(self) -> str:
        return str(self.server)

    def __repr__(self) -> str:
        return f"ObjectStore({str(self)!r}{', read_only=True' if self._read_only else ''})"


def _server(store: Any, options: dict[str, Any]) -> Server:
    if isinstance(store, str):
        return server_at(store, options)
    return server_of(store, options)


def _connected(server: Server) -> _core.CloudStore:
    if not hasattr(_core, "CloudStore"):
        raise UnsupportedError(f"{server}: this blazarr was built without the feature 'cloud'")
    try:
        return _core.CloudStore(server.url, server.prefix, server.settings(), server.credentials())
    except ValueError as error:
        raise BlazarrError(f"{server}: {error}", argument="storage_options") from error
