"""What users give as codecs, as it is stored."""

from __future__ import annotations

import numcodecs
import pytest

from blazarr.codecs import (
    BloscCodec,
    BytesCodec,
    Crc32cCodec,
    GzipCodec,
    TransposeCodec,
    ZstdCodec,
    normalise_chain,
)
from blazarr.codecs import numcodecs as wrapped
from blazarr.config import config
from blazarr.dtypes import parse_data_type
from blazarr.errors import MetadataError, UnsupportedError

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
AUTO = {"name": "zstd", "configuration": {"level": 0, "checksum": True}}
GZIP = {"name": "gzip", "configuration": {"level": 5}}


def v3(dtype="int32", chunks=(4, 6), **arguments):
    return normalise_chain(3, parse_data_type(dtype), chunks, **arguments)["codecs"]


def v2(dtype="int32", **arguments):
    return normalise_chain(2, parse_data_type(dtype), (4, 6), **arguments)


@pytest.mark.parametrize(
    ("dtype", "serializer"),
    [
        ("int32", LITTLE),
        ("uint8", {"name": "bytes"}),
        ("bool", {"name": "bytes"}),
        ("S3", {"name": "bytes"}),
        ("U3", LITTLE),
        ([("a", "<i4")], LITTLE),
        ([("a", "u1")], {"name": "bytes"}),
        ("string", {"name": "vlen-utf8", "configuration": {}}),
        ("variable_length_bytes", {"name": "vlen-bytes", "configuration": {}}),
    ],
)
def test_v3_defaults(dtype, serializer):
    assert v3(dtype) == [serializer, AUTO]


def test_the_default_checksum_can_be_switched_off():
    with config.set({"array.checksum": False}):
        assert v3()[1] == {"name": "zstd", "configuration": {"level": 0, "checksum": False}}


def test_nothing_is_added_to_explicit_codecs():
    assert v3(compressors=ZstdCodec()) == [LITTLE, ZstdCodec().to_dict()]
    assert v3(compressors=None) == v3(compressors=()) == v3(compressors=[]) == [LITTLE]


@pytest.mark.parametrize(
    "given",
    [
        GzipCodec(),
        [GzipCodec()],
        (GzipCodec(level=5),),
        GZIP,
        [GZIP],
        numcodecs.GZip(level=5),
        {"id": "gzip", "level": 5},
    ],
)
def test_spellings_of_a_codec(given):
    assert v3(compressors=given) == [LITTLE, GZIP]


def test_names_are_codecs():
    assert v3(compressors="crc32c", serializer="bytes", dtype="uint8") == [
        {"name": "bytes"},
        {"name": "crc32c"},
    ]


def test_zarr_pythons_codecs():
    zarr = pytest.importorskip("zarr")
    assert v3(
        filters=zarr.codecs.TransposeCodec(order=(1, 0)),
        serializer=zarr.codecs.BytesCodec(endian="big"),
        compressors=[zarr.codecs.GzipCodec(), zarr.codecs.Crc32cCodec()],
    ) == [
        {"name": "transpose", "configuration": {"order": (1, 0)}},
        {"name": "bytes", "configuration": {"endian": "big"}},
        GZIP,
        {"name": "crc32c"},
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (numcodecs.Zstd(level=2), ZstdCodec(level=2)),
        (numcodecs.CRC32C(), Crc32cCodec()),
        (numcodecs.Zlib(level=2), wrapped.Zlib(level=2)),
        (numcodecs.Delta("<i4"), wrapped.Delta(dtype="<i4", astype="<i4")),
        (
            numcodecs.Blosc("lz4", 3, shuffle=2),
            BloscCodec(cname="lz4", clevel=3, shuffle="bitshuffle", typesize=4),
        ),
        (
            numcodecs.Blosc("lz4", 3, shuffle=-1),
            BloscCodec(cname="lz4", clevel=3, shuffle="shuffle", typesize=4),
        ),
    ],
)
def test_numcodecs_in_v3(given, expected):
    argument = "filters" if isinstance(given, numcodecs.Delta) else "compressors"
    assert expected.to_dict() in v3(**{argument: given})


