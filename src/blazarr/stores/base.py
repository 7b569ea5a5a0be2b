"""What a store is: keys and bytes, generations that make writes conditional, and listings."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple, Self, TypeAlias

from blazarr.errors import NotFoundError, ReadOnlyError, UnsupportedError


class Expect(Enum):
    """What has to be under a key for a write to happen, other than a certain generation."""

    ANY = "any"
    ABSENT = "absent"


ANY: Final = Expect.ANY
ABSENT: Final = Expect.ABSENT

Data: TypeAlias = bytes | bytearray | memoryview

# Equal generations of a key mean equal bytes; what one is made of is the store's affair.
Generation: TypeAlias = Hashable

# One part of a listing: keys in order, each with the size of its value.
Page: TypeAlias = list[tuple[str, int]]

# Keys in one page of a listing.
PAGE: Final = 1000


class Children(NamedTuple):
    """Names directly in a folder: those of keys, and those of folders with keys below."""

    keys: list[str]
    folders: list[str]


def children_of(keys: Iterable[str], prefix: str) -> Children:
    """Return the names of what is directly in a folder.

    Parameters
    ----------
    keys
        The keys in the folder and below, in order.
    prefix
        The folder with a slash behind it; empty for all.
    """
    found: list[str] = []
    folders = set()
    for key in keys:
        name, slash, _ = key[len(prefix) :].partition("/")
        if slash:
            folders.add(name)
        else:
            found.append(name)
    return Children(found, sorted(folders))


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a store can do.

    Attributes
    ----------
    read_only
        Every change is refused.
    conditional
        ``if_generation`` is checked and the write done in one step, against all other writers.
    ranges
        A part of a value is read without the rest.
    atomic
        Readers see the old value or the new one, also when a writer is killed.
    batch
        How many keys are best asked for in one `Store.get_many`; None leaves it to the engine.
    local_path
        The folder whose files are the values.
    writes
        How many calls of `Store.put` may well wait at a time, where these are more than threads
        that work.
    """

    read_only: bool = False
    conditional: bool = False
    ranges: bool = False
    atomic: bool = False
    batch: int | None = None
    local_path: Path | None = None
    writes: int = 1


