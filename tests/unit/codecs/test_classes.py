"""Codec classes: their documents, equality, and zarr-python's for comparison."""

from __future__ import annotations

import copy
import pickle

import numcodecs
import numpy as np
import pytest

import blazarr
from blazarr import codecs
from blazarr.codecs import numcodecs as wrapped
from blazarr.codecs.base import BytesBytesCodec
from blazarr.codecs.registry import codec_class, parse_codec, register_codec
from blazarr.codecs.stage import Stage
from blazarr.errors import BlazarrError, MetadataError, UnsupportedError

MADE = [
    ("BytesCodec", {}),
    ("BytesCodec", {"endian": "big"}),
    ("BytesCodec", {"endian": None}),
    ("TransposeCodec", {"order": (2, 0, 1)}),
    ("GzipCodec", {}),
    ("GzipCodec", {"level": 9}),
    ("ZstdCodec", {}),
    ("ZstdCodec", {"level": -5, "checksum": True}),
    ("BloscCodec", {}),
    ("BloscCodec", {"cname": "lz4", "clevel": 1, "shuffle": "shuffle", "typesize": 4}),
    ("Crc32cCodec", {}),
    ("VLenUTF8Codec", {}),
    ("VLenBytesCodec", {}),
    ("ScaleOffset", {}),
    ("ScaleOffset", {"offset": 5, "scale": 0.1}),
    ("CastValue", {"data_type": "uint8"}),
    ("CastValue", {"data_type": "int16", "rounding": "towards-zero", "out_of_range": "wrap"}),
    ("CastValue", {"data_type": "uint8", "scalar_map": {"encode": [("NaN", 0)]}}),
    ("ShardingCodec", {"chunk_shape": (2, 3)}),
    ("ShardingCodec", {"chunk_shape": (4,), "index_location": "start"}),
]
WRAPPED = [
    ("BZ2", {"level": 3}),
    ("CRC32", {}),
    ("CRC32C", {}),
    ("LZ4", {"acceleration": 2}),
    ("LZMA", {"preset": 1}),
    ("ZFPY", {"mode": 4, "tolerance": 0.1}),
    ("Adler32", {}),
    ("AsType", {"encode_dtype": "<i2", "decode_dtype": "<i4"}),
    ("BitRound", {"keepbits": 4}),
    ("Blosc", {"cname": "lz4"}),
    ("Delta", {"dtype": "<i4"}),
    ("FixedScaleOffset", {"offset": 1, "scale": 10, "dtype": "<f8", "astype": "|u1"}),
    ("Fletcher32", {}),
    ("GZip", {"level": 1}),
    ("JenkinsLookup3", {}),
    ("PCodec", {"level": 8}),
    ("PackBits", {}),
    ("Quantize", {"digits": 2, "dtype": "<f4"}),
    ("Shuffle", {"elementsize": 2}),
    ("Zlib", {"level": 1}),
    ("Zstd", {"level": 1}),
]
ALL = [(codecs, *made) for made in MADE] + [(wrapped, *made) for made in WRAPPED]
NAMES = [name for _, name, _ in ALL]


def test_arguments_may_be_those_of_other_libraries():
    zarr = pytest.importorskip("zarr")
    sharding = codecs.ShardingCodec(chunk_shape=np.array([2, 3]))
    assert sharding.chunk_shape == (2, 3)
    assert codecs.ShardingCodec(chunk_shape=np.int64(4)).chunk_shape == (4,)
    assert {type(size) for size in sharding.chunk_shape} == {int}
    made = codecs.CastValue(data_type=zarr.dtype.UInt8())
    assert made == codecs.CastValue(data_type="uint8")
    with pytest.raises(BlazarrError, match="chunk_shape"):
        codecs.ShardingCodec(chunk_shape=(True, 2))


def test_documents_hold_lists():
    codec = codecs.CastValue(data_type="uint8", scalar_map={"encode": [("NaN", 0)]})
    assert codec.to_dict()["configuration"]["scalar_map"] == {"encode": [["NaN", 0]]}


@pytest.mark.parametrize("dtype", ["u1", "u4", "f4"])
def test_packing_bits_of_numbers_would_lose_them(dtype):
    with pytest.raises(BlazarrError, match="booleans"):
        blazarr.create_array({}, shape=(8,), dtype=dtype, filters=[wrapped.PackBits()])


@pytest.mark.parametrize(("module", "name", "options"), ALL, ids=NAMES)
def test_documents_round_trip(module, name, options):
    codec = getattr(module, name)(**options)
    again = parse_codec(codec.to_dict(), "codecs[0]")
    assert type(again) is type(codec)
    assert again.to_dict() == codec.to_dict()
    assert type(codec).from_dict(codec.to_dict()).to_dict() == codec.to_dict()