@pytest.mark.parametrize(
    ("dtype", "shuffle", "typesize"), [("int32", "shuffle", 4), ("uint8", "bitshuffle", 1)]
)
def test_blosc_suits_the_data_type(dtype, shuffle, typesize):
    configuration = v3(dtype, compressors=BloscCodec())[1]["configuration"]
    assert (configuration["shuffle"], configuration["typesize"]) == (shuffle, typesize)


def test_codecs_see_what_codecs_before_them_made():
    cast = {"name": "cast_value", "configuration": {"data_type": "int16"}}
    codecs = v3("float64", filters=[cast], compressors=[BloscCodec()])
    assert codecs[1] == LITTLE
    assert codecs[2]["configuration"]["typesize"] == 2
    narrow = {"name": "cast_value", "configuration": {"data_type": "int8"}}
    assert v3("float64", filters=[narrow])[1] == {"name": "bytes"}


def test_shards():
    (codec,) = v3(
        chunks=(2, 3),
        shard_shape=(4, 6),
        filters=TransposeCodec(order=(1, 0)),
        compressors=None,
        index_location="start",
    )
    assert codec["name"] == "sharding_indexed"
    assert codec["configuration"] == {
        "chunk_shape": (2, 3),
        "codecs": (TransposeCodec(order=(1, 0)).to_dict(), LITTLE),
        "index_codecs": (LITTLE, {"name": "crc32c"}),
        "index_location": "start",
    }


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"compressors": BytesCodec()}, r"compressors: codec 'bytes' is not one of compressors"),
        ({"filters": [GzipCodec()]}, r"belongs to compressors \(bytes to bytes\)"),
        ({"compressors": 5}, "compressors: expected a codec with a name, not 5"),
        ({"compressors": [{"name": "zstd", "configuration": {"level": "x"}}]}, r"compressors\[0\]"),
        ({"serializer": None}, "takes bytes, but no codec before it makes them"),
        ({"filters": TransposeCodec(order=(1, 0, 2))}, "must be the order of 2 axes"),
    ],
)
def test_wrong_v3(arguments, text):
    with pytest.raises(MetadataError, match=text):
        v3(**arguments)


@pytest.mark.parametrize(
    ("arguments", "filters", "compressor"),
    [
        ({}, None, {"id": "zstd", "level": 0}),
        ({"dtype": "string"}, [{"id": "vlen-utf8"}], {"id": "zstd", "level": 0}),
        ({"compressors": None}, None, None),
        ({"compressors": numcodecs.Zstd(level=1)}, None, {"id": "zstd", "level": 1}),
        ({"compressors": ZstdCodec(level=1)}, None, {"id": "zstd", "level": 1}),
        ({"compressors": {"id": "zlib", "level": 3}}, None, {"id": "zlib", "level": 3}),
        (
            {"filters": [numcodecs.Delta("<i4"), numcodecs.BZ2(level=2)], "compressors": ()},
            [{"id": "delta", "dtype": "<i4", "astype": "<i4"}, {"id": "bz2", "level": 2}],
            None,
        ),
        ({"compressors": "gzip", "serializer": None}, None, {"id": "gzip", "level": 5}),
    ],
)
def test_v2(arguments, filters, compressor):
    assert v2(**arguments) == {"filters": filters, "compressor": compressor}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"compressors": [GzipCodec(), GzipCodec()]}, "format 2 has one, not 2"),
        ({"serializer": BytesCodec()}, "serializer: format 2 has none"),
        ({"shard_shape": (8, 6)}, "shards: format 2 has none"),
        ({"dtype": "string", "filters": None}, "data type 'string' needs 'vlen-utf8' among them"),
    ],
)
def test_wrong_v2(arguments, text):
    with pytest.raises(MetadataError, match=text):
        v2(**arguments)


def test_codecs_that_v2_does_not_have():
    with pytest.raises(UnsupportedError, match="'transpose' does not exist in Zarr format 2"):
        v2(filters=TransposeCodec(order=(1, 0)))
