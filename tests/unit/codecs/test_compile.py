"""Golden chains: what the core is told for the codecs of a document."""

from __future__ import annotations

import numpy as np
import pytest

from blazarr import codecs
from blazarr.errors import (
    LimitError,
    MetadataError,
    PickleCodecDisabledError,
    UnknownCodecError,
    UnsupportedError,
)

from .chains import BIG, LITTLE, v2, v3

ZSTD = {"name": "zstd", "configuration": {"level": 3, "checksum": True}}
ZSTD_STEP = {"id": "zstd", "level": 3, "checksum": True}
CRC = {"name": "crc32c"}
INDEX = [LITTLE, CRC]


def transpose(*order):
    return {"name": "transpose", "configuration": {"order": order}}


def shard(*chunks, codecs=(LITTLE,), index=INDEX, location="end"):
    configuration = {
        "chunk_shape": chunks,
        "codecs": codecs,
        "index_codecs": index,
        "index_location": location,
    }
    return {"name": "sharding_indexed", "configuration": configuration}


@pytest.mark.parametrize(
    ("chain", "data_type", "native"),
    [
        ([LITTLE], "int32", {"steps": []}),
        ([BIG], "int32", {"swap": 4, "steps": []}),
        ([BIG], "complex128", {"swap": 8, "steps": []}),
        ([BIG], "uint8", {"steps": []}),
        (["bytes"], "bool", {"steps": []}),
        (
            [{"name": "endian", "configuration": {"endian": "big"}}],
            "int16",
            {"swap": 2, "steps": []},
        ),
        ([LITTLE, ZSTD, CRC], "int32", {"steps": [ZSTD_STEP, {"id": "crc32c"}]}),
        ([transpose(1, 0), LITTLE], "int32", {"order": [1, 0], "steps": []}),
        ([transpose(0, 1), LITTLE], "int32", {"steps": []}),
        ([transpose(1, 0), transpose(1, 0), LITTLE], "int32", {"steps": []}),
        (
            [LITTLE, {"name": "gzip", "configuration": {"level": 1}}],
            "int32",
            {"steps": [{"id": "gzip", "level": 1}]},
        ),
        (
            [BIG, {"name": "numcodecs.shuffle", "configuration": {}}],
            "float64",
            {"swap": 8, "steps": [{"id": "shuffle", "elementsize": 8}]},
        ),
        (
            [{"name": "numcodecs.delta", "configuration": {"dtype": "<i4"}}, BIG, ZSTD],
            "int32",
            {
                "steps": [
                    {"id": "delta", "dtype": "<i4", "astype": "<i4"},
                    {"id": "swap", "size": 4},
                    ZSTD_STEP,
                ]
            },
        ),
        (
            [{"name": "bitround", "configuration": {"keepbits": 3}}, transpose(1, 0), LITTLE],
            "float32",
            {"order": [1, 0], "steps": [{"id": "bitround", "keepbits": 3, "itemsize": 4}]},
        ),
        (
            [{"name": "numcodecs.packbits"}, LITTLE],
            "bool",
            {"steps": [{"id": "packbits"}]},
        ),
    ],
)
def test_v3(chain, data_type, native):
    chain = v3(chain, data_type)
    assert chain.native == native
    assert chain.externals == ()
    assert not chain.variable


def test_three_transposes_become_one():
    chain = v3(
        [transpose(1, 2, 0), transpose(2, 0, 1), transpose(2, 1, 0), LITTLE], chunks=(2, 3, 4)
    )
    logical = np.arange(24).reshape(2, 3, 4)
    stored = logical.transpose(1, 2, 0).transpose(2, 0, 1).transpose(2, 1, 0)
    np.testing.assert_array_equal(logical.transpose(chain.native["order"]), stored)


def test_blosc():
    configuration = {"cname": "lz4", "clevel": 5, "shuffle": "bitshuffle", "blocksize": 0}
    chain = v3([LITTLE, {"name": "blosc", "configuration": {"typesize": 300, **configuration}}])
    assert chain.native["steps"] == [{"id": "blosc", "typesize": 1, **configuration}]


