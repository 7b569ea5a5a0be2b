"""`Group`: what users hold to find, create and delete nodes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, TypeVar

import numpy as np

from blazarr.errors import (
    ArrayNotFoundError,
    ContainsArrayError,
    ContainsGroupError,
    GroupNotFoundError,
    MetadataError,
    NotFoundError,
)
from blazarr.metadata import ArrayMetadata, GroupMetadata
from blazarr.nodes import consolidated, documents, hierarchy, members
from blazarr.nodes.array import Array
from blazarr.nodes.asynchronous import AsyncGroup, in_thread
from blazarr.nodes.attributes import Attributes, Change
from blazarr.nodes.creating import Creating
from blazarr.nodes.location import StorePath
from blazarr.nodes.surveyed import Surveyed

Default = TypeVar("Default")


class Group(Creating, Surveyed):
    """A group in a store: a mapping of names to arrays and groups.

    Parameters
    ----------
    metadata
        The group's metadata. If it has consolidated metadata, members are taken from there.
    store_path
        Where the group is.
    """

    __slots__ = ("__weakref__", "_lock", "_metadata", "store_path")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, metadata: GroupMetadata, store_path: StorePath) -> None:
        self._metadata = metadata
        self.store_path = store_path
        self._lock = threading.Lock()

    @classmethod
    def from_store(
        cls,
        store: Any,
        *,
        attributes: Mapping[str, Any] | None = None,
        zarr_format: int = 3,
        overwrite: bool = False,
    ) -> Group:
        """Create a group; see `blazarr.create_group`."""
        place = StorePath.locate(store)
        metadata = GroupMetadata(
            zarr_format=zarr_format, attributes=deepcopy(dict(attributes or {}))
        )
        documents.create(place, metadata, overwrite=overwrite)
        return cls(metadata, place)

    @classmethod
    def open(cls, store: Any, zarr_format: int | None = 3) -> Group:
        """Open an existing group; see `blazarr.open_group`."""
        place = StorePath.locate(store)
        return cls(documents.read_group(place, zarr_format), place)

    def __reduce__(self) -> tuple[Any, ...]:
        return Group, (self._metadata, self.store_path)

    def __repr__(self) -> str:
        return f"<Group {self.store_path}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Group):
            return NotImplemented
        return self.store_path.is_same(other.store_path) and self.metadata == other.metadata

    # Where it is, and what it says.

    @property
    def metadata(self) -> GroupMetadata:
        """The group's metadata, as this handle has seen it last."""
        return self._metadata

    @property
    def synchronizer(self) -> None:
        """None; of zarr-python 2."""
        return

    @property
    def aio(self) -> AsyncGroup:
        """The same group for ``async`` code."""
        return AsyncGroup(self)

    @property
    def attrs(self) -> Attributes:
        """User attributes."""
        return Attributes(self)

    def update_attributes(self, new_attributes: Mapping[str, Any]) -> Group:
        """Set attributes with one write; others stay as they are.

        Parameters
        ----------
        new_attributes
            Names and values.
        """
        self.attrs.update(new_attributes)
        return self

    async def update_attributes_async(self, new_attributes: Mapping[str, Any]) -> Group:
        """Replace all attributes, as zarr-python's method of this name does."""
        await in_thread(self.attrs.put, dict(new_attributes))
        return self

    def _change_attributes(self, change: Change) -> None:
        with self._lock:
            _, after = documents.revise(
                self.store_path,
                self._metadata,
                lambda stored: stored.update(attributes=change(dict(stored.attributes))),
            )
            self._metadata = self._metadata.update(attributes=after.attributes)

    # Members.

    def __getitem__(self, path: str) -> Array | Group:
        place = self.store_path / path
        found = members.find(self._metadata, self.store_path, place)
        if found is None:
            raise NotFoundError(
                f"there is no array or group {path!r} in {self.store_path}", key=place.path
            )
        return node_of(found, place, by_copy=self._metadata.consolidated_metadata is not None)

    def get(self, path: str, default: Default | None = None) -> Array | Group | Default | None:
        """Return a member, or `default` if it isn't there.

        Parameters
        ----------
        path
            Path below the group.
        default
            Returned instead.
        """
        try:
            return self[path]
        except KeyError:
            return default

    def get_array(self, path: str) -> Array:
        """Return a member that has to be an array."""
        node = self.get(path)
        if node is None:
            raise ArrayNotFoundError(f"there is no array {path!r} in {self.store_path}")
        if isinstance(node, Group):
            raise ContainsGroupError(f"{node.store_path} is a group, not an array")
        return node

    def get_group(self, path: str) -> Group:
        """Return a member that has to be a group."""
        node = self.get(path)
        if node is None:
            raise GroupNotFoundError(f"there is no group {path!r} in {self.store_path}")
        if isinstance(node, Array):
            raise ContainsArrayError(f"{node.store_path} is an array, not a group")
        return node

    def __contains__(self, member: object) -> bool:
        if not isinstance(member, str):
            return False
        place = self.store_path / member
        return members.find(self._metadata, self.store_path, place) is not None

    def __iter__(self) -> Iterator[str]:
        return self.keys()

    def __len__(self) -> int:
        return self.nmembers()

    def __delitem__(self, key: str) -> None:
        """Delete a member with everything below it; no error where there is none."""
        self.store_path.require_writable()
        self.store_path.below(key).delete_all()
        if self._metadata.consolidated_metadata is not None:
            self._forget(key.strip("/"))

    def _forget(self, path: str) -> None:
        """Drop a member from the stored consolidated metadata."""
        with self._lock:
            self._metadata = consolidated.without(self.store_path, self._metadata, path)

    def __setitem__(self, key: str, value: Any) -> None:
        """Store an array under a name, replacing what is there."""
        value = np.asarray(value)
        self._create(
            key, {"shape": value.shape, "dtype": value.dtype, "data": value, "overwrite": True}
        )

    def create_group(
        self,
        name: str,
        *,
        overwrite: bool = False,
        attributes: Mapping[str, Any] | None = None,
    ) -> Group:
        """Create a group below this one.

        Parameters
        ----------
        name
            Path below this group.
        overwrite
            Replace what is there; otherwise that is an error.
        attributes
            User attributes.
        """
        return Group.from_store(
            self._new(name, overwrite=overwrite),
            attributes=attributes,
            zarr_format=self._metadata.zarr_format,
            overwrite=overwrite,
        )

    def require_group(self, name: str, overwrite: bool = False) -> Group:
        """Return a group below this one, creating it if it is missing.

        Parameters
        ----------
        name
            Path below this group.
        overwrite
            Replace what is there.
        """
        node = None if overwrite else self.get(name)
        if isinstance(node, Array):
            raise TypeError(f"{node.store_path} is an array, so it cannot be a group")
        if node is not None:
            return node
        try:
            return self.create_group(name, overwrite=overwrite)
        except ContainsGroupError:
            # Created by somebody else since it was looked for.
            return self.get_group(name)

    def require_groups(self, *names: str) -> tuple[Group, ...]:
        """Return groups below this one, creating those that are missing."""
        return tuple(self.require_group(name) for name in names)

    def create_hierarchy(
        self, nodes: Mapping[str, ArrayMetadata | GroupMetadata], *, overwrite: bool = False
    ) -> Iterator[tuple[str, Array | Group]]:
        """Create many nodes below this group; see `blazarr.create_hierarchy`."""
        if any(not path.strip("/") for path in nodes):
            raise MetadataError("nodes: the group itself is there already", argument="nodes")
        for path, node, place in hierarchy.create(self.store_path, nodes, overwrite=overwrite):
            yield path, node_of(node, place)

    def move(self, source: str, dest: str) -> None:
        """Move a member, with everything below it, to another path.

        Parameters
        ----------
        source, dest
            Paths below this group.
        """
        if source not in self:
            raise NotFoundError(f"there is no array or group {source!r} in {self.store_path}")
        documents.move(self.store_path / source, self.store_path / dest)

    def members(
        self, max_depth: int | None = 0, *, use_consolidated_for_children: bool = True
    ) -> tuple[tuple[str, Array | Group], ...]:
        """Return the nodes below, with their paths.

        Parameters
        ----------
        max_depth
            How deep below the members themselves; None goes to the bottom.
        use_consolidated_for_children
            Whether groups below may answer from their own consolidated metadata.
        """
        return tuple(self._walk(max_depth, use_consolidated=use_consolidated_for_children))

    def _walk(
        self, max_depth: int | None, *, use_consolidated: bool = True
    ) -> Iterator[tuple[str, Array | Group]]:
        place = self.store_path
        found = members.walk(self._metadata, place, max_depth, use_consolidated=use_consolidated)
        by_copy = self._metadata.consolidated_metadata is not None
        return ((path, node_of(node, place.child(path), by_copy=by_copy)) for path, node in found)

    def nmembers(self, max_depth: int | None = 0) -> int:
        """Return the number of nodes below, down to a depth."""
        return len(self.members(max_depth))

    def keys(self) -> Iterator[str]:
        """Yield the names of the members."""
        return (name for name, _ in self.members())

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Yield the members that are arrays, with their names."""
        return ((name, node) for name, node in self.members() if isinstance(node, Array))

    def array_keys(self) -> Iterator[str]:
        """Yield the names of the members that are arrays."""
        return (name for name, _ in self.arrays())

    def array_values(self) -> Iterator[Array]:
        """Yield the members that are arrays."""
        return (node for _, node in self.arrays())

    def groups(self) -> Iterator[tuple[str, Group]]:
        """Yield the members that are groups, with their names."""
        return ((name, node) for name, node in self.members() if isinstance(node, Group))

    def group_keys(self) -> Iterator[str]:
        """Yield the names of the members that are groups."""
        return (name for name, _ in self.groups())

    def group_values(self) -> Iterator[Group]:
        """Yield the members that are groups."""
        return (node for _, node in self.groups())


def node_of(
    metadata: ArrayMetadata | GroupMetadata, place: StorePath, *, by_copy: bool = False
) -> Array | Group:
    """Return the handle of a node whose metadata has been read, or found in consolidated metadata."""
    if isinstance(metadata, GroupMetadata):
        return Group(metadata, place)
    return Array.of_copy(metadata, place) if by_copy else Array(metadata, place)


AsyncGroup.stand_for(Group)
