"""What array metadata of both formats have in common."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, cast

from blazarr.config import config
from blazarr.dtypes import DataType
from blazarr.errors import LimitError, MetadataError
from blazarr.grids import ChunkGrid
from blazarr.metadata.document import encode_readable, wrong
from blazarr.metadata.keys import KeyEncoding

_MAX_ITEMS = 2**63 - 1


@dataclass(frozen=True)
class CodecSpec:
    """One codec of a chain: a name, and the configuration as it is stored."""

    name: str
    configuration: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Give an entry of a v3 document's ``codecs``."""
        # zarr-python reads codecs with this prefix only where they have a configuration.
        if not self.configuration and not self.name.startswith("numcodecs."):
            return {"name": self.name}
        return {"name": self.name, "configuration": self.configuration}


class ArrayMetadata(ABC):
    """An array's metadata, in the view that both formats share.

    Attributes
    ----------
    shape
        The array's shape.
    data_type
        What one item is.
    grid
        How the array is cut into what one store key holds: shards where it is sharded.
    chunk_key_encoding
        How chunk keys are made.
    fill_value
        The value of what was never written; None where a v2 array says there is none.
    codecs
        The chain, in the order of encoding. In format 2: filters, then the compressor.
    attributes
        The user's attributes.
    dimension_names
        Names of the dimensions (format 3).
    extra
        Members that this version doesn't know, kept for writing back.
    """

    zarr_format: ClassVar[int]

    shape: tuple[int, ...]
    data_type: DataType
    grid: ChunkGrid
    chunk_key_encoding: KeyEncoding
    fill_value: Any
    attributes: dict[str, Any]
    extra: dict[str, Any]
    codecs: tuple[CodecSpec, ...]
    dimension_names: tuple[str | None, ...] | None
    order: str

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def chunk_grid(self) -> ChunkGrid:
        """Another name of `grid`."""
        return self.grid

    @property
    def fill_bytes(self) -> bytes:
        """The bytes of one never-written item, in the machine's byte order."""
        fill = self.data_type.default_fill() if self.fill_value is None else self.fill_value
        return self.data_type.fill_bytes(fill)

    @abstractmethod
    def documents(self) -> dict[str, dict[str, Any]]:
        """Give the documents, by the name of their key, before encoding.

        They share the attributes and the codecs' options with the metadata, so they are to be read only.
        """

    def to_json(self) -> dict[str, dict[str, Any]]:
        """Give the documents, by the name of their key, before encoding; they are the caller's own."""
        return deepcopy(self.documents())

    def update(
        self,
        *,
        shape: tuple[int, ...] | None = None,
        attributes: dict[str, Any] | None = None,
    ) -> Self:
        """Give the metadata with another shape or other attributes."""
        shape = self.shape if shape is None else shape
        changed: Self = replace(
            cast("Any", self),
            shape=shape,
            grid=checked_grid(self.grid, shape),
            attributes=self.attributes if attributes is None else deepcopy(attributes),
        )
        return changed

    def to_dict(self) -> dict[str, Any]:
        """Give one document, before encoding; in format 2 with the attributes in it."""
        return merged(self.to_json())

    def to_documents(self) -> dict[str, bytes]:
        """Give the documents to store, by the name of their key."""
        return {name: encode_readable(document) for name, document in self.documents().items()}

    def __eq__(self, other: object) -> bool:
        # By document: a NaN as fill value equals itself there.
        if not isinstance(other, ArrayMetadata):
            return NotImplemented
        return self._canonical() == other._canonical()

    def __hash__(self) -> int:
        return hash(self._canonical())

    def _canonical(self) -> str:
        return json.dumps(self.documents(), sort_keys=True)


def merged(documents: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Give a node's documents as one, where format 2 has the attributes in another."""
    if "zarr.json" in documents:
        return documents["zarr.json"]
    own = documents.get(".zarray") or documents.get(".zgroup") or {}
    return {**own, "attributes": documents.get(".zattrs", {})}


def parse_shape(document: Any, path: str = "shape") -> tuple[int, ...]:
    """Parse a shape from a document."""
    if not isinstance(document, list):
        raise wrong(path, "a list of integers of at least 0", document)
    check_rank(len(document), path)
    for position, extent in enumerate(document):
        # ``bool`` is an ``int``, so the exact class is asked for.
        if extent.__class__ is not int or extent < 0:
            raise wrong(f"{path}[{position}]", "an integer of at least 0", extent)
    if math.prod(document) > _MAX_ITEMS:
        raise MetadataError(f"{path}: an array can't have more than 2**63 - 1 items", path=path)
    return tuple(document)


def check_rank(rank: int, path: str) -> None:
    """Refuse more dimensions than `Limits` allows."""
    limit = config.limits.rank
    if rank > limit:
        raise LimitError(
            f"{path}: {rank} dimensions, more than {limit}", path=path, size=rank, limit=limit
        )


def parse_attributes(document: Any, path: str = "attributes") -> dict[str, Any]:
    """Parse the user's attributes; null counts as none."""
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise wrong(path, "an object", document)
    return document


def require(document: dict[str, Any], name: str) -> Any:
    """Take a member that must be there."""
    if name not in document:
        raise MetadataError(f"{name} is missing", path=name)
    return document[name]


def checked_grid(grid: ChunkGrid, shape: tuple[int, ...]) -> ChunkGrid:
    """Check that an array may have a shape, and that a grid fits it."""
    parse_shape(list(shape))
    if grid.ndim != len(shape):
        raise MetadataError(
            f"chunks: {grid.ndim} chunk dimensions for an array of {len(shape)}",
            argument="chunks",
        )
    return grid.grown(shape)