def test_shard():
    chain = v3([shard(2, 3, codecs=[BIG, ZSTD], index=[BIG], location="start"), CRC])
    assert chain.native == {
        "steps": [{"id": "crc32c"}],
        "shard": {
            "chunks": [2, 3],
            "chain": {"swap": 4, "steps": [ZSTD_STEP]},
            "index_swap": True,
            "index_steps": [],
            "at_end": False,
        },
    }


def test_nested_shard_behind_a_transpose():
    inner = shard(3, 1, codecs=[transpose(1, 0), LITTLE])
    chain = v3([transpose(1, 0), shard(6, 2, codecs=[inner])])
    outer = chain.native["shard"]
    assert chain.native["order"] == [1, 0]
    assert outer["chunks"] == [6, 2]
    assert outer["index_steps"] == [{"id": "crc32c"}]
    assert outer["chain"]["shard"]["chunks"] == [3, 1]
    assert outer["chain"]["shard"]["chain"] == {"order": [1, 0], "steps": []}


def test_elementwise_codecs_move_into_the_shard():
    cast = {"name": "cast_value", "configuration": {"data_type": "int16"}}
    chain = v3([cast, shard(2, 3, codecs=[BIG])], "float64")
    assert chain.native["shard"]["chain"]["steps"] == [
        {"id": "external", "index": 0},
        {"id": "swap", "size": 2},
    ]
    assert len(chain.externals) == 1


def test_external_steps_are_numbered_through_all_levels():
    bz2 = {"name": "numcodecs.bz2", "configuration": {"level": 1}}
    chain = v3([shard(2, 3, codecs=[LITTLE, bz2]), bz2])
    assert chain.native["shard"]["chain"]["steps"] == [{"id": "external", "index": 0}]
    assert chain.native["steps"] == [{"id": "external", "index": 1}]
    assert len(chain.externals) == 2


@pytest.mark.parametrize(
    ("arguments", "native"),
    [
        ({}, {"steps": []}),
        ({"dtype": ">i4"}, {"swap": 4, "steps": []}),
        ({"dtype": ">U3"}, {"swap": 4, "steps": []}),
        ({"dtype": "|S3"}, {"steps": []}),
        ({"dtype": [["a", ">i4"], ["b", "<f8"]]}, {"steps": []}),
        ({"order": "F"}, {"order": [1, 0], "steps": []}),
        (
            {"compressor": {"id": "zstd", "level": 1}},
            {"steps": [{"id": "zstd", "level": 1, "checksum": False}]},
        ),
        (
            {"compressor": {"id": "zstd", "level": 100, "checksum": True}},
            {"steps": [{"id": "zstd", "level": 22, "checksum": True}]},
        ),
        (
            {"compressor": {"id": "zlib", "level": "-1"}},
            {"steps": [{"id": "zlib", "level": 6}]},
        ),
        (
            {"compressor": {"id": "lz4", "acceleration": None}},
            {"steps": [{"id": "lz4", "acceleration": 1}]},
        ),
        (
            {
                "filters": [{"id": "shuffle", "elementsize": "4"}, {"id": "zlib", "level": 2.0}],
            },
            {"steps": [{"id": "shuffle", "elementsize": 4}, {"id": "zlib", "level": 2}]},
        ),
        ({"compressor": {"id": "shuffle", "elementsize": 0}}, {"steps": []}),
        (
            {"dtype": ">i4", "filters": [{"id": "delta", "dtype": ">i4"}]},
            {
                "steps": [
                    {"id": "delta", "dtype": "<i4", "astype": "<i4"},
                    {"id": "swap", "size": 4},
                ]
            },
        ),
        (
            {"dtype": ">f4", "filters": [{"id": "bitround", "keepbits": 10}]},
            {
                "steps": [
                    {"id": "bitround", "keepbits": 10, "itemsize": 4},
                    {"id": "swap", "size": 4},
                ]
            },
        ),
        ({"filters": [{"id": "crc32"}]}, {"steps": [{"id": "crc32", "location": "start"}]}),
        ({"filters": [{"id": "crc32c"}]}, {"steps": [{"id": "crc32c", "location": "end"}]}),
        ({"filters": [{"id": "fletcher32"}]}, {"steps": [{"id": "fletcher32"}]}),
    ],
)
def test_v2(arguments, native):
    chain = v2(**arguments)
    assert chain.native == native
    assert chain.externals == ()


