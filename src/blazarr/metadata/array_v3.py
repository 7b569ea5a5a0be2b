"""Array metadata of format 3."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from blazarr.dtypes import DataType
from blazarr.errors import MetadataError, NodeTypeValidationError
from blazarr.grids import ChunkGrid, parse_grid
from blazarr.metadata.array import (
    ArrayMetadata,
    CodecSpec,
    check_rank,
    checked_grid,
    parse_attributes,
    parse_shape,
    require,
)
from blazarr.metadata.document import JSON, shown, wrong
from blazarr.metadata.keys import KeyEncoding, parse_key_encoding
from blazarr.metadata.repair import repair_v3

MEMBERS = frozenset(
    [
        "zarr_format",
        "node_type",
        "shape",
        "data_type",
        "chunk_grid",
        "chunk_key_encoding",
        "fill_value",
        "codecs",
        "attributes",
        "dimension_names",
        "storage_transformers",
    ]
)


@dataclass(frozen=True, eq=False)
class ArrayV3Metadata(ArrayMetadata):
    """An array's ``zarr.json``."""

    zarr_format: ClassVar[int] = 3

    shape: tuple[int, ...]
    data_type: DataType
    grid: ChunkGrid
    chunk_key_encoding: KeyEncoding
    fill_value: Any
    codecs: tuple[CodecSpec, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    dimension_names: tuple[str | None, ...] | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    order: str = field(default="C", init=False)

    @classmethod
    def create(
        cls,
        *,
        shape: tuple[int, ...],
        data_type: DataType,
        grid: ChunkGrid,
        codecs: Iterable[CodecSpec],
        fill_value: object = None,
        chunk_key_encoding: Any = None,
        attributes: dict[str, Any] | None = None,
        dimension_names: Iterable[str | None] | None = None,
    ) -> Self:
        """Make the metadata of a new array.

        Parameters
        ----------
        shape, data_type, grid, codecs
            Already parsed.
        fill_value
            None gives the data type's default.
        chunk_key_encoding
            A `KeyEncoding`, a name, or an object as in the document.
        attributes
            The user's attributes.
        dimension_names
            One name, or None, a dimension.
        """
        check_rank(len(shape), "shape")
        if data_type.numpy.names is not None:
            data_type = data_type.as_native()
        data_type.to_v3()  # refuses what format 3 can't describe
        fill = data_type.default_fill() if fill_value is None else data_type.to_fill(fill_value)
        names = None if dimension_names is None else list(dimension_names)
        return cls(
            shape=shape,
            data_type=data_type,
            grid=checked_grid(grid, shape),
            chunk_key_encoding=parse_key_encoding(chunk_key_encoding or "default"),
            fill_value=fill,
            codecs=tuple(codecs),
            attributes=parse_attributes(deepcopy(attributes)),
            dimension_names=_parse_names(names, len(shape)),
        )

    @property
    def node_type(self) -> str:
        """``"array"``."""
        return "array"

    def documents(self) -> dict[str, dict[str, Any]]:
        """Give the document, before encoding, in zarr-python's order of members."""
        document = {
            "shape": list(self.shape),
            "data_type": self.data_type.to_v3(),
            "chunk_grid": self.grid.to_json(),
            "chunk_key_encoding": self.chunk_key_encoding.to_json(),
            "fill_value": self.data_type.fill_to_json(self.fill_value),
            "codecs": [codec.to_json() for codec in self.codecs],
            "attributes": self.attributes,
            "dimension_names": self.dimension_names and list(self.dimension_names),
            "zarr_format": 3,
            "node_type": "array",
            "storage_transformers": [],
            **self.extra,
        }
        if self.dimension_names is None:
            del document["dimension_names"]
        return {"zarr.json": document}


def array_v3_from_json(document: dict[str, Any]) -> ArrayV3Metadata:
    """Parse a decoded ``zarr.json`` of an array."""
    check_header(document, "array")
    document = repair_v3(document)
    shape = parse_shape(require(document, "shape"))
    data_type = DataType.from_v3(require(document, "data_type"))
    _refuse_transformers(document.get("storage_transformers"))
    return ArrayV3Metadata(
        shape=shape,
        data_type=data_type,
        grid=parse_grid(require(document, "chunk_grid"), shape),
        chunk_key_encoding=parse_key_encoding(require(document, "chunk_key_encoding")),
        fill_value=_parse_fill(require(document, "fill_value"), data_type),
        codecs=_parse_codecs(require(document, "codecs")),
        attributes=parse_attributes(document.get("attributes")),
        dimension_names=_parse_names(document.get("dimension_names"), len(shape)),
        extra=parse_extra(document, MEMBERS),
    )


def check_header(document: dict[str, Any], node_type: str) -> None:
    """Check that a v3 document is of format 3 and of the kind of node that is wanted."""
    if document.get("zarr_format") != 3:
        raise wrong("zarr_format", "3", document.get("zarr_format"))
    found = document.get("node_type")
    if found != node_type:
        raise NodeTypeValidationError(
            f"node_type: expected {node_type!r}, found {shown(found)}", path="node_type"
        )


def parse_extra(document: dict[str, Any], members: frozenset[str]) -> dict[str, Any]:
    """Take the members that are not known, all of which must be safe to ignore."""
    extra = {name: value for name, value in document.items() if name not in members}
    for name, value in extra.items():
        if not isinstance(value, dict) or value.get("must_understand") is not False:
            raise MetadataError(
                f"{shown(name)} is not a member that blazarr knows, and it doesn't say "
                '"must_understand": false, so the data may mean something else',
                path=name,
            )
    return extra


def _parse_fill(value: JSON, data_type: DataType) -> Any:
    # v3 doesn't allow null, but writers turned NaN into it.
    return data_type.default_fill() if value is None else data_type.fill_from_json(value)


def _parse_codecs(document: JSON) -> tuple[CodecSpec, ...]:
    if not isinstance(document, list) or not document:
        raise wrong("codecs", "a list of at least one codec", document)
    return tuple(
        parse_codec(codec, f"codecs[{position}]") for position, codec in enumerate(document)
    )


def parse_codec(document: JSON, path: str) -> CodecSpec:
    """Parse a codec: a bare name, or a name with its configuration."""
    if isinstance(document, str):
        return CodecSpec(document)
    if not isinstance(document, dict) or not isinstance(document.get("name"), str):
        raise wrong(path, 'a name or {"name": ..., "configuration": {...}}', document)
    configuration = document.get("configuration") or {}
    if not isinstance(configuration, dict):
        raise wrong(f"{path}.configuration", "an object", configuration)
    return CodecSpec(document["name"], configuration)


def _parse_names(document: JSON, ndim: int) -> tuple[str | None, ...] | None:
    if document is None:
        return None
    if not isinstance(document, list):
        raise wrong("dimension_names", "a list of names", document)
    if len(document) != ndim:
        raise MetadataError(
            f"dimension_names: {len(document)} names for {ndim} dimensions",
            path="dimension_names",
        )
    for position, name in enumerate(document):
        if name is not None and not isinstance(name, str):
            raise wrong(f"dimension_names[{position}]", "a name or null", name)
    return tuple(document)


def _refuse_transformers(document: JSON) -> None:
    if document:
        first = document[0] if isinstance(document, list) else document
        raise MetadataError(
            f"storage_transformers: blazarr has none, and the array needs {shown(first)} "
            "to find its chunks",
            path="storage_transformers",
        )
