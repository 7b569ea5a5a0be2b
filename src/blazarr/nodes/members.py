"""Finding what is below a group: in consolidated metadata, or in the store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from blazarr.errors import BlazarrError
from blazarr.metadata import ConsolidatedMetadata, GroupMetadata
from blazarr.nodes import documents
from blazarr.nodes.documents import NodeMetadata
from blazarr.nodes.location import StorePath

Member = tuple[str, NodeMetadata]

# How many members are read at once.
TOGETHER = 1000


def find(group: GroupMetadata, place: StorePath, member: StorePath) -> NodeMetadata | None:
    """Return the metadata of a member at any depth, or None where there is none.

    Parameters
    ----------
    group
        The group's metadata.
    place
        Where the group is.
    member
        A place below it.
    """
    if group.consolidated_metadata is None:
        return documents.read_node(member, group.zarr_format)
    path = member.path.removeprefix(place.prefix)
    return _consolidated(group.consolidated_metadata, path, group.zarr_format)


def walk(
    group: GroupMetadata,
    place: StorePath,
    max_depth: int | None = None,
    *,
    use_consolidated: bool = True,
) -> Iterator[Member]:
    """Yield what is below a group, with paths below it: a level of the hierarchy at a time.

    Parameters
    ----------
    group
        The group's metadata.
    place
        Where the group is.
    max_depth
        How many levels below the members themselves; None goes to the bottom.
    use_consolidated
        Whether groups below may answer from their own consolidated metadata.
    """
    if max_depth is not None and max_depth < 0:
        raise BlazarrError(
            f"max_depth must be None or at least 0, not {max_depth}", argument="max_depth"
        )
    level: list[tuple[str, GroupMetadata]] = [("", group)]
    depth = 0
    while level and (max_depth is None or depth <= max_depth):
        below = []
        for parent_path, parent in level:
            for name, found in _children(
                parent, place.child(parent_path) if parent_path else place
            ):
                path = f"{parent_path}/{name}" if parent_path else name
                node = found if use_consolidated else _without_copy(found)
                if isinstance(node, GroupMetadata):
                    below.append((path, node))
                yield path, node
        level, depth = below, depth + 1


def _children(group: GroupMetadata, place: StorePath) -> Iterator[Member]:
    consolidated = group.consolidated_metadata
    if consolidated is not None:
        for name in dict.fromkeys(path.partition("/")[0] for path in consolidated):
            node = _consolidated(consolidated, name, group.zarr_format)
            if node is not None:
                yield name, node
        return
    names = place.child_names()
    for first in range(0, len(names), TOGETHER):
        some = names[first : first + TOGETHER]
        found = documents.read_nodes([place.child(name) for name in some], group.zarr_format)
        for name, node in zip(some, found, strict=True):
            # What has no metadata is no member: stray files, empty folders, chunks without an array.
            if node is not None:
                yield name, node


def _without_copy(node: NodeMetadata) -> NodeMetadata:
    return replace(node, consolidated_metadata=None) if isinstance(node, GroupMetadata) else node


def _consolidated(
    consolidated: ConsolidatedMetadata, path: str, zarr_format: int
) -> NodeMetadata | None:
    if path in consolidated:
        return consolidated[path]
    below = consolidated.below(path)
    if not below:
        return None
    # Only its members are listed: a group all the same.
    return GroupMetadata(zarr_format=zarr_format, consolidated_metadata=below)