@pytest.mark.parametrize(
    ("dtype", "shuffle", "step"),
    [
        ("<i4", -1, {"shuffle": "shuffle", "typesize": 4}),
        ("|u1", -1, {"shuffle": "bitshuffle", "typesize": 1}),
        ("<i4", 0, {"shuffle": "noshuffle", "typesize": 4}),
        ("<i4", 2, {"shuffle": "bitshuffle", "typesize": 4}),
        ("|S300", 1, {"shuffle": "shuffle", "typesize": 1}),
        ("<i4", None, {"shuffle": "shuffle", "typesize": 4}),
    ],
)
def test_v2_blosc(dtype, shuffle, step):
    blosc = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": shuffle, "blocksize": None}
    expected = {"id": "blosc", "cname": "lz4", "clevel": 5, "blocksize": 0, **step}
    assert v2(dtype, compressor=blosc).native["steps"] == [expected]


def test_v2_blosc_inside_blosc_sees_bytes():
    blosc = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}
    sizes = [s["typesize"] for s in v2("<i8", [blosc], blosc).native["steps"]]
    assert sizes == [8, 1]


@pytest.mark.parametrize(
    ("chain", "text"),
    [
        ([transpose(1, 0)], "codecs: no codec makes bytes of the array; 'bytes' is the usual one"),
        ([ZSTD], r"codecs\[0\]: codec 'zstd' takes bytes, but no codec before it makes them"),
        ([LITTLE, transpose(1, 0)], r"codecs\[1\]: codec 'transpose' takes arrays, but 'bytes'"),
        ([LITTLE, LITTLE], r"codecs\[1\]: codec 'bytes' makes bytes, but 'bytes' did already"),
        (
            [transpose(1, 1), LITTLE],
            r"codecs\[0\]: codec 'transpose': order must be each axis once",
        ),
        ([transpose(0, 1, 2), LITTLE], "must be the order of 2 axes"),
        ([shard(3, 3)], r"inner chunks of 3 do not divide shards of 4 along axis 0"),
        ([shard(2)], r"\[2\] has 1 sizes for 2 axes"),
        ([shard(0, 1)], r"chunk_shape\[0\] must be an integer of at least 1, not 0"),
        ([shard(2, 3, index=[LITTLE, ZSTD])], "codec 'zstd' may give any"),
        (
            [shard(2, 3, codecs=[ZSTD])],
            r"codecs\[0\].configuration.codecs\[0\]: codec 'zstd' takes",
        ),
        (
            [LITTLE, {"name": "zstd", "configuration": {"level": 99}}],
            "level must be an integer from",
        ),
        ([LITTLE, {"name": "gzip", "configuration": {"lvl": 1}}], "'gzip' has no option 'lvl'"),
        (
            [LITTLE, {"name": "gzip", "configuration": {"level": True}}],
            "must be an integer, not True",
        ),
        ([{"name": "numcodecs.delta"}, LITTLE], "codec 'delta' needs 'dtype'"),
        ([{"name": "transpose"}, LITTLE], "missing 1 required keyword-only argument: 'order'"),
    ],
)
def test_wrong_v3(chain, text):
    with pytest.raises(MetadataError, match=text):
        v3(chain)


def test_the_place_of_an_error_is_in_its_path():
    inner = {"name": "zstd", "configuration": {"level": "x"}}
    with pytest.raises(MetadataError) as caught:
        v3([transpose(1, 0), shard(2, 2, codecs=[LITTLE, inner])])
    assert caught.value.path == "codecs[1].configuration.codecs[1].configuration.level"
    assert caught.value.codec == "zstd"


def test_unknown_codecs_are_named():
    with pytest.raises(UnknownCodecError, match=r"codecs\[1\]: codec 'acme.squeeze' is not known"):
        v3([LITTLE, {"name": "acme.squeeze", "must_understand": False}])
    with pytest.raises(UnknownCodecError, match="'acmepress' is not known") as caught:
        v2(compressor={"id": "acmepress"})
    assert caught.value.codec == "acmepress"


