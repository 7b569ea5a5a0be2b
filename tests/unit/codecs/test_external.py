"""Codecs that run in Python: they give what numcodecs gives, and say who failed."""

from __future__ import annotations

import json

import numcodecs
import numpy as np
import pytest

import blazarr
from blazarr.codecs import BytesBytesCodec, registry
from blazarr.errors import BlazarrError, CorruptError, PickleCodecDisabledError, UnsupportedError
from blazarr.stores import MemoryStore

from .chains import BIG, LITTLE, run, v2, v3

RAMP = np.arange(24, dtype="i4").reshape(4, 6)
FLOATS = (1000 + np.arange(24) / 10).reshape(4, 6)

FILTERS = [
    ("<i4", RAMP, [{"id": "bz2", "level": 1}]),
    ("<i4", RAMP, [{"id": "lzma", "preset": 1}]),
    ("<i4", RAMP, [{"id": "base64"}]),
    ("<i4", RAMP, [{"id": "jenkins_lookup3"}]),
    ("<i4", RAMP, [{"id": "astype", "encode_dtype": "<i2", "decode_dtype": "<i4"}]),
    ("<i4", RAMP, [{"id": "astype", "encode_dtype": ">i2", "decode_dtype": "<i4"}, {"id": "bz2"}]),
    ("<f8", FLOATS, [{"id": "quantize", "digits": 1, "dtype": "<f8", "astype": "<f4"}]),
    ("<f2", FLOATS.astype("f2"), [{"id": "delta", "dtype": "<f2"}]),
    ("<M8[D]", RAMP.astype("M8[D]"), [{"id": "bz2"}]),
    ("<U2", np.array([["a", "bb"], ["", "a"]]), [
        {"id": "categorize", "labels": ["a", "bb"], "dtype": "<U2", "astype": "|u1"}
    ]),
    (">i4", RAMP, [{"id": "astype", "encode_dtype": "<i2", "decode_dtype": ">i4"}]),
]  # fmt: skip


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("dtype", "array", "filters"), FILTERS)
def test_v2_bytes_are_numcodecs(dtype, array, filters, order):
    chain = v2(dtype, filters, order=order, chunks=array.shape)
    encoded, decoded = run(chain, array)
    expected = np.asarray(array, dtype=dtype, order=order)
    for config in filters:
        expected = numcodecs.get_codec(config).encode(expected)
    assert encoded == numcodecs.compat.ensure_bytes(expected)
    np.testing.assert_allclose(
        decoded.view("i8") if array.dtype.kind == "M" else np.char.str_len(decoded)
        if array.dtype.kind == "U" else decoded,
        array.view("i8") if array.dtype.kind == "M" else np.char.str_len(array)
        if array.dtype.kind == "U" else array,
        atol=0.06,
    )  # fmt: skip


@pytest.mark.parametrize("endian", [LITTLE, BIG])
def test_v3_filters_round_trip(endian):
    quantize = {"name": "numcodecs.quantize", "configuration": {"digits": 3, "dtype": "<f8"}}
    astype = {"name": "numcodecs.astype", "configuration": {"encode_dtype": "<f4"}}
    chain = v3([quantize, astype, endian], "float64")
    encoded, decoded = run(chain, FLOATS)
    assert len(encoded) == FLOATS.size * 4
    np.testing.assert_allclose(decoded, FLOATS, atol=0.001)
    stored = np.frombuffer(encoded, "<f4" if endian is LITTLE else ">f4")
    np.testing.assert_allclose(stored, FLOATS.reshape(-1), atol=0.001)


def test_structured_elements_change_byte_order():
    fields = [{"name": "a", "data_type": "int32"}, {"name": "b", "data_type": "uint8"}]
    data_type = {"name": "struct", "configuration": {"fields": fields}}
    array = np.zeros((2, 3), dtype=[("a", "<i4"), ("b", "u1")])
    array["a"] = np.arange(6).reshape(2, 3)
    encoded, decoded = run(v3([BIG], data_type, (2, 3)), array)
    assert encoded == array.astype([("a", ">i4"), ("b", "u1")]).tobytes()
    np.testing.assert_array_equal(decoded, array)


def test_a_transpose_behind_other_filters():
    reshape = {"name": "reshape", "configuration": {"shape": [[0], 2, 3]}}
    transpose = {"name": "transpose", "configuration": {"order": [2, 0, 1]}}
    encoded, decoded = run(v3([reshape, transpose, LITTLE]), RAMP)
    assert encoded == RAMP.reshape(4, 2, 3).transpose(2, 0, 1).tobytes()
    np.testing.assert_array_equal(decoded, RAMP)


@pytest.mark.parametrize("codec", ["bz2", "lzma", "jenkins_lookup3"])
def test_damaged_bytes_name_the_codec(codec):
    (step,) = v2(filters=[{"id": codec}]).externals
    with pytest.raises(CorruptError, match=f"codec 'numcodecs.{codec}'"):
        step.decode(b"\x00damaged bytes")


