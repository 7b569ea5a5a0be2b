"""What users give as codecs of a new array, as members of its metadata document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from blazarr.codecs.base import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec
from blazarr.codecs.bytes import BytesCodec
from blazarr.codecs.foreign import from_numcodecs, is_numcodecs
from blazarr.codecs.numcodecs.base import adopt_numcodecs
from blazarr.codecs.registry import parse_codec
from blazarr.codecs.sharding import ShardingCodec
from blazarr.codecs.stage import BYTE, Stage, has_orders
from blazarr.codecs.v2 import OBJECT_CODECS, parse_v2_codec
from blazarr.codecs.v3 import split_codecs
from blazarr.codecs.vlen import VLenBytesCodec, VLenUTF8Codec
from blazarr.codecs.zarr_python import adopt
from blazarr.codecs.zstd import ZstdCodec
from blazarr.config import config
from blazarr.errors import MetadataError

if TYPE_CHECKING:
    from blazarr.codecs.base import JSON
    from blazarr.dtypes import DataType

AUTO: Final = "auto"
_SERIALIZERS: Final = {"vlen-utf8": VLenUTF8Codec, "vlen-bytes": VLenBytesCodec}


def normalise_chain(
    zarr_format: int,
    data_type: DataType,
    chunk_shape: tuple[int, ...],
    *,
    filters: Any = AUTO,
    serializer: Any = AUTO,
    compressors: Any = AUTO,
    shard_shape: tuple[int | None, ...] | None = None,
    index_location: str = "end",
) -> dict[str, JSON]:
    """Return the members of a new array's document that describe its codecs.

    Codecs may be blazarr's, zarr-python's or numcodecs' objects, dictionaries, or names; each
    argument takes one of them, a list, None, or ``"auto"`` for zarr-python's defaults.

    Parameters
    ----------
    zarr_format : {2, 3}
    data_type : DataType
    chunk_shape : tuple of int
        What is encoded on its own: the inner chunk, where the array is sharded.
    filters, serializer, compressors : object
        The codecs. Format 2 has no serializer and one compressor.
    shard_shape : tuple of (int or None), optional
        Shape of a shard (None along axes whose shards differ), for a sharded array.
    index_location : {"end", "start"}
        Where a shard's index lies.

    Returns
    -------
    dict
        ``codecs`` in format 3, ``filters`` and ``compressor`` in format 2.
    """
    if zarr_format == 2:
        return _v2(data_type, filters, serializer, compressors, shard_shape)
    codecs = _v3(data_type, chunk_shape, filters, serializer, compressors)
    if shard_shape is not None:
        shard = ShardingCodec(chunk_shape=chunk_shape, codecs=codecs, index_location=index_location)
        codecs = [shard]
    return {"codecs": [codec.to_dict() for codec in codecs]}


def _v3(
    data_type: DataType,
    chunk_shape: tuple[int, ...],
    filters: Any,
    serializer: Any,
    compressors: Any,
) -> list[Codec]:
    given = [] if _is_auto(filters) else _codecs(filters, "filters", ArrayArrayCodec)
    if _is_auto(serializer):
        given.append(_default_serializer(data_type, given))
    else:
        given += _codecs(serializer, "serializer", ArrayBytesCodec)
    if _is_auto(compressors):
        given.append(ZstdCodec(level=0, checksum=config.get("array.checksum")))
    else:
        given += _codecs(compressors, "compressors", BytesBytesCodec)
    split_codecs(given, "codecs")
    return list(evolved(given, Stage.of(data_type.native, chunk_shape), data_type))


def evolved(codecs: Iterable[Codec], stage: Stage, data_type: DataType) -> Iterable[Codec]:
    """Yield codecs with everything filled in that depends on the data they are given."""
    for codec in codecs:
        objects = isinstance(codec, ArrayBytesCodec) and data_type.variable
        filled = codec if objects else codec.evolve(stage)
        yield filled
        if isinstance(filled, ArrayArrayCodec):
            stage = filled.after(stage)
        elif objects:
            # Text has no elements of a size, whatever numpy keeps of it in memory.
            stage = Stage.of(BYTE, None)


def _default_serializer(data_type: DataType, filters: list[Codec]) -> Codec:
    if data_type.object_codec is not None:
        return _SERIALIZERS[data_type.object_codec]()
    stage = Stage.of(data_type.native, None)
    for codec in filters:
        if isinstance(codec, ArrayArrayCodec) and codec.elementwise:
            stage = codec.after(stage)
    return BytesCodec(endian="little" if has_orders(stage.dtype) else None)


def _codecs(given: Any, argument: str, kind: type[Codec]) -> list[Codec]:
    codecs = [_codec(entry, where) for entry, where in _entries(given, argument)]
    for codec in codecs:
        if not isinstance(codec, kind):
            raise MetadataError(
                f"{argument}: codec {codec.name!r} is not one of {argument}: it belongs to "
                f"{_argument_of(codec)}",
                argument=argument,
                codec=codec.name,
            )
    return codecs


def _argument_of(codec: Codec) -> str:
    if isinstance(codec, ArrayArrayCodec):
        return "filters (array to array)"
    if isinstance(codec, ArrayBytesCodec):
        return "serializer (array to bytes)"
    return "compressors (bytes to bytes)"


def _codec(entry: Any, where: str) -> Codec:
    if isinstance(entry, Mapping) and "id" in entry and "name" not in entry:
        return from_numcodecs(entry, where)
    if is_numcodecs(entry):
        return from_numcodecs(entry.get_config(), where)
    if not isinstance(entry, (Codec, str, Mapping)) and hasattr(entry, "to_dict"):
        document = entry.to_dict()
        adopt(entry, document)
        return parse_codec(document, where)
    return parse_codec(entry, where)


def _entries(given: Any, argument: str) -> list[tuple[Any, str]]:
    """One codec, a list or None as a list, each with its place."""
    if given is None:
        return []
    if isinstance(given, (list, tuple)):
        return [(entry, f"{argument}[{i}]") for i, entry in enumerate(given)]
    return [(given, argument)]


def _is_auto(given: Any) -> bool:
    return isinstance(given, str) and given == AUTO


def _v2(
    data_type: DataType, filters: Any, serializer: Any, compressors: Any, shard_shape: Any
) -> dict[str, JSON]:
    if not _is_auto(serializer) and serializer is not None:
        raise MetadataError("serializer: format 2 has none; use filters", argument="serializer")
    if shard_shape is not None:
        raise MetadataError("shards: format 2 has none; use zarr_format=3", argument="shards")
    chain = _v2_filters(data_type, filters)
    compressor = (
        [{"id": "zstd", "level": 0}]
        if _is_auto(compressors)
        else _v2_codecs(compressors, "compressors")
    )
    if len(compressor) > 1:
        raise MetadataError(
            f"compressors: format 2 has one, not {len(compressor)}; the others can be filters",
            argument="compressors",
        )
    _require_object_codec(data_type, [*chain, *compressor])
    return {"filters": chain or None, "compressor": compressor[0] if compressor else None}


def _v2_filters(data_type: DataType, filters: Any) -> list[dict[str, JSON]]:
    if not _is_auto(filters):
        return _v2_codecs(filters, "filters")
    return [] if data_type.object_codec is None else [{"id": data_type.object_codec}]


def _v2_codecs(given: Any, argument: str) -> list[dict[str, JSON]]:
    return [_v2_codec(entry, where) for entry, where in _entries(given, argument)]


def _v2_codec(entry: Any, where: str) -> dict[str, JSON]:
    if isinstance(entry, Mapping) and "id" in entry:
        parse_v2_codec(entry, where)
        return dict(entry)
    if is_numcodecs(entry):
        stored = dict(entry.get_config())
        adopt_numcodecs(entry)
        # TensorStore refuses the member, and false is what its absence means.
        if stored.get("checksum") is False:
            del stored["checksum"]
        return stored
    return _codec(entry, where).to_v2()


def _require_object_codec(data_type: DataType, codecs: list[dict[str, JSON]]) -> None:
    if data_type.variable and not any(codec["id"] in OBJECT_CODECS for codec in codecs):
        raise MetadataError(
            f"filters: data type {data_type.name!r} needs {data_type.object_codec!r} among them",
            argument="filters",
        )