@pytest.mark.parametrize(
    ("name", "package"),
    [("gribberish", "gribberish"), ("imagecodecs_jpegxl", "imagecodecs-zarr"), ("acme", None)],
)
def test_the_package_with_an_unknown_codec_is_named(name, package):
    with pytest.raises(UnknownCodecError) as caught:
        v3([{"name": name}])
    assert caught.value.package == package


def test_nesting_of_shards_is_limited():
    codec = shard(1, 1)
    for _ in range(8):
        codec = shard(1, 1, codecs=[codec])
    with pytest.raises(LimitError, match=r"limits\.shard_nesting raises the limit"):
        v3([codec])


def test_delta_before_a_shard_is_refused():
    with pytest.raises(UnsupportedError, match="put it among the codecs of the inner chunks"):
        v3([{"name": "numcodecs.delta", "configuration": {"dtype": "<i4"}}, shard(2, 3)])


def test_rectilinear_chunks_have_no_shape():
    grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[3, 5], 6]}}
    chain = v3([transpose(1, 0), shard(6, 1)], grid=grid)
    assert chain.native["order"] == [1, 0]
    assert chain.native["shard"]["chunks"] == [6, 1]


@pytest.mark.parametrize("order", ["C", "F"])
def test_v2_objects(order):
    chain = v2("|O", [{"id": "vlen-utf8"}], {"id": "zlib", "level": 1}, order, (2, 3))
    assert chain.variable
    assert chain.native == {"steps": [{"id": "zlib", "level": 1}]}
    texts = np.array([["a", "", "ü"], ["日本", "x" * 300, "b"]], dtype=object)
    data = chain.objects.encode(texts)
    np.testing.assert_array_equal(chain.objects.decode(data, (2, 3)), texts)
    first = 8 + len(texts[0, 0])
    second = "" if order == "C" else "日本"
    assert data[first : first + 4] == len(second.encode()).to_bytes(4, "little")


def test_v2_object_codec_must_be_first():
    with pytest.raises(UnsupportedError, match="'vlen-utf8', 'vlen-bytes', 'json2'"):
        v2("|O", [{"id": "delta", "dtype": "<i4"}, {"id": "vlen-utf8"}])


def test_v2_pickle_is_written_but_not_read():
    chain = v2("|O", [{"id": "pickle"}])
    assert b"text" in bytes(chain.objects.encode(np.full((4, 6), "text", dtype=object)))
    with pytest.raises(PickleCodecDisabledError, match="allow_unsafe_pickle_decode"):
        chain.objects.decode(b"", (4, 6))


def test_v3_text():
    chain = v3([transpose(1, 0), "vlen-utf8", ZSTD], "string", (2, 3))
    assert chain.native == {"steps": [ZSTD_STEP]}
    assert chain.objects.order == (1, 0)
    with pytest.raises(UnsupportedError, match="'bytes' can't encode elements of variable length"):
        v3(["bytes"], "string")


def test_arrays_that_are_encoded_alike_share_a_chain():
    assert v3([LITTLE, ZSTD]) is v3([LITTLE, ZSTD])
    assert v3([LITTLE, ZSTD]) is not v3([LITTLE, ZSTD], "int64")
    assert v3([LITTLE, ZSTD]) is not v3([LITTLE, ZSTD], chunks=(2, 6))
    assert v2(order="C") is not v2(order="F")
    flag = {"name": "zstd", "configuration": {"level": True}}
    number = {"name": "zstd", "configuration": {"level": 1}}
    assert v3([LITTLE, number])
    with pytest.raises(MetadataError, match="must be an integer, not True"):
        v3([LITTLE, flag])


def test_a_codec_registered_again_is_used(monkeypatch):
    monkeypatch.setattr("blazarr.codecs.registry._registered", {})

    def register(level):
        class Mine(codecs.GzipCodec):
            name = "test.mine"

            def native(self, stage):
                return [{"id": "gzip", "level": level}]

        codecs.register_codec(Mine)

    for level in (1, 2):
        register(level)
        assert v3([LITTLE, "test.mine"]).native["steps"] == [{"id": "gzip", "level": level}]
