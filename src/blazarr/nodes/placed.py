"""Where a node is: what arrays and groups have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blazarr.nodes.location import StorePath

if TYPE_CHECKING:
    from blazarr.stores import Store


class Placed:
    """Properties of a node that its place says."""

    __slots__ = ()

    store_path: StorePath

    @property
    def store(self) -> Store:
        """The store that holds the node."""
        return self.store_path.store

    @property
    def path(self) -> str:
        """Path in the store."""
        return self.store_path.path

    @property
    def name(self) -> str:
        """Path in the store with a leading slash."""
        return f"/{self.path}"

    @property
    def basename(self) -> str:
        """Last part of the name."""
        return self.store_path.name

    @property
    def read_only(self) -> bool:
        """Whether the store refuses writes."""
        return self.store_path.read_only
