"""Group metadata of both formats."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from blazarr.errors import NodeTypeValidationError
from blazarr.metadata.array import merged, parse_attributes
from blazarr.metadata.array_v3 import check_header, parse_extra
from blazarr.metadata.document import encode_readable, shown, wrong

if TYPE_CHECKING:
    from blazarr.metadata.consolidated import ConsolidatedMetadata

_V3_MEMBERS = frozenset(["zarr_format", "node_type", "attributes", "consolidated_metadata"])


@dataclass(frozen=True)
class GroupMetadata:
    """A group's ``zarr.json``, or its ``.zgroup`` and ``.zattrs``.

    Attributes
    ----------
    zarr_format
        2 or 3.
    attributes
        The user's attributes.
    consolidated_metadata
        The metadata of all members, where the group keeps a copy of it.
    extra
        Members that this version doesn't know, kept for writing back.
    """

    zarr_format: int = 3
    attributes: dict[str, Any] = field(default_factory=dict)
    consolidated_metadata: ConsolidatedMetadata | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.zarr_format not in (2, 3):
            raise wrong("zarr_format", "2 or 3", self.zarr_format)

    @property
    def node_type(self) -> str:
        """``"group"``."""
        return "group"

    def update(self, *, attributes: dict[str, Any]) -> Self:
        """Give the metadata with other attributes."""
        return replace(self, attributes=deepcopy(attributes))

    def documents(self) -> dict[str, dict[str, Any]]:
        """Give the group's own documents, before encoding; they share the metadata's attributes."""
        if self.zarr_format == 2:
            return {".zgroup": {"zarr_format": 2, **self.extra}, ".zattrs": self.attributes}
        document: dict[str, Any] = {"attributes": self.attributes, "zarr_format": 3}
        if self.consolidated_metadata is not None:
            document["consolidated_metadata"] = self.consolidated_metadata.to_inline()
        return {"zarr.json": {**document, "node_type": "group", **self.extra}}

    def to_json(self) -> dict[str, dict[str, Any]]:
        """Give the group's own documents, before encoding; they are the caller's own."""
        return deepcopy(self.documents())

    def to_dict(self) -> dict[str, Any]:
        """Give one document, before encoding; in format 2 with the attributes in it."""
        return merged(self.to_json())

    def to_documents(self) -> dict[str, bytes]:
        """Give the documents to store, by the name of their key; v2's ``.zmetadata`` too."""
        from blazarr.metadata.consolidated import without_entries, without_inline

        documents = self.documents()
        if self.zarr_format == 2 and self.consolidated_metadata is not None:
            documents[".zmetadata"] = self.consolidated_metadata.to_zmetadata(documents)
        checked = {"zarr.json": without_inline, ".zmetadata": without_entries}
        return {
            name: encode_readable(document, checked.get(name))
            for name, document in documents.items()
        }


def group_v3_from_json(document: dict[str, Any]) -> GroupMetadata:
    """Parse a decoded ``zarr.json`` of a group."""
    from blazarr.metadata.consolidated import parse_inline

    check_header(document, "group")
    consolidated = document.get("consolidated_metadata")
    return GroupMetadata(
        zarr_format=3,
        attributes=parse_attributes(document.get("attributes")),
        consolidated_metadata=None if consolidated is None else parse_inline(consolidated),
        extra=parse_extra(document, _V3_MEMBERS),
    )


def group_v2_from_json(
    document: dict[str, Any], attributes: dict[str, Any] | None
) -> GroupMetadata:
    """Parse a decoded ``.zgroup``, with its decoded ``.zattrs`` if there is one."""
    if document.get("zarr_format") != 2:
        raise wrong("zarr_format", "2", document.get("zarr_format"))
    if document.get("node_type", "group") != "group":
        raise NodeTypeValidationError(
            f"node_type: expected 'group', found {shown(document['node_type'])}",
            path="node_type",
        )
    return GroupMetadata(
        zarr_format=2,
        attributes=parse_attributes(attributes),
        extra={name: value for name, value in document.items() if name != "zarr_format"},
    )
