"""Consolidated metadata: a copy of all members' documents, kept by a group.

Format 3 keeps it inline in the group's ``zarr.json``, format 2 in ``.zmetadata``. Members are
parsed, and refused for their depth, when they are asked for, so that opening a hierarchy of thousands
costs what is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from blazarr.errors import MetadataError
from blazarr.metadata.array import ArrayMetadata, merged
from blazarr.metadata.array_v2 import array_v2_from_json
from blazarr.metadata.array_v3 import array_v3_from_json
from blazarr.metadata.document import JSON, Naming, check_depth, shown, wrong
from blazarr.metadata.group import GroupMetadata, group_v2_from_json, group_v3_from_json

Documents = dict[str, dict[str, Any]]

# What could lead out of a group: NUL, backslashes, and segments that are empty or dots.
_NO_PATH = re.compile(r"[\0\\]|(?:\A|/)\.{0,2}(?:/|\Z)")


@dataclass(frozen=True, eq=False)
class ConsolidatedMetadata(Mapping[str, ArrayMetadata | GroupMetadata]):
    """The metadata of a group's members at any depth, by their path below the group.

    Attributes
    ----------
    members
        Each member's documents as they were stored, by the name of their key.
    """

    members: dict[str, Documents]

    @classmethod
    def of(cls, nodes: Mapping[str, ArrayMetadata | GroupMetadata]) -> ConsolidatedMetadata:
        """Make it of parsed metadata."""
        return cls(
            {
                path: _without_copies(node).to_json()
                for path, node in sorted(nodes.items(), key=lambda item: _place(item[0]))
            }
        )

    def __getitem__(self, path: str) -> ArrayMetadata | GroupMetadata:
        with Naming(f"consolidated metadata of {path!r}"):
            node = _parse_member(self._documents(path))
        if isinstance(node, GroupMetadata):
            return replace(node, consolidated_metadata=self.below(path))
        return node

    def __iter__(self) -> Iterator[str]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConsolidatedMetadata):
            return NotImplemented
        return self.members == other.members

    __hash__ = None  # type: ignore[assignment]

    @property
    def metadata(self) -> dict[str, ArrayMetadata | GroupMetadata]:
        """The metadata of all members, parsed."""
        return dict(self)

    def is_array(self, path: str) -> bool:
        """Tell a member's kind without parsing it."""
        documents = self.members[path]
        return ".zarray" in documents or documents.get("zarr.json", {}).get("node_type") == "array"

    def below(self, path: str) -> ConsolidatedMetadata:
        """Give the part that is below a member group."""
        start = f"{path}/"
        return ConsolidatedMetadata(
            {
                member[len(start) :]: documents
                for member, documents in self.members.items()
                if member.startswith(start)
            }
        )

    def to_inline(self) -> dict[str, Any]:
        """Give the ``consolidated_metadata`` member of a v3 group's document."""
        return {
            "kind": "inline",
            "must_understand": False,
            "metadata": {path: merged(self._documents(path)) for path in self.members},
        }

    def to_zmetadata(self, own: Documents) -> dict[str, Any]:
        """Give ``.zmetadata``; `own` are the group's own documents."""
        entries: dict[str, Any] = dict(own)
        for path in self.members:
            documents = self._documents(path)
            entries |= {f"{path}/{name}": document for name, document in documents.items()}
        return {"metadata": entries, "zarr_consolidated_format": 1}

    def _documents(self, path: str) -> Documents:
        documents = self.members[path]
        check_depth(list(documents.values()))
        return documents


def without_inline(document: dict[str, Any]) -> JSON:
    """Give a decoded ``zarr.json`` without the members that `ConsolidatedMetadata` checks."""
    inline = document.get("consolidated_metadata")
    if document.get("node_type") != "group" or not isinstance(inline, dict):
        return document
    return {**document, "consolidated_metadata": without_entries(inline)}


def without_entries(document: dict[str, Any]) -> JSON:
    """Give a decoded ``.zmetadata``, or an inline copy, without the objects among its entries."""
    entries = document.get("metadata")
    if not isinstance(entries, dict):
        return document
    unfit = [entry for entry in entries.values() if not isinstance(entry, dict)]
    return {**document, "metadata": unfit}


def parse_inline(document: JSON) -> ConsolidatedMetadata:
    """Parse the ``consolidated_metadata`` member of a v3 group's document."""
    if not isinstance(document, dict):
        raise wrong("consolidated_metadata", "an object", document)
    if document.get("kind") != "inline":
        raise wrong("consolidated_metadata.kind", "'inline'", document.get("kind"))
    path = "consolidated_metadata.metadata"
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        raise wrong(path, "an object", metadata)
    return ConsolidatedMetadata(
        {
            _checked_path(member, path): split_inline(stored, member)
            for member, stored in metadata.items()
        }
    )


def parse_zmetadata(document: dict[str, Any]) -> GroupMetadata:
    """Parse a decoded ``.zmetadata`` into the group's metadata with all its members."""
    if document.get("zarr_consolidated_format") != 1:
        found = document.get("zarr_consolidated_format")
        raise wrong("zarr_consolidated_format", "1", found)
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        raise wrong("metadata", "an object", metadata)
    members: dict[str, Documents] = {}
    for key, stored in metadata.items():
        path, _, name = key.rpartition("/")
        if not isinstance(stored, dict):
            raise wrong(f"metadata[{shown(key)}]", "an object", stored)
        if name in (".zgroup", ".zarray", ".zattrs"):
            members.setdefault(path and _checked_path(path, "metadata"), {})[name] = stored
    own = members.pop("", {})
    check_depth(list(own.values()))
    if ".zgroup" not in own:
        raise MetadataError("metadata: '.zgroup' is missing", path="metadata")
    known = {path: found for path, found in members.items() if found.keys() != {".zattrs"}}
    return replace(
        group_v2_from_json(own[".zgroup"], own.get(".zattrs")),
        consolidated_metadata=ConsolidatedMetadata(known),
    )


def _parse_member(documents: Documents) -> ArrayMetadata | GroupMetadata:
    if ".zarray" in documents:
        return array_v2_from_json(documents[".zarray"], documents.get(".zattrs"))
    if ".zgroup" in documents:
        return group_v2_from_json(documents[".zgroup"], documents.get(".zattrs"))
    document = documents["zarr.json"]
    if document.get("node_type") == "array":
        return array_v3_from_json(document)
    # What is below it is in this copy already.
    return group_v3_from_json({**document, "consolidated_metadata": None})


def split_inline(stored: JSON, member: str) -> Documents:
    """Take a member's inline entry apart: one of format 2 has its attributes merged into it."""
    if not isinstance(stored, dict):
        raise wrong(f"consolidated_metadata.metadata[{shown(member)}]", "an object", stored)
    if stored.get("zarr_format") != 2:
        return {"zarr.json": stored}
    own = {name: value for name, value in stored.items() if name != "attributes"}
    name = ".zarray" if "shape" in stored else ".zgroup"
    return {name: own, ".zattrs": stored.get("attributes") or {}}


def _without_copies(node: ArrayMetadata | GroupMetadata) -> ArrayMetadata | GroupMetadata:
    return replace(node, consolidated_metadata=None) if isinstance(node, GroupMetadata) else node


def _place(path: str) -> tuple[int, str]:
    # Parents before children, as zarr-python writes them.
    return path.count("/"), path


def _checked_path(path: str, where: str) -> str:
    """Refuse a member's path that could lead out of its group."""
    if _NO_PATH.search(path):
        raise MetadataError(f"{where}: {shown(path)} is not a path below the group", path=where)
    return path
