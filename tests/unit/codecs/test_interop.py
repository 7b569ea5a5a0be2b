"""Chunks that zarr-python wrote decode through our chains, and ours are the same bytes."""

from __future__ import annotations

import json

import numcodecs
import numpy as np
import pytest

from blazarr.codecs import compile_chain
from blazarr.metadata import parse_array_v2, parse_array_v3

from .chains import run

zarr = pytest.importorskip("zarr", minversion="3.1")

SHAPE = (5, 6)
# Compressors may find shorter forms than each other, so their bytes are not compared.
FREE = {"zstd", "gzip", "zlib", "lz4", "blosc"}


def sample(dtype):
    dtype = np.dtype(dtype)
    if dtype.names:
        array = np.zeros(SHAPE, dtype)
        for name in dtype.names:
            array[name] = sample(dtype[name])
        return array
    numbers = (np.arange(30) * 7 % 23).reshape(SHAPE)
    if dtype.kind in "SU":
        return numbers.astype(dtype)
    return (numbers / 4 if dtype.kind in "fc" else numbers).astype(dtype)


def check(metadata, stored, array):
    chain = compile_chain(metadata)
    native = array.astype(metadata.data_type.native)
    encoded, decoded = run(chain, native)
    np.testing.assert_array_equal(decoded, native)
    ids = {step["id"] for step in chain.native["steps"]}
    if not ids & FREE:
        assert encoded == stored
    return encoded


def v3_array(folder, array, **arguments):
    theirs = zarr.create_array(folder, shape=SHAPE, chunks=SHAPE, dtype=array.dtype, **arguments)
    theirs[...] = array
    metadata = parse_array_v3((folder / "zarr.json").read_bytes(), "zarr.json")
    chunk = folder / "c/0/0"
    encoded = check(metadata, chunk.read_bytes(), array)
    chunk.write_bytes(encoded)
    np.testing.assert_array_equal(zarr.open_array(folder, mode="r")[...], array)


def v2_array(folder, array, **arguments):
    theirs = zarr.create_array(
        folder, shape=SHAPE, chunks=SHAPE, dtype=array.dtype, zarr_format=2, **arguments
    )
    theirs[...] = array
    metadata = parse_array_v2((folder / ".zarray").read_bytes(), None, ".zarray")
    (chunk,) = [path for path in folder.rglob("*0*") if path.is_file()]
    encoded = check(metadata, chunk.read_bytes(), array)
    chunk.write_bytes(encoded)
    np.testing.assert_array_equal(zarr.open_array(folder, mode="r")[...], array)


V3_TYPES = ["bool", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"]


@pytest.mark.parametrize("endian", ["little", "big"])
@pytest.mark.parametrize("dtype", V3_TYPES)
def test_v3_types(tmp_path, dtype, endian):
    serializer = zarr.codecs.BytesCodec(endian=endian if np.dtype(dtype).itemsize > 1 else None)
    v3_array(
        tmp_path,
        sample(dtype),
        filters=zarr.codecs.TransposeCodec(order=(1, 0)),
        serializer=serializer,
        compressors=zarr.codecs.Crc32cCodec(),
    )


V3_COMPRESSORS = [
    {"name": "zstd", "configuration": {"level": 3, "checksum": True}},
    {"name": "gzip", "configuration": {"level": 5}},
    {"name": "numcodecs.zlib", "configuration": {"level": 5}},
    {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}},
    {"name": "numcodecs.bz2", "configuration": {"level": 1}},
    {"name": "numcodecs.lzma", "configuration": {"preset": 1}},
    {"name": "numcodecs.shuffle", "configuration": {}},
    {"name": "numcodecs.crc32", "configuration": {}},
    {"name": "numcodecs.crc32c", "configuration": {}},
    {"name": "numcodecs.adler32", "configuration": {}},
    {"name": "numcodecs.fletcher32", "configuration": {}},
    {"name": "numcodecs.jenkins_lookup3", "configuration": {}},
    *(
        {"name": "blosc", "configuration": {"cname": c, "clevel": 5, "shuffle": s, "blocksize": 0}}
        for c in ("lz4", "lz4hc", "blosclz", "zlib", "zstd")
        for s in ("noshuffle", "shuffle", "bitshuffle")
    ),
]


@pytest.mark.parametrize("codec", V3_COMPRESSORS, ids=lambda codec: codec["name"])
def test_v3_compressors(tmp_path, codec):
    v3_array(tmp_path, sample("f8"), compressors=codec)


