"""A folder of files."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from blazarr import _core
from blazarr.stores.base import Capabilities, file_location
from blazarr.stores.keyed import KeyedStore


class LocalStore(KeyedStore):
    """A folder of files: every key is a path below the root.

    The folder is looked up at each call and made at the first write. Writers lock each key through a file beside it that ends in ``.__lock``; a killed writer may
    leave one, which listings ignore and the next writer of the key uses.

    Parameters
    ----------
    root
        The folder.
    read_only
        Refuse every change.
    durability
        ``"fsync"`` waits at each write until it is on the disk, so that it survives a power loss.
    locking
        ``"none"`` is for file systems without locks, where you promise that no two writers change
        the same chunk at a time.
    links
        Which symbolic links are followed: ``"follow"`` is all of them, ``"inside"`` those that stay
        below the root. A key whose links lead out is an error then, and listings leave it out.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        read_only: bool = False,
        durability: Literal["system", "fsync"] = "system",
        locking: Literal["flock", "none"] = "flock",
        links: Literal["follow", "inside"] = "follow",
    ) -> None:
        if not isinstance(root, str | os.PathLike):
            raise TypeError(f"root is a str or a path, not {type(root).__name__}")
        if durability not in {"system", "fsync"}:
            raise ValueError(f"durability is 'system' or 'fsync', not {durability!r}")
        if links not in {"follow", "inside"}:
            raise ValueError(f"links is 'follow' or 'inside', not {links!r}")
        self._root = os.path.abspath(os.fspath(root))  # noqa: PTH100 - without following links
        self.durability = durability
        self.locking = locking
        self.links = links
        self._read_only = read_only
        self.values = _core.LocalStore(
            self._root, fsync=durability == "fsync", locking=locking, links=links
        )

    @cached_property
    def root(self) -> Path:
        """The folder."""
        return Path(self._root)

    @cached_property
    def capabilities(self) -> Capabilities:
        """What this store can do."""
        return Capabilities(
            read_only=self._read_only,
            conditional=self.locking != "none",
            ranges=True,
            atomic=True,
            local_path=self.root,
        )

    def location(self, folder: str = "") -> str:
        """Return the URL of a folder, with all links followed; see `Store.location`."""
        return file_location(self._root, folder)

    def with_read_only(self, read_only: bool = True) -> LocalStore:
        """Return this store, or one over the same folder, that refuses changes or does not."""
        if read_only == self._read_only:
            return self
        return LocalStore(
            self._root,
            read_only=read_only,
            durability=self.durability,
            locking=self.locking,
            links=self.links,
        )

    def _state(self) -> tuple[Any, ...]:
        return self._root, self._read_only, self.durability, self.locking, self.links

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, self._state()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LocalStore) and self._state() == other._state()

    def __hash__(self) -> int:
        return hash(self._state())

    def __str__(self) -> str:
        return f"file://{self.root.as_posix()}"

    def __repr__(self) -> str:
        return f"LocalStore({self._root!r}{', read_only=True' if self._read_only else ''})"


def _restore(
    root: str,
    read_only: bool,
    durability: Literal["system", "fsync"],
    locking: Literal["flock", "none"],
    links: Literal["follow", "inside"],
) -> LocalStore:
    return LocalStore(
        root, read_only=read_only, durability=durability, locking=locking, links=links
    )
