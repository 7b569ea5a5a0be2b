"""`Changes`: what a conversion changes, and the metadata that comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from blazarr.codecs import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec
from blazarr.codecs.v2 import OBJECT_CODECS
from blazarr.conversion.dimensions import names_of, with_names
from blazarr.errors import BlazarrError
from blazarr.grids import ChunkGrid
from blazarr.metadata import ArrayMetadata, ArrayV2Metadata, GroupMetadata
from blazarr.nodes import layout
from blazarr.nodes.request import ArrayRequest

KEEP: Final = "keep"


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What shall be different in the target; ``"keep"`` and None stand for what the source has.

    Attributes
    ----------
    zarr_format
        2 or 3.
    chunks
        As for `blazarr.create_array`, or sizes by the names of dimensions. In a hierarchy, sizes
        by position count for arrays of as many dimensions.
    shards
        As `chunks`; None for none.
    filters, serializer, compressors
        As for `blazarr.create_array`.
    chunk_key_encoding
        As for `blazarr.create_array`.
    """

    zarr_format: int | None = None
    chunks: Any = KEEP
    shards: Any = KEEP
    filters: Any = KEEP
    serializer: Any = KEEP
    compressors: Any = KEEP
    chunk_key_encoding: Any = None

    def __post_init__(self) -> None:
        if self.zarr_format not in (None, 2, 3):
            raise BlazarrError(
                f"zarr_format must be 2 or 3, not {self.zarr_format!r}", argument="zarr_format"
            )

    def array(self, source: ArrayMetadata) -> ArrayMetadata:
        """Return the metadata of the target for an array of the source."""
        zarr_format = self.zarr_format or source.zarr_format
        if zarr_format == source.zarr_format and self._keeps_all():
            return source
        chunks, shards = self._grids(source, zarr_format)
        names, attributes = with_names(source, zarr_format)
        return ArrayRequest(
            zarr_format=zarr_format,
            shape=source.shape,
            dtype=source.data_type,
            chunks=chunks,
            shards=shards,
            fill_value=_fill_value(source, zarr_format),
            order=source.order if zarr_format == 2 and source.zarr_format == 2 else None,
            attributes=attributes,
            chunk_key_encoding=self._key_encoding(source, zarr_format),
            dimension_names=names,
            **self._codecs(source, zarr_format),
        ).metadata()

    def group(self, source: GroupMetadata) -> GroupMetadata:
        """Return the metadata of the target for a group of the source, without copies of members'."""
        zarr_format = self.zarr_format or source.zarr_format
        extra = source.extra if zarr_format == source.zarr_format else {}
        return GroupMetadata(zarr_format, source.attributes, None, extra)

    def _keeps_all(self) -> bool:
        sizes = _is_keep(self.chunks) and _is_keep(self.shards)
        codecs = all(map(_is_keep, (self.filters, self.serializer, self.compressors)))
        return sizes and codecs and self.chunk_key_encoding is None

    def _grids(self, source: ArrayMetadata, zarr_format: int) -> tuple[Any, Any]:
        inner = layout.inner_shape(source)
        own = source.grid if inner is None else ChunkGrid.regular(inner)
        chunks = _sizes(self.chunks, source, own)
        if _is_keep(self.shards):
            kept = [axis.size if axis.is_regular else axis.lengths for axis in source.grid.axes]
            return chunks, None if inner is None or zarr_format == 2 else kept
        return chunks, self.shards if self.shards is None else _sizes(self.shards, source, None)

    def _codecs(self, source: ArrayMetadata, zarr_format: int) -> dict[str, Any]:
        own = _own_codecs(source, zarr_format)
        given = {name: getattr(self, name) for name in ("filters", "serializer", "compressors")}
        chosen = {name: own[name] if _is_keep(value) else value for name, value in given.items()}
        if zarr_format == 2 and _is_keep(self.serializer):
            chosen["serializer"] = "auto"
        return chosen

    def _key_encoding(self, source: ArrayMetadata, zarr_format: int) -> Any:
        if self.chunk_key_encoding is not None or zarr_format != source.zarr_format:
            return self.chunk_key_encoding
        return source.chunk_key_encoding


def _is_keep(value: Any) -> bool:
    return isinstance(value, str) and value == KEEP


def _sizes(given: Any, source: ArrayMetadata, kept: Any) -> Any:
    """Return chunks or shards for one array of what was given for all."""
    if _is_keep(given):
        return kept
    if isinstance(given, Mapping) and "shape" not in given:
        names = names_of(source)
        sizes = [a.size if a.is_regular else list(a.lengths or ()) for a in source.grid.axes]
        return [given.get(name, size) for name, size in zip(names, sizes, strict=True)]
    return given


def fits(changes: Changes, source: ArrayMetadata) -> bool:
    """Return whether sizes by position have as many dimensions as an array."""
    return all(
        len(given) == source.ndim
        for given in (changes.chunks, changes.shards)
        if isinstance(given, Sequence) and not isinstance(given, str | Mapping | ChunkGrid)
    )


def _fill_value(source: ArrayMetadata, zarr_format: int) -> Any:
    if source.fill_value is None and zarr_format == 3:
        return source.data_type.default_fill()
    return source.fill_value


def _own_codecs(source: ArrayMetadata, zarr_format: int) -> dict[str, Any]:
    """Return the source's codecs as arguments for a format; an unknown codec is an error."""
    if isinstance(source, ArrayV2Metadata):
        return _codecs_of_v2(source, zarr_format)
    codecs = layout.codecs(source)
    filters = tuple(codec for codec in codecs if isinstance(codec, ArrayArrayCodec))
    serializer = next((codec for codec in codecs if isinstance(codec, ArrayBytesCodec)), "auto")
    compressors = tuple(codec for codec in codecs if isinstance(codec, BytesBytesCodec))
    if zarr_format == 2:
        return _for_v2(filters, compressors, source)
    return _given(filters, compressors, serializer)


def _codecs_of_v2(source: ArrayV2Metadata, zarr_format: int) -> dict[str, Any]:
    # Of these forms the standard's own codecs are made in format 3, where it has them.
    forms = [codec.to_v2() for codec in layout.codecs(source)]
    count = len(source.filters)
    filters, compressors = forms[:count], forms[count:]
    if zarr_format == 3:
        # What makes bytes of objects is the serializer there, chosen by the data type.
        filters = [form for form in filters if form["id"] not in OBJECT_CODECS]
    return _given(filters, compressors)


def _given(
    filters: Sequence[Any], compressors: Sequence[Any], serializer: Any = "auto"
) -> dict[str, Any]:
    return {
        "filters": list(filters) or None,
        "serializer": serializer,
        "compressors": list(compressors) or None,
    }


def _for_v2(
    filters: tuple[Codec, ...], compressors: tuple[Codec, ...], source: ArrayMetadata
) -> dict[str, Any]:
    # Format 2 says the order of elements elsewhere.
    kept: list[Any] = [codec.to_v2() for codec in filters if codec.name != "transpose"]
    bytes_of_objects = source.data_type.object_codec
    if bytes_of_objects is not None:
        kept.insert(0, {"id": bytes_of_objects})
    return _given(kept, [_plain_v2(codec) for codec in compressors])


def _plain_v2(codec: Codec) -> dict[str, Any]:
    """Return a compressor's form in format 2; zstd's checksum is nothing that all readers take."""
    return {name: value for name, value in codec.to_v2().items() if name != "checksum"}
