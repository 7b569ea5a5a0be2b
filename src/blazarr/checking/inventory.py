"""Which nodes there are, and which key belongs to which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from blazarr.checking.findings import Finding
from blazarr.conversion.boxes import Shape
from blazarr.conversion.journal import FOLDER
from blazarr.errors import BlazarrError, UnsupportedError
from blazarr.metadata import ArrayMetadata, ConsolidatedMetadata, GroupMetadata
from blazarr.nodes import StorePath, consolidated, documents, layout

DOCUMENTS: Final = frozenset([*documents.V3, *documents.V2, ".zmetadata"])

NodeMetadata = ArrayMetadata | GroupMetadata


@dataclass
class Stored:
    """What is stored of an array: places in its grid, and bytes."""

    places: set[Shape] = field(default_factory=set)
    nbytes: int = 0


@dataclass
class Inventory:
    """What is at a place.

    Attributes
    ----------
    place
        The place.
    nodes
        Metadata by path below it.
    broken
        Paths of nodes whose metadata can't be read.
    stored
        What is stored of each array; None where the store can't be listed.
    findings
        What was found on the way.
    leftovers
        Keys of what conversions left that are complete.
    """

    place: StorePath
    nodes: dict[str, NodeMetadata] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    stored: dict[str, Stored] | None = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)


def take(place: StorePath) -> Inventory:
    """Return what is at a place.

    Parameters
    ----------
    place
        A node's place.
    """
    found = Inventory(place)
    _walk(found, "", None)
    try:
        _sort_keys(found)
    except UnsupportedError:
        found.stored = None
    return found


def _walk(found: Inventory, path: str, copy: ConsolidatedMetadata | None) -> None:
    """Take in a node and what is below it.

    `copy` is what consolidated metadata above says of members, for stores that can't be listed.
    """
    place = found.place.child(path) if path else found.place
    try:
        node = documents.read_node(place)
        if not isinstance(node, ArrayMetadata):
            node = _complete(place, node, required=not path)
    except BlazarrError as error:
        if not path and error.kind == "not-found":
            raise
        found.broken.add(path)
        found.findings.append(Finding(place.path, error.kind, error.message))
        return
    if node is None:
        return
    found.nodes[path] = node
    if isinstance(node, ArrayMetadata):
        return
    own = copy if node.consolidated_metadata is None else node.consolidated_metadata
    for name in _children(place, own):
        below = None if own is None else own.below(name)
        _walk(found, f"{path}/{name}" if path else name, below)
    _check_copy(found, path, node)


def _complete(
    place: StorePath, node: GroupMetadata | None, *, required: bool
) -> GroupMetadata | None:
    if node is None and not required:
        return None
    return consolidated.complete(place, node, None, None)


def _children(place: StorePath, copy: ConsolidatedMetadata | None) -> list[str]:
    try:
        return [name for name in place.child_names() if name != FOLDER]
    except UnsupportedError:
        return list(dict.fromkeys(path.partition("/")[0] for path in copy or ()))


def _check_copy(found: Inventory, path: str, group: GroupMetadata) -> None:
    """Compare consolidated metadata with the members' own."""
    copy = group.consolidated_metadata
    if copy is None:
        return
    start = f"{path}/" if path else ""
    for member in sorted({*copy, *(p[len(start) :] for p in found.nodes if p.startswith(start))}):
        own = found.nodes.get(start + member) if member else None
        if start + member in found.broken or not member:
            continue
        try:
            differs = member not in copy or own is None or _differ(copy[member], own)
        except BlazarrError as error:
            found.findings.append(
                Finding(f"{found.place.prefix}{start}", error.kind, error.message)
            )
            continue
        if differs:
            found.findings.append(
                Finding(
                    f"{found.place.prefix}{start}{member}",
                    "stale",
                    "its consolidated metadata is not the node's own; consolidate anew",
                )
            )


def _differ(copy: NodeMetadata, own: NodeMetadata) -> bool:
    if isinstance(copy, GroupMetadata) and isinstance(own, GroupMetadata):
        # Copies of members' metadata are compared by themselves.
        return copy.attributes != own.attributes
    return copy != own


def _sort_keys(found: Inventory) -> None:
    arrays = {path: node for path, node in found.nodes.items() if isinstance(node, ArrayMetadata)}
    found.stored = {path: Stored() for path in arrays}
    for key, size in found.place.entries():
        relative = key.removeprefix(found.place.prefix)
        path = _owner(found, relative)
        if path in found.broken:
            continue
        rest = relative[len(path) + 1 :] if path else relative
        place = _place(arrays[path], rest) if path in arrays else None
        if place is not None:
            found.stored[path].places.add(place)
            found.stored[path].nbytes += size
        elif rest not in DOCUMENTS:
            _note_stray(found, key, path, rest)


def _owner(found: Inventory, relative: str) -> str:
    """Return the path of the innermost node that a key is in; the root is one."""
    return next(
        (path for path in _parents(relative) if path in found.nodes or path in found.broken), ""
    )


def _parents(key: str) -> Iterator[str]:
    while "/" in key:
        key = key.rpartition("/")[0]
        yield key


def _place(metadata: ArrayMetadata, rest: str) -> Shape | None:
    place = metadata.chunk_key_encoding.decode(rest, metadata.ndim)
    counts = layout.grid_shape(metadata)
    if place is None or any(i >= n for i, n in zip(place, counts, strict=True)):
        return None
    return place


def _note_stray(found: Inventory, key: str, path: str, rest: str) -> None:
    if rest.partition("/")[0] == FOLDER:
        # Where the node is there, the conversion had nothing left to do but to delete this.
        found.leftovers.append(key)
        found.findings.append(Finding(key, "leftover", "of a conversion that is complete"))
        return
    if FOLDER in rest.split("/"):
        message = "of a conversion that was stopped; run it again, or delete the folder"
        found.findings.append(Finding(key, "unfinished", message))
        return
    isarray = isinstance(found.nodes.get(path), ArrayMetadata)
    where = "outside of its array's grid" if isarray else "belongs to no node"
    found.findings.append(Finding(key, "orphan", where))
