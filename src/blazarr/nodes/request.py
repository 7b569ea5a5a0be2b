"""`ArrayRequest`: the arguments of ``create_array``, made into metadata."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from blazarr.codecs import (
    ArrayArrayCodec,
    ArrayBytesCodec,
    BytesBytesCodec,
    parse_codec,
)
from blazarr.config import config
from blazarr.dtypes import DataType, parse_data_type
from blazarr.errors import BlazarrError, ZarrRuntimeWarning
from blazarr.grids import ChunkGrid, chunks_from_argument, shards_from_argument
from blazarr.metadata import (
    ArrayMetadata,
    ArrayV2Metadata,
    ArrayV3Metadata,
    CodecSpec,
    KeyEncoding,
    parse_key_encoding,
)
from blazarr.nodes.layout import parse_shape

JSON = Any


class _Default:
    def __repr__(self) -> str:
        return "<default of the data type>"


DEFAULT_FILL_VALUE: Final = _Default()
"""Default of ``fill_value=``: the data type's own. (None is a fill value in format 2.)"""


@dataclass(frozen=True, kw_only=True)
class ArrayRequest:
    """What a new array shall be; the fields are arguments of `blazarr.create_array`.

    `codecs` is the whole chain of format 3, instead of filters, serializer and compressors.
    """

    zarr_format: int | None
    shape: Any = None
    dtype: Any = None
    chunks: Any = "auto"
    shards: Any = None
    filters: Any = "auto"
    compressors: Any = "auto"
    serializer: Any = "auto"
    codecs: Iterable[Any] | None = None
    fill_value: Any = DEFAULT_FILL_VALUE
    order: str | None = None
    attributes: Mapping[str, JSON] | None = None
    chunk_key_encoding: Any = None
    dimension_names: Iterable[str | None] | None = None

    def metadata(self) -> ArrayMetadata:
        """Return the array's metadata; whatever is wrong with the request is raised here."""
        for name in ("shape", "dtype"):
            if getattr(self, name) is None:
                raise BlazarrError(f"give {name}=, or data= to take it from", argument=name)
        shape = parse_shape(self.shape)
        data_type = parse_data_type(self.dtype)
        if self.zarr_format == 3:
            return self._v3(shape, data_type)
        if self.zarr_format == 2:
            return self._v2(shape, data_type)
        raise BlazarrError(
            f"zarr_format must be 2 or 3, not {self.zarr_format!r}", argument="zarr_format"
        )

    def _v3(self, shape: tuple[int, ...], data_type: DataType) -> ArrayV3Metadata:
        if self.order is not None:
            message = "format 3 has no order: the argument has no effect (see TransposeCodec)"
            warnings.warn(message, ZarrRuntimeWarning, stacklevel=6)
        sharded = self.shards is not None
        chunks = chunks_from_argument(self.chunks, shape, data_type.itemsize, sharded=sharded)
        shards = shards_from_argument(self.shards, chunks, shape, data_type.itemsize)
        return ArrayV3Metadata.create(
            shape=shape,
            data_type=data_type,
            grid=shards or chunks,
            codecs=self._codecs(data_type, chunks, shards),
            fill_value=None if self._has_default_fill() else self.fill_value,
            chunk_key_encoding=_key_encoding(self.chunk_key_encoding),
            attributes=dict(self.attributes or {}),
            dimension_names=self.dimension_names,
        )

    def _codecs(
        self, data_type: DataType, chunks: ChunkGrid, shards: ChunkGrid | None
    ) -> list[CodecSpec]:
        from blazarr.codecs import normalise_chain

        location = self.shards.get("index_location") if isinstance(self.shards, Mapping) else None
        members = normalise_chain(
            3,
            data_type,
            _sizes(chunks),
            **self._given_codecs(),
            shard_shape=None if shards is None else _sizes(shards),
            index_location=location or "end",
        )
        return [
            CodecSpec(codec["name"], codec.get("configuration") or {})
            for codec in members["codecs"]
        ]

    def _given_codecs(self) -> dict[str, Any]:
        if self.codecs is None:
            return {
                "filters": self.filters,
                "serializer": self.serializer,
                "compressors": self.compressors,
            }
        chain = [parse_codec(codec, f"codecs[{i}]") for i, codec in enumerate(self.codecs)]
        filters = [codec for codec in chain if isinstance(codec, ArrayArrayCodec)]
        serializer = [codec for codec in chain if isinstance(codec, ArrayBytesCodec)]
        compressors = [codec for codec in chain if isinstance(codec, BytesBytesCodec)]
        if [*filters, *serializer, *compressors] != chain:
            raise BlazarrError(
                "codecs are in the wrong order: first those that make arrays of arrays, then one "
                "that makes bytes of an array, then those that make bytes of bytes",
                argument="codecs",
            )
        return {"filters": filters, "serializer": serializer, "compressors": compressors}

    def _v2(self, shape: tuple[int, ...], data_type: DataType) -> ArrayV2Metadata:
        from blazarr.codecs import normalise_chain

        self._refuse_v3_arguments()
        grid = chunks_from_argument(self.chunks, shape, data_type.itemsize)
        members = normalise_chain(
            2, data_type, _sizes(grid), filters=self.filters, compressors=self.compressors
        )
        encoding = parse_key_encoding(_key_encoding(self.chunk_key_encoding) or "v2")
        if encoding.kind != "v2":
            raise BlazarrError(
                f"chunk_key_encoding must be 'v2' in format 2, not {encoding.kind!r}",
                argument="chunk_key_encoding",
            )
        fill = data_type.default_fill() if self._has_default_fill() else self.fill_value
        return ArrayV2Metadata.create(
            shape=shape,
            data_type=data_type,
            grid=grid,
            fill_value=fill,
            order=self.order or config.get("array.order"),
            filters=tuple(members["filters"] or ()),
            compressor=members["compressor"],
            dimension_separator=encoding.separator,
            attributes=dict(self.attributes or {}),
        )

    def _has_default_fill(self) -> bool:
        return isinstance(self.fill_value, _Default)

    def _refuse_v3_arguments(self) -> None:
        for name, default in (("shards", None), ("serializer", "auto"), ("dimension_names", None)):
            given = getattr(self, name)
            if given is not default and not (isinstance(given, str) and given == default):
                raise BlazarrError(
                    f"format 2 has no {name}; leave it out, or use zarr_format=3", argument=name
                )


def _sizes(grid: ChunkGrid) -> tuple[Any, ...]:
    return tuple(axis.size if axis.is_regular else None for axis in grid.axes)


def _key_encoding(given: Any) -> Any:
    """Return a chunk key encoding as it is in a document; tuples and objects mean the same."""
    if isinstance(given, tuple):
        return {"name": given[0], "separator": given[1]}
    if hasattr(given, "separator") and not isinstance(given, KeyEncoding):
        return {"name": given.name, "separator": given.separator}
    return dict(given) if isinstance(given, Mapping) else given
