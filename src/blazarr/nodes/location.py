"""`StorePath`: a place in a store, and what is read and deleted there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from blazarr.config import config
from blazarr.errors import BlazarrError, ReadOnlyError
from blazarr.stores import ANY, Expect, Generation, Store, store_from


@dataclass(frozen=True)
class StorePath:
    """A path in a store: where a node is.

    Parameters
    ----------
    store
        The store.
    path
        Path in it, without slashes at its ends; empty for the root.
    """

    store: Store
    path: str = ""

    @classmethod
    def locate(
        cls,
        store: Any,
        path: str | None = None,
        mode: str | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> StorePath:
        """Return the place that the arguments ``store``, ``path`` and ``mode`` mean.

        Parameters
        ----------
        store
            A `StorePath`, or anything that `blazarr.open` takes.
        path
            Path in the store.
        mode
            ``"r"`` gives a store that refuses writes.
        storage_options
            Options of a remote store.
        """
        if isinstance(store, StorePath):
            return store / (path or "")
        found, root = store_from(store, mode, storage_options)
        return cls(found, root) / (path or "")

    def __truediv__(self, path: str) -> StorePath:
        parts = [part for part in f"{self.path}/{path}".replace("\\", "/").split("/") if part]
        if "." in parts or ".." in parts:
            raise BlazarrError(f"a path holds neither '.' nor '..': {path!r}", argument="path")
        return StorePath(self.store, "/".join(parts))

    def below(self, path: str) -> StorePath:
        """Return a place below; a path that comes back to this place itself is an error."""
        place = self / path
        if place == self:
            raise BlazarrError(
                f"{path!r} is {self} itself and not a member of it, so nothing was deleted; give "
                "a member's name, or use overwrite=True on the group's own path",
                argument="path",
            )
        return place

    def child(self, name: str) -> StorePath:
        """Return the place of what a listing calls `name`, which may hold any character."""
        return StorePath(self.store, f"{self.prefix}{name}")

    def __str__(self) -> str:
        return f"{self.store}/{self.path}" if self.path else str(self.store)

    @property
    def name(self) -> str:
        """Last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def prefix(self) -> str:
        """What the keys below begin with."""
        return f"{self.path}/" if self.path else ""

    @property
    def parents(self) -> list[StorePath]:
        """The places above, from the root down."""
        parts = self.path.split("/") if self.path else []
        return [StorePath(self.store, "/".join(parts[:n])) for n in range(len(parts))]

    @property
    def read_only(self) -> bool:
        """Whether the store refuses writes."""
        return self.store.read_only

    def is_same(self, other: StorePath) -> bool:
        """Whether both are one place, be it open for writing here or there."""
        if self.path != other.path:
            return False
        return self.store.with_read_only(True) == other.store.with_read_only(True)

    def overlaps(self, other: StorePath) -> bool:
        """Whether one is inside of the other, be it through another store or a link."""
        mine, others = self.store.location(self.path), other.store.location(other.path)
        if mine is None or others is None:
            same_store = self.store.shares_data(other.store)
            return same_store and nested(self.path, other.path)
        return nested(mine, others)

    def require_writable(self) -> None:
        """Raise `ReadOnlyError` where nothing may be written."""
        if self.read_only:
            raise ReadOnlyError(
                f"{self} is open for reading only; open it with mode='r+' or 'a' to write",
                store=str(self.store),
                key=self.path,
            )

    def put(self, name: str, document: bytes, if_generation: Generation | Expect = ANY) -> None:
        """Store a document; see `Store.put`."""
        try:
            self.store.put(self.prefix + name, document, if_generation=if_generation)
        except BlazarrError as error:
            error.locate(self.store)
            raise

    def read(self, names: Iterable[str]) -> dict[str, tuple[bytes, Generation]]:
        """Return documents by name, with their generations; missing ones are left out."""
        (found,) = read_documents([self], tuple(names))
        return found

    def entries(self) -> Iterator[tuple[str, int]]:
        """Yield the keys below, with the sizes of their values."""
        for page in self.store.list(self.prefix):
            yield from page

    def is_empty(self) -> bool:
        """Whether there is no key below."""
        return next(self.entries(), None) is None

    def child_names(self) -> list[str]:
        """Return the names of the folders directly below."""
        return sorted(self.store.children(self.path).folders)

    def delete_all(self) -> None:
        """Delete everything below."""
        try:
            self.store.delete_folder(self.path)
        except BlazarrError as error:
            error.locate(self.store)
            raise


def nested(path: str, other: str) -> bool:
    """Return whether one of two paths is the other one or inside of it; the empty path holds all."""
    one, two = (f"{given.rstrip('/')}/" if given else "" for given in (path, other))
    return one.startswith(two) or two.startswith(one)


def read_documents(
    places: Sequence[StorePath], names: Sequence[str]
) -> list[dict[str, tuple[bytes, Generation]]]:
    """Return documents of several places in one store, for each place as `StorePath.read` does.

    Parameters
    ----------
    places
        The places.
    names
        Names of the documents.
    """
    if not places:
        return []
    keys = [place.prefix + name for place in places for name in names]
    # One byte more than a document may have is enough to refuse it.
    most = slice(0, config.limits.document_bytes + 1)
    store = places[0].store
    try:
        results = iter(store.get_many(keys, [most] * len(keys)))
    except BlazarrError as error:
        error.locate(store)
        raise
    found = []
    for _ in places:
        of_place = ((name, next(results)) for name in names)
        found.append({name: (bytes(got[0]), got[1]) for name, got in of_place if got is not None})
    return found