class Store(ABC):
    """Keys and bytes.

    Keys are segments between slashes: none of them empty, ``.`` or ``..``. The engine calls a
    store from several threads at once. `blazarr.testing.store_contract` tests an implementation.
    """

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What this store can do."""

    @abstractmethod
    def get(self, key: str, range: slice | None = None) -> tuple[Data, Generation] | None:
        """Return what is under a key.

        Parameters
        ----------
        key
            The key.
        range
            The part wanted, as a slice of the value without step: ``slice(10, 20)``,
            ``slice(10, None)``, or ``slice(-16, None)`` for its end. A part that lies beyond the
            end of the value is cut off there.

        Returns
        -------
        tuple or None
            The bytes and the generation of the whole value; None where the key does not exist.
        """

    def get_many(
        self, keys: Sequence[str], ranges: Sequence[slice | None] | None = None
    ) -> list[tuple[Data, Generation] | None]:
        """Return what is under many keys, in their order.

        Parameters
        ----------
        keys
            The keys.
        ranges
            The part wanted of each, as for `get`; None is all of all.
        """
        if ranges is None:
            return [self.get(key) for key in keys]
        return [self.get(key, range) for key, range in zip(keys, ranges, strict=True)]

    @abstractmethod
    def put(self, key: str, data: Data, if_generation: Generation | Expect = ANY) -> Generation:
        """Replace what is under a key.

        Parameters
        ----------
        key
            The key.
        data
            The new value.
        if_generation
            What has to be there: `ANY`, `ABSENT`, or the generation that `get` returned.

        Returns
        -------
        Generation
            The new value's generation.

        Raises
        ------
        ConflictError
            Something else is there, and is left as it is.
        """

    @abstractmethod
    def delete(self, key: str, if_generation: Generation | Expect = ANY) -> bool:
        """Delete a key if it exists, under the same condition as `put`; return whether it did."""

    @abstractmethod
    def list(self, prefix: str = "", start_after: str = "") -> Iterator[Page]:
        """Yield the keys that begin with a prefix and come after another, in order, by pages."""

    def keys(self, prefix: str = "", start_after: str = "") -> Iterator[str]:
        """Yield the keys that `list` lists, one by one."""
        return (key for page in self.list(prefix, start_after) for key, _ in page)

    def children(self, folder: str = "") -> Children:
        """Return the names of what is directly in a folder."""
        prefix = f"{folder.rstrip('/')}/" if folder else ""
        return children_of(self.keys(prefix), prefix)

    def size(self, key: str) -> int | None:
        """Return the size of a value; None where the key does not exist."""
        found = self.get(key)
        return None if found is None else len(found[0])

    def exists(self, key: str) -> bool:
        """Whether there is a value under a key."""
        return self.size(key) is not None

    def getsize(self, key: str) -> int:
        """Return the size of a value in bytes.

        Parameters
        ----------
        key
            The key.

        Raises
        ------
        NotFoundError
            There is no such key.
        """
        size = self.size(key)
        if size is None:
            raise NotFoundError(f"{self} has no {key!r}", store=str(self), key=key)
        return size

    def getsize_prefix(self, prefix: str) -> int:
        """Return the bytes of all values whose keys begin with a prefix."""
        return sum(size for page in self.list(prefix) for _, size in page)

    def delete_dir(self, prefix: str = "") -> None:
        """Do what `delete_folder` does, under zarr-python's name."""
        self.delete_folder(prefix)

    def delete_folder(self, folder: str = "") -> None:
        """Delete every key in a folder and below."""
        prefix = f"{folder.rstrip('/')}/" if folder else ""
        for key in list(self.keys(prefix)):
            self.delete(key)

    @property
    def read_only(self) -> bool:
        """Whether every change is refused."""
        return self.capabilities.read_only

    def with_read_only(self, read_only: bool = True) -> Store:
        """Return this store, or one over the same data, that refuses changes or does not."""
        if read_only == self.read_only:
            return self
        if not read_only:
            raise UnsupportedError(
                f"{self} cannot be made writable; open it again", store=str(self)
            )
        from blazarr.stores.wrappers import ReadOnlyStore

        return ReadOnlyStore(self)

    def shares_data(self, other: Store) -> bool:
        """Whether a change of this store is one of another, which may refuse changes."""
        return self.with_read_only(True) == other.with_read_only(True)

    def location(self, folder: str = "") -> str | None:
        """Return the URL of a folder, the same whatever store and path lead to it; None if unknown.

        What is inside of it, an archive's entries too, has a URL that begins with this one and a slash.
        """
        return None

    def require_writable(self, key: str) -> None:
        """Raise where every change is refused."""
        if self.read_only:
            raise ReadOnlyError(
                f"{self} is read-only; {key!r} was not changed", store=str(self), key=key
            )

    def close(self) -> None:  # noqa: B027
        """Let go of what the store holds open; most hold nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def file_location(path: str | os.PathLike[str], folder: str = "") -> str:
    """Return the URL of what is at a path, with all links followed.

    Parameters
    ----------
    path
        The path of a folder, or of an archive.
    folder
        A folder in it.
    """
    return Path(os.path.realpath(Path(path, folder))).as_uri()


def bounds(range: slice | None) -> tuple[int, int | None]:
    """Return start and stop of the part that a slice means, a negative start counting from the end.

    Parameters
    ----------
    range
        As for `Store.get`.
    """
    if range is None:
        return 0, None
    start, stop, step = range.start or 0, range.stop, range.step
    if step not in {None, 1} or (stop is not None and (start < 0 or stop < start)):
        raise ValueError(
            f"{range} is not a part of a value; write slice(start, stop), slice(start, None) or "
            f"slice(-count, None)"
        )
    return start, stop
