"""Metadata documents of formats 2 and 3, and the frozen models they become.

Pure: bytes in, models out, and back. Every problem is a `MetadataError` (or `LimitError`,
`UnsupportedError`) that names the document's key and the place in it.
"""

from __future__ import annotations

from typing import Any

from blazarr.errors import NodeTypeValidationError
from blazarr.metadata.array import ArrayMetadata, CodecSpec
from blazarr.metadata.consolidated import ConsolidatedMetadata, parse_zmetadata
from blazarr.metadata.document import Naming, decode, shown
from blazarr.metadata.group import GroupMetadata, group_v2_from_json, group_v3_from_json
from blazarr.metadata.keys import KeyEncoding, parse_key_encoding
from blazarr.metadata.v2 import ArrayV2Metadata, array_v2_from_json
from blazarr.metadata.v3 import ArrayV3Metadata, array_v3_from_json, parse_codec

__all__ = [
    "ArrayMetadata",
    "ArrayV2Metadata",
    "ArrayV3Metadata",
    "CodecSpec",
    "ConsolidatedMetadata",
    "GroupMetadata",
    "KeyEncoding",
    "parse_array_v2",
    "parse_array_v3",
    "parse_codec",
    "parse_consolidated_v2",
    "parse_group_v2",
    "parse_group_v3",
    "parse_key_encoding",
    "parse_node_v3",
]


def parse_array_v3(document: bytes, key: str) -> ArrayV3Metadata:
    """Parse an array's ``zarr.json``; errors name `key`."""
    with Naming(key):
        return array_v3_from_json(decode(document))


def parse_group_v3(document: bytes, key: str) -> GroupMetadata:
    """Parse a group's ``zarr.json``; errors name `key`."""
    with Naming(key):
        return group_v3_from_json(decode(document))


def parse_node_v3(document: bytes, key: str) -> ArrayV3Metadata | GroupMetadata:
    """Parse a ``zarr.json``, whichever kind of node it describes; errors name `key`."""
    with Naming(key):
        decoded = decode(document)
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
        return parse_zmetadata(decode(zmetadata))


def _attributes(zattrs: bytes | None, key: str) -> dict[str, Any] | None:
    if zattrs is None:
        return None
    with Naming(f"{key.rpartition('.')[0]}.zattrs"):
        return decode(zattrs)
