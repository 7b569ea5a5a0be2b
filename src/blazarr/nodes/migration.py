"""From format 2 to format 3 in place: documents are written beside the old ones, and no chunk is touched."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from blazarr.codecs import compile_chain
from blazarr.codecs.migration import to_v3
from blazarr.errors import (
    BlazarrError,
    ConflictError,
    ExistsError,
    NotFoundError,
    UnsupportedError,
)
from blazarr.metadata import (
    ArrayMetadata,
    ArrayV2Metadata,
    ArrayV3Metadata,
    ConsolidatedMetadata,
    GroupMetadata,
    parse_consolidated_v2,
    parse_documents,
)
from blazarr.nodes.array import Array
from blazarr.nodes.documents import Documents, NodeMetadata
from blazarr.nodes.location import StorePath
from blazarr.nodes.upkeep import walk
from blazarr.stores import ABSENT, MemoryStore

OLD = (".zarray", ".zgroup", ".zattrs", ".zmetadata")
NEW = "zarr.json"


def migrate(place: StorePath, *, dry_run: bool, remove_v2: bool) -> list[str]:
    """Bring the nodes at and below a place to format 3; see `blazarr.migrate`."""
    planned = [
        (here, found, _document(here, found)) for here, found in walk(place) if _is_v2(found)
    ]
    if not planned:
        raise NotFoundError(f"there is no node of format 2 at {place}", key=place.path)
    if not dry_run:
        place.require_writable()
        # The top comes last: until it is there, readers find the whole hierarchy in format 2.
        for here, found, document in reversed(planned):
            _write(here, found, document)
        if remove_v2:
            _remove(planned)
    return [here.prefix + NEW for here, _, _ in planned]


def _is_v2(found: Documents) -> bool:
    return bool(found.keys() & {".zarray", ".zgroup"})


def _document(here: StorePath, found: Documents) -> bytes:
    documents = {name: found[name][0] for name in OLD if name in found}
    copies = documents.pop(".zmetadata", None)
    node = parse_documents(documents, f"{here}/")
    if isinstance(node, GroupMetadata) and copies is not None:
        members = parse_consolidated_v2(copies, f"{here}/.zmetadata").consolidated_metadata
        node = replace(node, consolidated_metadata=members)
    try:
        return _migrated(node).to_documents()[NEW]
    except BlazarrError as error:
        error.locate(str(here))
        raise


def _migrated(node: NodeMetadata) -> NodeMetadata:
    if isinstance(node, ArrayV2Metadata):
        migrated = to_v3(node)
        _check_same(node, migrated)
        return migrated
    if isinstance(node, ArrayMetadata):
        return node
    members = node.consolidated_metadata
    copies = None if members is None else ConsolidatedMetadata.of(_each(_migrated, members))
    return GroupMetadata(attributes=node.attributes, consolidated_metadata=copies)


def _check_same(before: ArrayV2Metadata, after: ArrayV3Metadata) -> None:
    """Make sure that both descriptions read the same from a chunk: by their steps, or else by trying."""
    if compile_chain(before).native == compile_chain(after).native:
        return
    shape = before.grid.chunk_shape
    place = StorePath(MemoryStore())
    old, new = Array(before.update(shape=shape), place), Array(after.update(shape=shape), place)
    count = np.arange(math.prod(shape)).reshape(shape)
    old[...] = (count % 100).astype(before.data_type.numpy)
    if old[...].tobytes() != new[...].astype(old.dtype).tobytes():
        raise UnsupportedError(
            "format 3 gives its filters another meaning; rewrite the array instead "
            "(from_array with zarr_format=3)",
            path="filters",
        )


def _each(
    change: Callable[[NodeMetadata], NodeMetadata], members: ConsolidatedMetadata
) -> dict[str, NodeMetadata]:
    return {path: change(node) for path, node in members.items()}


def _write(here: StorePath, found: Documents, document: bytes) -> None:
    """Write a document where there is none; the same one may be there from a call that was interrupted."""
    if NEW in found and found[NEW][0] == document:
        return
    try:
        here.put(NEW, document, if_generation=ABSENT)
    except ConflictError:
        raise ExistsError(
            f"{here}/{NEW} is there already and says something else; remove it, or keep it and "
            "migrate what is below",
            key=here.prefix + NEW,
        ) from None


def _remove(planned: list[tuple[StorePath, Documents, bytes]]) -> None:
    for here, found, _ in planned:
        for name in OLD:
            if name in found:
                here.store.delete(here.prefix + name, if_generation=found[name][1])