def test_bounds_hold():
    noise = np.random.default_rng(0).integers(0, 256, 70_000).astype("u1").tobytes()
    for config in ({"id": "bz2"}, {"id": "lzma"}, {"id": "base64"}, {"id": "jenkins_lookup3"}):
        (step,) = v2(filters=[config]).externals
        for size in (1, 999, 70_000):
            assert len(bytes(step.encode(noise[:size]))) <= step.max_encoded(size)


@pytest.mark.parametrize("codec", ["bz2", "lzma"])
def test_bombs_stop_at_the_size_of_the_chunk(codec):
    (step,) = v2(filters=[{"id": codec}]).externals
    bomb = bytes(numcodecs.get_codec({"id": codec}).encode(bytes(10_000_000)))
    assert len(bomb) < 20_000
    with pytest.raises(CorruptError, match="decodes to more than 96 bytes"):
        step.decode(bomb)
    with pytest.raises(CorruptError, match="ends in the middle of a stream"):
        step.decode(step.encode(bytes(96))[:-8])


@pytest.mark.parametrize("codec", ["bz2", "lzma"])
def test_streams_that_follow_each_other(codec):
    (step,) = v2(filters=[{"id": codec}]).externals
    halves = bytes(step.encode(b"a" * 50)) + bytes(step.encode(b"b" * 46))
    assert step.decode(halves) == b"a" * 50 + b"b" * 46
    assert step.decode(halves + b"zeros or noise") == b"a" * 50 + b"b" * 46


def test_bounds_follow_the_chain():
    steps = v2(filters=[{"id": "bz2"}, {"id": "zlib"}, {"id": "lzma"}]).externals
    inner = steps[0].max_encoded(96)
    assert [step.limit for step in steps] == [96, 2 * inner + (1 << 20)]


def raised(monkeypatch, error, when):
    """Return what comes of an error that a codec raises when it encodes or decodes."""

    def run(self, data):
        raise error

    def copy(self, data):
        return bytes(data)

    methods = {"encode": copy, "decode": copy} | {when: run}
    # A class of its own: chains are kept for those that are the same.
    members = {"name": "test.refusing", "configuration": lambda self: {}, **methods}
    codec = type("Refusing", (BytesBytesCodec,), members)
    codec.from_configuration = classmethod(lambda cls, configuration: cls())
    monkeypatch.setitem(registry._registered, codec.name, codec)
    array = blazarr.create_array({}, shape=(4,), chunks=(2,), dtype="i4", compressors=[codec()])
    with pytest.raises(BaseException) as caught:  # noqa: PT012 - one of the two, as asked for
        array[...] = 1
        _ = array[...]
    return caught.value


class SpecialError(UnsupportedError):
    """An error of ours that knows more than its class says."""


@pytest.mark.parametrize("when", ["encode", "decode"])
def test_our_errors_stay_themselves_and_learn_the_place(monkeypatch, when):
    error = SpecialError("no such device", kind="device", package="p")
    found = raised(monkeypatch, error, when)
    assert found is error
    assert (found.kind, found.package) == ("device", "p")
    assert (found.codec, found.chunk) in {("test.refusing", (0,)), ("test.refusing", (1,))}
    assert found.key in {"c/0", "c/1"}
    assert "chunk [" in str(found)
    assert str(found).endswith("no such device")


@pytest.mark.parametrize(("when", "kind"), [("encode", "encode"), ("decode", "corrupt")])
def test_other_errors_are_the_cause(monkeypatch, when, kind):
    error = ZeroDivisionError("by zero")
    found = raised(monkeypatch, error, when)
    assert isinstance(found, BlazarrError)
    assert found.kind == kind
    assert found.__cause__ is error
    assert "by zero" in str(found)
    assert found.codec == "test.refusing"


@pytest.mark.parametrize("when", ["encode", "decode"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError("no memory")])
def test_what_says_nothing_of_the_codec_stays_itself(monkeypatch, when, error):
    assert raised(monkeypatch, error, when) is error


def test_pickled_objects_say_why_they_are_not_read():
    store = MemoryStore()
    document = {
        "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|O", "fill_value": None,
        "order": "C", "filters": [{"id": "pickle"}], "compressor": None,
    }  # fmt: skip
    store.put(".zarray", json.dumps(document).encode())
    store.put("0", bytes(numcodecs.Pickle().encode(np.array([1, 2], dtype=object))))
    with pytest.raises(PickleCodecDisabledError, match="allow_unsafe_pickle_decode") as caught:
        _ = blazarr.open_array(store, mode="r")[...]
    assert (caught.value.key, caught.value.codec) == ("0", "pickle")


@pytest.mark.parametrize("compressor", [numcodecs.Zlib(1), numcodecs.Blosc(), numcodecs.GZip(1)])
def test_bytes_behind_a_stream(compressor):
    store = MemoryStore()
    values = np.arange(1000)
    array = blazarr.create_array(
        store, data=values, chunks=(1000,), compressors=compressor, zarr_format=2
    )
    stored = bytes(store.get("0")[0])
    for behind in (b"\0\0\0\0", b"other bytes"):
        store.put("0", stored + behind)
        theirs = compressor.codec_id != "gzip" or not any(behind)
        if theirs:
            np.testing.assert_array_equal(array[...], values)
        else:
            with pytest.raises(CorruptError):
                _ = array[...]
