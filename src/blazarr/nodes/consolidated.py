"""Consolidated metadata: opened instead of each member's own, and written."""

from __future__ import annotations

from dataclasses import replace

from blazarr.errors import MetadataError
from blazarr.metadata import (
    ArrayMetadata,
    ConsolidatedMetadata,
    GroupMetadata,
    parse_consolidated_v2,
)
from blazarr.nodes import documents, members
from blazarr.nodes.documents import NodeMetadata
from blazarr.nodes.location import StorePath


def read_group(
    place: StorePath, zarr_format: int | None, use_consolidated: bool | str | None
) -> GroupMetadata:
    """Read a group's metadata, with the consolidated metadata that is asked for.

    Parameters
    ----------
    place
        Where the group is.
    zarr_format
        2, 3 or None.
    use_consolidated
        As for `blazarr.open_group`.
    """
    return complete(place, documents.read_node(place, zarr_format), zarr_format, use_consolidated)


def complete(
    place: StorePath,
    found: NodeMetadata | None,
    zarr_format: int | None,
    use_consolidated: bool | str | None,
) -> GroupMetadata:
    """Return a group's metadata with its consolidated metadata, where the former has been read.

    Parameters
    ----------
    place, zarr_format, use_consolidated
        As for `read_group`.
    found
        What has been read there.
    """
    if isinstance(found, GroupMetadata) and found.zarr_format == 3:
        group = found
    else:
        group = _with_zmetadata(place, found, zarr_format, use_consolidated)
    if use_consolidated is False:
        return replace(group, consolidated_metadata=None)
    if use_consolidated and group.consolidated_metadata is None:
        raise MetadataError(
            f"{place} has no consolidated metadata; write it with consolidate_metadata, or open "
            "the group with use_consolidated=None",
            key=place.path,
        )
    return group


def _with_zmetadata(
    place: StorePath,
    found: NodeMetadata | None,
    zarr_format: int | None,
    use_consolidated: bool | str | None,
) -> GroupMetadata:
    name = use_consolidated if isinstance(use_consolidated, str) else ".zmetadata"
    stored = {} if zarr_format == 3 or use_consolidated is False else place.read([name])
    if name not in stored or isinstance(found, ArrayMetadata):
        return documents.require_group(place, found, zarr_format)
    consolidated = parse_consolidated_v2(stored[name][0], f"{place}/{name}")
    # Some stores have only this document; it has a copy of the group's own.
    if found is None:
        return consolidated
    return replace(found, consolidated_metadata=consolidated.consolidated_metadata)


def consolidate(place: StorePath, zarr_format: int | None = None) -> GroupMetadata:
    """Write the metadata of all nodes below a group into the group, and return it.

    Parameters
    ----------
    place
        Where the group is.
    zarr_format
        2, 3 or None.
    """
    place.require_writable()
    group = replace(documents.read_group(place, zarr_format), consolidated_metadata=None)
    nodes = dict(members.walk(group, place, use_consolidated=False))
    return _store(place, replace(group, consolidated_metadata=ConsolidatedMetadata.of(nodes)))


def without(place: StorePath, group: GroupMetadata, path: str) -> GroupMetadata:
    """Take a member, and what is below it, out of a group's stored consolidated metadata.

    Parameters
    ----------
    place
        Where the group is.
    group
        The group's metadata. Others may have changed the stored one since it was read.
    path
        The member's path below the group.
    """
    if group.zarr_format == 2:
        stored = complete(place, replace(group, consolidated_metadata=None), 2, None)
        return (
            stored if stored.consolidated_metadata is None else _store(place, _kept(stored, path))
        )
    return documents.revise(place, group, lambda stored: _kept(stored, path))[1]


def _kept(group: GroupMetadata, path: str) -> GroupMetadata:
    if group.consolidated_metadata is None:
        return group
    kept = {
        member: documents
        for member, documents in group.consolidated_metadata.items()
        if member != path and not member.startswith(f"{path}/")
    }
    return replace(group, consolidated_metadata=ConsolidatedMetadata.of(kept))


def _store(place: StorePath, group: GroupMetadata) -> GroupMetadata:
    if group.zarr_format == 2:
        place.put(".zmetadata", group.to_documents()[".zmetadata"])
        return group
    _, after = documents.revise(
        place,
        group,
        lambda stored: replace(stored, consolidated_metadata=group.consolidated_metadata),
    )
    return after