V3_FILTERS = [
    ("i4", {"name": "numcodecs.delta", "configuration": {"dtype": "<i4"}}),
    ("i4", {"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i2"}}),
    ("f4", {"name": "numcodecs.delta", "configuration": {"dtype": "<f4"}}),
    ("f8", {"name": "numcodecs.quantize", "configuration": {"digits": 3, "dtype": "<f8"}}),
    ("i4", {"name": "numcodecs.astype", "configuration": {"encode_dtype": "<i2"}}),
    ("f4", {"name": "numcodecs.bitround", "configuration": {"keepbits": 12}}),
    (
        "f8",
        {
            "name": "numcodecs.fixedscaleoffset",
            "configuration": {"offset": 0, "scale": 4, "dtype": "<f8", "astype": "<i2"},
        },
    ),
    ("i4", {"name": "scale_offset", "configuration": {"offset": 3, "scale": 2}}),
]


@pytest.mark.parametrize(("dtype", "codec"), V3_FILTERS, ids=lambda value: str(value)[:40])
def test_v3_filters(tmp_path, dtype, codec):
    if not hasattr(zarr.codecs, "ScaleOffset") and codec["name"] == "scale_offset":
        pytest.skip("this zarr-python has no scale_offset")
    transpose = {"name": "transpose", "configuration": {"order": (1, 0)}}
    v3_array(tmp_path, sample(dtype), filters=[transpose, codec], compressors=None)


V2_TYPES = [
    "bool", "<i4", ">i4", "<f2", ">f8", "<c8", ">c16", "S3", "<U3", ">U3",
    [("a", "<i4"), ("b", ">f8"), ("c", "S2")],
]  # fmt: skip


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", V2_TYPES, ids=str)
def test_v2_types(tmp_path, dtype, order):
    v2_array(tmp_path, sample(dtype), order=order, compressors=None)


V2_CODECS = [
    ("<i4", [numcodecs.Delta("<i4")]),
    (">i4", [numcodecs.Delta(">i4")]),
    ("<i4", [numcodecs.Delta("<i4", ">i2")]),
    ("<f4", [numcodecs.BitRound(12)]),
    ("bool", [numcodecs.PackBits()]),
    ("<f8", [numcodecs.FixedScaleOffset(0, 4, "<f8", "<u1")]),
    (">f4", [numcodecs.FixedScaleOffset(0, 4, ">f4", ">u2")]),
    ("<f8", [numcodecs.Quantize(3, "<f8", "<f4")]),
    ("<i4", [numcodecs.AsType("<i2", "<i4")]),
    ("<i4", [numcodecs.Shuffle(4), numcodecs.Zlib(2)]),
    ("<i4", [numcodecs.CRC32(), numcodecs.Adler32()]),
    ("<i4", [numcodecs.Fletcher32()]),
    ("<i8", [numcodecs.Blosc("lz4"), numcodecs.Blosc("zstd", shuffle=-1)]),
    ("<i8", [numcodecs.LZ4(), numcodecs.Base64()]),
    ("S300", [numcodecs.Blosc("lz4")]),
]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("dtype", "filters"), V2_CODECS, ids=lambda value: str(value)[:40])
def test_v2_codecs(tmp_path, dtype, filters, order):
    if order == "F" and isinstance(filters[0], numcodecs.BitRound):
        pytest.skip(
            "numcodecs copies to C order, so that zarr-python reads other data than written"
        )
    v2_array(tmp_path, sample(dtype), order=order, filters=filters, compressors=None)


def test_v2_defaults(tmp_path):
    v2_array(tmp_path, sample("<i4"))


@pytest.mark.parametrize("mode", ["zfpy", "pcodec"])
def test_compressors_of_arrays(tmp_path, mode):
    pytest.importorskip("zfpy" if mode == "zfpy" else "pcodec")
    options = {"mode": 3, "precision": 64} if mode == "zfpy" else {"level": 4}
    v2_array(tmp_path, sample("<f8"), compressors={"id": mode, **options})


def test_steps_are_what_the_core_reads(tmp_path):
    document = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i4", "fill_value": 0}
    document |= {"order": "C", "filters": None, "compressor": {"id": "lz4", "acceleration": 0}}
    metadata = parse_array_v2(json.dumps(document).encode(), None, ".zarray")
    encoded, decoded = run(compile_chain(metadata), np.arange(4, dtype="i4"))
    assert encoded[:4] == (16).to_bytes(4, "little")
    assert decoded.tolist() == [0, 1, 2, 3]
