"""The models of metadata documents; `blazarr.metadata` parses them."""

from typing import TypeAlias

from blazarr.metadata import ArrayMetadata, GroupMetadata

__all__ = ["ArrayMetadata", "GroupMetadata", "Metadata"]

Metadata: TypeAlias = ArrayMetadata | GroupMetadata
