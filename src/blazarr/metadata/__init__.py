"""Metadata documents of formats 2 and 3, and the frozen models they become.

Pure: bytes in, models out, and back. Every problem is a `MetadataError` (or `LimitError`,
`UnsupportedError`) that names the document's key and the place in it.
"""

from __future__ import annotations

from blazarr.errors import NodeTypeValidationError
from blazarr.metadata.array import ArrayMetadata, CodecSpec
from blazarr.metadata.consolidated import ConsolidatedMetadata, parse_zmetadata
from blazarr.metadata.document import decode, names_key, shown
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


@names_key
def parse_array_v3(document: bytes, key: str) -> ArrayV3Metadata:
    """Parse an array's ``zarr.json``; `key` is for errors."""
    return array_v3_from_json(decode(document))


@names_key
def parse_group_v3(document: bytes, key: str) -> GroupMetadata:
    """Parse a group's ``zarr.json``; `key` is for errors."""
    return group_v3_from_json(decode(document))


@names_key
def parse_node_v3(document: bytes, key: str) -> ArrayV3Metadata | GroupMetadata:
    """Parse a ``zarr.json``, whichever kind of node it describes; `key` is for errors."""
    decoded = decode(document)
    node_type = decoded.get("node_type")
    if node_type == "array":
        return array_v3_from_json(decoded)
    if node_type == "group":
        return group_v3_from_json(decoded)
    raise NodeTypeValidationError(
        f"node_type: expected 'array' or 'group', found {shown(node_type)}", path="node_type"
    )


@names_key
def parse_array_v2(zarray: bytes, zattrs: bytes | None, key: str) -> ArrayV2Metadata:
    """Parse an array's ``.zarray`` and ``.zattrs``; `key`, for errors, is that of the first."""
    return array_v2_from_json(decode(zarray), _attributes(zattrs, key))


@names_key
def parse_group_v2(zgroup: bytes, zattrs: bytes | None, key: str) -> GroupMetadata:
    """Parse a group's ``.zgroup`` and ``.zattrs``; `key`, for errors, is that of the first."""
    return group_v2_from_json(decode(zgroup), _attributes(zattrs, key))


@names_key
def parse_consolidated_v2(zmetadata: bytes, key: str) -> GroupMetadata:
    """Parse a group's ``.zmetadata``: the group, and all its members; `key` is for errors."""
    return parse_zmetadata(decode(zmetadata))


def _attributes(zattrs: bytes | None, key: str) -> dict[str, object] | None:
    return None if zattrs is None else _decode_as(zattrs, f"{key.rpartition('.')[0]}.zattrs")


@names_key
def _decode_as(document: bytes, key: str) -> dict[str, object]:
    return decode(document)
