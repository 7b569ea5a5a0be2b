"""Array metadata of format 2."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from blazarr.dtypes import DataType
from blazarr.grids import ChunkGrid, parse_chunk_shape
from blazarr.metadata.array import (
    ArrayMetadata,
    CodecSpec,
    check_rank,
    checked_grid,
    parse_attributes,
    parse_shape,
    require,
)
from blazarr.metadata.document import JSON, wrong
from blazarr.metadata.keys import KeyEncoding, parse_dimension_separator
from blazarr.metadata.repair import repair_v2

_MEMBERS = frozenset(
    [
        "zarr_format",
        "shape",
        "chunks",
        "dtype",
        "fill_value",
        "order",
        "filters",
        "compressor",
        "dimension_separator",
    ]
)


@dataclass(frozen=True, eq=False)
class ArrayV2Metadata(ArrayMetadata):
    """An array's ``.zarray`` and ``.zattrs``.

    `filters` and `compressor` are as they are stored: objects with an ``id``.
    """

    zarr_format: ClassVar[int] = 2

    shape: tuple[int, ...]
    data_type: DataType
    grid: ChunkGrid
    chunk_key_encoding: KeyEncoding
    fill_value: Any
    order: str = "C"
    filters: tuple[dict[str, Any], ...] = ()
    compressor: dict[str, Any] | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    dimension_names: tuple[str | None, ...] | None = field(default=None, init=False)
    codecs: tuple[CodecSpec, ...] = field(init=False)

    def __post_init__(self) -> None:
        stored = self.filters if self.compressor is None else (*self.filters, self.compressor)
        codecs = (
            CodecSpec(codec["id"], {name: codec[name] for name in codec if name != "id"})
            for codec in stored
        )
        object.__setattr__(self, "codecs", tuple(codecs))

    @classmethod
    def create(
        cls,
        *,
        shape: tuple[int, ...],
        data_type: DataType,
        grid: ChunkGrid,
        fill_value: object = None,
        order: str = "C",
        filters: tuple[dict[str, Any], ...] = (),
        compressor: dict[str, Any] | None = None,
        dimension_separator: str | None = None,
        attributes: dict[str, Any] | None = None,
    ) -> Self:
        """Make the metadata of a new array.

        Parameters
        ----------
        shape, data_type, grid
            Already parsed.
        fill_value
            None means that there is none.
        order
            ``"C"`` or ``"F"``.
        filters, compressor
            Objects with an ``id``, as they are stored.
        dimension_separator
            ``"."`` (the default) or ``"/"``.
        attributes
            The user's attributes.
        """
        check_rank(len(shape), "shape")
        return cls(
            shape=shape,
            data_type=data_type,
            grid=_require_regular(checked_grid(grid, shape)),
            chunk_key_encoding=parse_dimension_separator(dimension_separator),
            fill_value=None if fill_value is None else data_type.to_fill(fill_value),
            order=_parse_order(order),
            filters=_parse_filters(list(filters)),
            compressor=None if compressor is None else _parse_v2_codec(compressor, "compressor"),
            attributes=parse_attributes(deepcopy(attributes)),
        )

    def documents(self) -> dict[str, dict[str, Any]]:
        """Give the documents, before encoding, in zarr-python's order of members."""
        fill = self.fill_value
        document = {
            "shape": list(self.shape),
            "chunks": list(self.grid.chunk_shape),
            "dtype": self.data_type.to_v2(),
            "fill_value": None
            if fill is None
            else self.data_type.fill_to_json(fill, zarr_format=2),
            "order": self.order,
            "filters": list(self.filters) or None,
            "dimension_separator": self.chunk_key_encoding.separator,
            "compressor": self.compressor,
            "zarr_format": 2,
            **self.extra,
        }
        return {".zarray": document, ".zattrs": self.attributes}


def array_v2_from_json(
    document: dict[str, Any], attributes: dict[str, Any] | None
) -> ArrayV2Metadata:
    """Parse a decoded ``.zarray``, with its decoded ``.zattrs`` if there is one."""
    if document.get("zarr_format") != 2:
        raise wrong("zarr_format", "2", document.get("zarr_format"))
    document = repair_v2(document)
    shape = parse_shape(require(document, "shape"))
    filters = _parse_filters(document.get("filters"))
    compressor = document.get("compressor")
    if compressor is not None:
        compressor = _parse_v2_codec(compressor, "compressor")
    data_type = DataType.from_v2(require(document, "dtype"), (*filters, compressor))
    return ArrayV2Metadata(
        shape=shape,
        data_type=data_type,
        grid=parse_chunk_shape(require(document, "chunks"), shape, "chunks"),
        chunk_key_encoding=parse_dimension_separator(document.get("dimension_separator")),
        fill_value=_parse_fill(document.get("fill_value"), data_type),
        order=_parse_order(document.get("order", "C")),
        filters=filters,
        compressor=compressor,
        attributes=parse_attributes(attributes),
        extra={name: value for name, value in document.items() if name not in _MEMBERS},
    )


def _parse_fill(value: JSON, data_type: DataType) -> Any:
    return None if value is None else data_type.fill_from_json(value, zarr_format=2)


def _parse_order(order: JSON) -> str:
    if order not in ("C", "F"):
        raise wrong("order", "'C' or 'F'", order)
    return str(order)


def _parse_filters(document: JSON) -> tuple[dict[str, Any], ...]:
    if document is None:
        return ()
    if not isinstance(document, list):
        raise wrong("filters", "a list of filters, or null", document)
    return tuple(
        _parse_v2_codec(codec, f"filters[{position}]") for position, codec in enumerate(document)
    )


def _parse_v2_codec(document: JSON, path: str) -> dict[str, Any]:
    if not isinstance(document, dict) or not isinstance(document.get("id"), str):
        raise wrong(path, 'an object {"id": ..., ...}', document)
    return document


def _require_regular(grid: ChunkGrid) -> ChunkGrid:
    if not grid.is_regular:
        raise wrong("chunks", "one size a dimension (rectilinear grids need format 3)", grid.axes)
    return grid
