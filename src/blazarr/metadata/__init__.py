"""Metadata documents of formats 2 and 3, and the frozen models they become.

Pure: bytes in, models out, and back. Every problem is a `MetadataError` (or `LimitError`,
`UnsupportedError`) that names the document's key and the place in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from blazarr.errors import MetadataError, NodeTypeValidationError
from blazarr.metadata.array import ArrayMetadata, CodecSpec
from blazarr.metadata.array_v2 import ArrayV2Metadata, array_v2_from_json
from blazarr.metadata.array_v3 import ArrayV3Metadata, array_v3_from_json, parse_codec
from blazarr.metadata.consolidated import (
    ConsolidatedMetadata,
    parse_zmetadata,
    without_entries,
    without_inline,
)
from blazarr.metadata.document import Naming, decode, shown
from blazarr.metadata.group import GroupMetadata, group_v2_from_json, group_v3_from_json
from blazarr.metadata.keys import KeyEncoding, parse_key_encoding

if TYPE_CHECKING:
    from blazarr.metadata.models import from_model, to_model
    from blazarr.metadata.validation import Problem, problems_in

__all__ = [
    "ArrayMetadata",
    "ArrayV2Metadata",
    "ArrayV3Metadata",
    "CodecSpec",
    "ConsolidatedMetadata",
    "GroupMetadata",
    "KeyEncoding",
    "Problem",
    "from_model",
    "parse_array_v2",
    "parse_array_v3",
    "parse_codec",
    "parse_consolidated_v2",
    "parse_documents",
    "parse_group_v2",
    "parse_group_v3",
    "parse_key_encoding",
    "parse_node_v3",
    "problems_in",
    "to_model",
    "validate",
]

# Names that load on use.
_PLACES: Final = {
    "Problem": "blazarr.metadata.validation",
    "from_model": "blazarr.metadata.models",
    "problems_in": "blazarr.metadata.validation",
    "to_model": "blazarr.metadata.models",
    # It looks into stores, of which this room knows nothing.
    "validate": "blazarr.api.upkeep",
}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    if name in {"v2", "v3"}:
        return import_module(f"{__name__}.{name}")
    from blazarr.metadata.models import public_name

    return public_name(name)


def parse_documents(
    documents: Mapping[str, bytes], folder: str = ""
) -> ArrayMetadata | GroupMetadata:
    """Parse a node's documents.

    Parameters
    ----------
    documents
        Each document by the name of its key: ``zarr.json``, or ``.zarray`` or ``.zgroup`` with ``.zattrs``, or
        ``.zmetadata``. Format 3 is taken where both are.
    folder
        Where they are, for errors.

    Returns
    -------
    ArrayMetadata or GroupMetadata
        `ArrayMetadata.to_documents` and `GroupMetadata.to_documents` give the documents back.

    Raises
    ------
    MetadataError
        If a document is wrong, or there is none.
    """
    attributes = documents.get(".zattrs")
    if "zarr.json" in documents:
        return parse_node_v3(documents["zarr.json"], f"{folder}zarr.json")
    if ".zarray" in documents:
        return parse_array_v2(documents[".zarray"], attributes, f"{folder}.zarray")
    if ".zmetadata" in documents:
        return parse_consolidated_v2(documents[".zmetadata"], f"{folder}.zmetadata")
    if ".zgroup" in documents:
        return parse_group_v2(documents[".zgroup"], attributes, f"{folder}.zgroup")
    raise MetadataError(f"{folder}: none of zarr.json, .zarray, .zgroup, .zmetadata is there")


def parse_array_v3(document: bytes, key: str) -> ArrayV3Metadata:
    """Parse an array's ``zarr.json``; errors name `key`."""
    with Naming(key):
        return array_v3_from_json(decode(document))


def parse_group_v3(document: bytes, key: str) -> GroupMetadata:
    """Parse a group's ``zarr.json``; errors name `key`."""
    with Naming(key):
        return group_v3_from_json(decode(document, without_inline))


def parse_node_v3(document: bytes, key: str) -> ArrayV3Metadata | GroupMetadata:
    """Parse a ``zarr.json``, whichever kind of node it describes; errors name `key`."""
    with Naming(key):
        decoded = decode(document, without_inline)
        node_type = decoded.get("node_type")
        if node_type == "array":
            return array_v3_from_json(decoded)
        if node_type == "group":
            return group_v3_from_json(decoded)
        raise NodeTypeValidationError(
            f"node_type: expected 'array' or 'group', found {shown(node_type)}", path="node_type"
        )


def parse_array_v2(zarray: bytes, zattrs: bytes | None, key: str) -> ArrayV2Metadata:
    """Parse an array's ``.zarray`` and ``.zattrs``; `key` is that of the first."""
    with Naming(key):
        return array_v2_from_json(decode(zarray), _attributes(zattrs, key))


def parse_group_v2(zgroup: bytes, zattrs: bytes | None, key: str) -> GroupMetadata:
    """Parse a group's ``.zgroup`` and ``.zattrs``; `key` is that of the first."""
    with Naming(key):
        return group_v2_from_json(decode(zgroup), _attributes(zattrs, key))


def parse_consolidated_v2(zmetadata: bytes, key: str) -> GroupMetadata:
    """Parse a group's ``.zmetadata``: the group, and all its members; errors name `key`."""
    with Naming(key):
        return parse_zmetadata(decode(zmetadata, without_entries))


def _attributes(zattrs: bytes | None, key: str) -> dict[str, Any] | None:
    if zattrs is None:
        return None
    with Naming(f"{key.rpartition('.')[0]}.zattrs"):
        return decode(zattrs)
