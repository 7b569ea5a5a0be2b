"""Metadata documents in a store: read, created, and revised without losing others' changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, TypeVar

from blazarr.errors import (
    ArrayNotFoundError,
    BlazarrError,
    ConflictError,
    ContainsArrayAndGroupError,
    ContainsArrayError,
    ContainsGroupError,
    ExistsError,
    GroupNotFoundError,
    MetadataError,
    NodeTypeValidationError,
    NotFoundError,
)
from blazarr.metadata import (
    ArrayMetadata,
    GroupMetadata,
    parse_array_v2,
    parse_array_v3,
    parse_documents,
)
from blazarr.nodes.location import StorePath, read_documents
from blazarr.stores import ABSENT, Generation

NodeMetadata = ArrayMetadata | GroupMetadata
AnyMetadata = TypeVar("AnyMetadata", ArrayMetadata, GroupMetadata)

# Document name -> its bytes and their generation; documents that aren't there are left out.
Documents = dict[str, tuple[bytes, Generation]]

V3 = ("zarr.json",)
V2 = (".zarray", ".zgroup", ".zattrs")

# A writer that loses this often in a row is not unlucky; something else is wrong.
ATTEMPTS = 1000


def read_node(place: StorePath, zarr_format: int | None = None) -> NodeMetadata | None:
    """Read the metadata of a node, or return None where there is none.

    Parameters
    ----------
    place
        Where the node is.
    zarr_format
        2 or 3; None takes what is there, and format 3 where both are.
    """
    if zarr_format not in (None, 2, 3):
        raise MetadataError(
            f"zarr_format must be 2, 3 or None, not {zarr_format!r}", argument="zarr_format"
        )
    for names in (V3, V2) if zarr_format is None else (_names(zarr_format),):
        found = _parse(place, place.read(names))
        if found is not None:
            return found
    return None


def read_nodes(places: Iterable[StorePath], zarr_format: int) -> list[NodeMetadata | None]:
    """Read the metadata of many nodes at once; None where there is none."""
    places = list(places)
    found = read_documents(places, _names(zarr_format))
    return [_parse(place, documents) for place, documents in zip(places, found, strict=True)]


def read_array(place: StorePath, zarr_format: int | None = None) -> ArrayMetadata:
    """Read the metadata of an array that has to be there."""
    found = read_node(place, zarr_format)
    if found is None:
        raise ArrayNotFoundError(
            f"there is no array at {place}{_asked(zarr_format)}",
            store=str(place.store),
            key=place.path,
        )
    if isinstance(found, GroupMetadata):
        raise NodeTypeValidationError(
            f"{place} is a group, not an array; open it with open_group", key=place.path
        )
    return found


def array_from_dict(place: StorePath, document: Mapping[str, Any]) -> ArrayMetadata:
    """Return array metadata for a document that is decoded already."""
    if document.get("zarr_format") == 3:
        return parse_array_v3(json.dumps(document).encode(), str(place))
    own = {name: value for name, value in document.items() if name != "attributes"}
    attributes = json.dumps(document.get("attributes") or {}).encode()
    return parse_array_v2(json.dumps(own).encode(), attributes, str(place))


def read_group(place: StorePath, zarr_format: int | None = None) -> GroupMetadata:
    """Read the metadata of a group that has to be there."""
    return require_group(place, read_node(place, zarr_format), zarr_format)


def require_group(
    place: StorePath, found: NodeMetadata | None, zarr_format: int | None
) -> GroupMetadata:
    """Return what was found at a place if it is a group; raise otherwise."""
    if found is None:
        raise GroupNotFoundError(
            f"there is no group at {place}{_asked(zarr_format)}",
            store=str(place.store),
            key=place.path,
        )
    if not isinstance(found, GroupMetadata):
        raise ContainsArrayError(
            f"{place} is an array, not a group; open it with open_array", key=place.path
        )
    return found


def create(place: StorePath, metadata: NodeMetadata, *, overwrite: bool = False) -> None:
    """Store the documents of a new node, and those of missing groups above it.

    Parameters
    ----------
    place
        Where the node shall be.
    metadata
        The node's metadata.
    overwrite
        Delete everything that is there; otherwise a node of the same format is an error.
    """
    place.require_writable()
    written = metadata.to_documents()
    missing = missing_parents(place, metadata.zarr_format)
    if overwrite:
        place.delete_all()
    else:
        refuse_existing(place, metadata.zarr_format)
    for parent in missing:
        create_group_if_missing(parent, metadata.zarr_format)
    (main, document), *others = written.items()
    try:
        place.put(main, document, if_generation=ABSENT)
    except ConflictError:
        # Somebody else was faster.
        refuse_existing(place, metadata.zarr_format)
        raise
    for name, document in others:
        place.put(name, document)


def missing_parents(
    place: StorePath, zarr_format: int, planned: Container[str] = ()
) -> list[StorePath]:
    """Return the places above a node where groups are missing, from the root down.

    Parameters
    ----------
    place
        Where the node is or shall be.
    zarr_format
        Format of the groups.
    planned
        Paths where groups will be, whatever is there now.
    """
    missing = []
    for parent in reversed(place.parents):
        if parent.path in planned:
            break
        found = read_node(parent, zarr_format)
        if isinstance(found, GroupMetadata):
            break
        if found is not None:
            raise ContainsArrayError(
                f"{parent} is an array, so nothing can be created below it", key=parent.path
            )
        missing.append(parent)
    return missing[::-1]


def create_group_if_missing(place: StorePath, zarr_format: int) -> None:
    """Store a group without attributes, unless somebody else has been faster."""
    try:
        for name, document in GroupMetadata(zarr_format=zarr_format).to_documents().items():
            place.put(name, document, if_generation=ABSENT)
    except ConflictError:
        return


def revise(
    place: StorePath, metadata: AnyMetadata, change: Callable[[AnyMetadata], AnyMetadata]
) -> tuple[AnyMetadata, AnyMetadata]:
    """Change stored metadata: re-read it, apply the change, write it if nobody else has meanwhile.

    Parameters
    ----------
    place
        Where the node is.
    metadata
        The metadata that the caller has; says which documents to read.
    change
        Makes new metadata of what is stored. It may be called more than once.

    Returns
    -------
    tuple
        The metadata before and after.
    """
    place.require_writable()
    names = _names(metadata.zarr_format)
    for _ in range(ATTEMPTS):
        stored = place.read(names)
        before = _parse(place, stored)
        if type(before) is not type(metadata):
            raise ConflictError(f"{place} is no longer there; it was deleted or replaced")
        after = change(before)
        try:
            _write_changed(place, stored, before, after)
        except ConflictError:
            continue
        return before, after
    raise ConflictError(
        f"the metadata of {place} changed {ATTEMPTS} times while it was being changed; "
        "nothing was written"
    )


def _write_changed(
    place: StorePath, stored: Documents, before: NodeMetadata, after: NodeMetadata
) -> None:
    old = before.to_documents()
    for name, document in after.to_documents().items():
        if name in stored and document == old.get(name):
            continue
        generation = stored[name][1] if name in stored else ABSENT
        place.put(name, document, if_generation=generation)


def _names(zarr_format: int) -> tuple[str, ...]:
    return V3 if zarr_format == 3 else V2


def _asked(zarr_format: int | None) -> str:
    return "" if zarr_format is None else f" in Zarr format {zarr_format}"


def _parse(place: StorePath, found: Documents) -> NodeMetadata | None:
    if ".zarray" in found and ".zgroup" in found:
        raise ContainsArrayAndGroupError(
            f"both .zarray and .zgroup are at {place}; only one of them may be, so remove the other"
        )
    if not found.keys() & {"zarr.json", ".zarray", ".zgroup"}:
        return None
    return parse_documents({name: stored for name, (stored, _) in found.items()}, f"{place}/")


def move(source: StorePath, dest: StorePath) -> None:
    """Move everything at a place to another one, where no node may be."""
    source.require_writable()
    if dest.prefix.startswith(source.prefix):
        raise BlazarrError(
            f"{source} cannot be moved to {dest}, which is inside of it", argument="dest"
        )
    metadata = read_node(source)
    if metadata is None:
        raise NotFoundError(f"there is no array or group at {source}", key=source.path)
    if not dest.is_empty():
        raise ExistsError(f"there is something at {dest} already", key=dest.path)
    for parent in missing_parents(dest, metadata.zarr_format):
        create_group_if_missing(parent, metadata.zarr_format)
    for key, _ in source.entries():
        found = source.store.get(key)
        if found is not None:
            dest.store.put(dest.prefix + key.removeprefix(source.prefix), found[0])
    source.delete_all()


def refuse_existing(place: StorePath, zarr_format: int) -> None:
    """Raise where a node of a format is already."""
    existing = read_node(place, zarr_format)
    if isinstance(existing, GroupMetadata):
        raise ContainsGroupError(
            f"a group is at {place} already; use overwrite=True to replace it", key=place.path
        )
    if existing is not None:
        raise ContainsArrayError(
            f"an array is at {place} already; use overwrite=True to replace it", key=place.path
        )