@pytest.mark.parametrize(("module", "name", "options"), ALL, ids=NAMES)
def test_documents_are_zarr_pythons(module, name, options):
    zarr = pytest.importorskip("zarr")
    theirs = zarr.codecs.numcodecs if module is wrapped else zarr.codecs
    if not hasattr(theirs, name):
        pytest.skip(f"this zarr-python has no {name}")
    ours = getattr(module, name)(**options).to_dict()
    expected = getattr(theirs, name)(**options).to_dict()
    assert _plain(ours) == _plain(expected)


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize(("module", "name", "options"), ALL, ids=NAMES)
def test_equal_pickled_and_shown(module, name, options):
    codec = getattr(module, name)(**options)
    assert codec == getattr(module, name)(**options)
    assert codec == pickle.loads(pickle.dumps(codec)) == copy.deepcopy(codec)
    assert codec != object()
    assert repr(codec).startswith(name)


def test_different_options_are_different_codecs():
    assert codecs.ZstdCodec(level=1) != codecs.ZstdCodec(level=2)
    assert wrapped.Zlib(level=1) != wrapped.Zlib(level=2)
    assert wrapped.Zlib(level=1) != wrapped.GZip(level=1)
    assert len({wrapped.Zlib(level=1), wrapped.Zlib(level=1)}) == 1


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("endian", "bytes"),
        ("vlen_utf8", "vlen-utf8"),
        ("zlib", "numcodecs.zlib"),
        ("https://codec.zarrs.dev/array_to_bytes/pcodec", "numcodecs.pcodec"),
        ("https://codec.zarrs.dev/array_to_array/bitround", "bitround"),
        ("numcodecs.zstd", "numcodecs.zstd"),
        ("zstd", "zstd"),
    ],
)
def test_spellings_of_others(spelling, name):
    assert codec_class(spelling).name == name


def test_enumerations_are_their_values():
    blosc = codecs.BloscCodec(cname=codecs.BloscCname.lz4, shuffle=codecs.BloscShuffle.bitshuffle)
    assert blosc == codecs.BloscCodec(cname="lz4", shuffle="bitshuffle")
    assert codecs.BytesCodec(endian=codecs.Endian.big) == codecs.BytesCodec(endian="big")
    assert (
        type(codecs.BytesCodec(endian=codecs.Endian.big).to_dict()["configuration"]["endian"])
        is str
    )


@pytest.mark.parametrize(
    ("codec", "stored"),
    [
        (codecs.ZstdCodec(level=3), {"id": "zstd", "level": 3}),
        (codecs.ZstdCodec(level=3, checksum=True), {"id": "zstd", "level": 3, "checksum": True}),
        (codecs.GzipCodec(level=2), {"id": "gzip", "level": 2}),
        (codecs.Crc32cCodec(), {"id": "crc32c"}),
        (wrapped.Delta(dtype="<i4"), {"id": "delta", "dtype": "<i4"}),
        (
            codecs.BloscCodec(cname="lz4", shuffle="bitshuffle", typesize=2),
            {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 2, "blocksize": 0},
        ),
    ],
)
def test_v2_documents_are_what_numcodecs_reads(codec, stored):
    assert codec.to_v2() == stored
    config = numcodecs.get_codec(stored).get_config()
    assert config | stored == config


def test_codecs_that_v2_does_not_have():
    with pytest.raises(UnsupportedError, match="'transpose' does not exist in Zarr format 2"):
        codecs.TransposeCodec(order=(0,)).to_v2()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: codecs.ZstdCodec(level=23), "codec 'zstd': level must be an integer from"),
        (lambda: codecs.ZstdCodec(checksum=1), "checksum must be true or false"),
        (lambda: codecs.BloscCodec(cname="lzo"), "cname must be one of"),
        (lambda: codecs.BloscCodec(typesize=0), "typesize must be an integer of at least 1"),
        (lambda: codecs.BytesCodec(endian="middle"), "endian must be one of"),
        (lambda: codecs.CastValue(data_type="uint8", rounding="up"), "rounding must be one of"),
        (
            lambda: codecs.CastValue(data_type="float32", out_of_range="wrap"),
            "out_of_range must be clamp or nothing for floats",
        ),
        (lambda: codecs.ScaleOffset(scale=[1]), "scale must be a number or a string"),
    ],
)
def test_wrong_options(make, text):
    with pytest.raises(MetadataError, match=text):
        make()


def test_bytes_asks_for_an_order_where_there_is_one():
    codec = codecs.BytesCodec(endian=None)
    assert codec.evolve(Stage.of(np.dtype("u1"), (1,))) == codec
    with pytest.raises(MetadataError, match="data of type int32 needs an endian"):
        codec.evolve(Stage.of(np.dtype("i4"), (1,)))


class _Reverse(BytesBytesCodec):
    name = "test.reverse"

    @classmethod
    def from_configuration(cls, configuration):
        return cls()

    def configuration(self):
        return {}

    def encode(self, data):
        return bytes(data)[::-1]

    def decode(self, data):
        return bytes(data)[::-1]


def test_a_users_codec_runs_in_python(monkeypatch):
    monkeypatch.setattr("blazarr.codecs.registry._registered", {})
    register_codec(_Reverse)
    from .chains import LITTLE, v3

    chain = v3([LITTLE, "test.reverse"])
    (step,) = chain.externals
    assert step.encode(b"abc") == b"cba"
    assert step.decode(b"cba") == b"abc"


def test_choices_are_shown_as_they_are_written():
    with pytest.raises(MetadataError, match=r"one of \['lz4', "):
        codecs.BloscCodec(cname="nope")
