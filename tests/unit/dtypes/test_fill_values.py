"""Every encoding of fill values that the specifications allow, and those found in the wild."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazarr.dtypes import DataType
from blazarr.errors import MetadataError

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "float32", "float64"]


def bits(data_type: DataType, value: object) -> str:
    """Give a stored fill value's bits, most significant first."""
    return data_type.fill_bytes(data_type.fill_from_json(value))[::-1].hex()


@pytest.mark.parametrize(
    ("name", "stored", "wanted"),
    [
        ("float32", "NaN", "7fc00000"),
        ("float32", "0x7fc00001", "7fc00001"),
        ("float32", "0xffc12345", "ffc12345"),
        ("float32", "0x7f800001", "7f800001"),  # a signalling NaN
        ("float64", "0x7ff8000000000abc", "7ff8000000000abc"),
        ("float16", "0x7c00", "7c00"),
        ("float16", "0x7e01", "7e01"),
        ("float32", "0x3fc00000", "3fc00000"),
        ("float32", "-Infinity", "ff800000"),
        ("float64", -0.0, "8000000000000000"),
        ("float64", 0, "0000000000000000"),
        ("float32", "1.5", "3fc00000"),
        ("float32", 1e39, "7f800000"),
    ],
)
def test_float_bits(name: str, stored: object, wanted: str) -> None:
    assert bits(DataType.from_v3(name), stored) == wanted


@pytest.mark.parametrize("name", FLOATS)
def test_every_nan_keeps_its_payload_in_format_3(name: str) -> None:
    data_type = DataType.from_v3(name)
    digits = 2 * data_type.itemsize
    for pattern in (
        {4: 0x7E00, 8: 0x7FC00000, 16: 0x7FF8 << 48}[digits] | extra for extra in range(1, 9)
    ):
        fill = data_type.fill_from_json(f"0x{pattern:0{digits}x}")
        assert data_type.fill_to_json(fill) == f"0x{pattern:0{digits}x}"
        assert data_type.fill_to_json(fill, zarr_format=2) == "NaN"


@given(st.integers(0, 2**64 - 1))
def test_any_64_bits_survive(pattern: int) -> None:
    data_type = DataType.from_v3("float64")
    stored = f"0x{pattern:016x}"
    assert bits(data_type, stored) == stored[2:]
    again = data_type.fill_to_json(data_type.fill_from_json(stored))
    assert bits(data_type, json.loads(json.dumps(again))) == stored[2:]


@pytest.mark.parametrize(
    "stored", ["0x7fc0", "0x7fc000000", "0xnonsense", "nothing", None, [1.0], {}, True, "0x"]
)
def test_wrong_floats_are_refused(stored: object) -> None:
    with pytest.raises(MetadataError, match=r"^here: expected") as caught:
        DataType.from_v3("float32").fill_from_json(stored, "here")
    assert caught.value.path == "here"


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_and_their_range(name: str) -> None:
    data_type = DataType.from_v3(name)
    limits = np.iinfo(data_type.numpy)
    for value in (int(limits.min), int(limits.max), 1, 1.0, "1"):
        fill = data_type.fill_from_json(value)
        assert fill == int(value)
        assert fill.dtype == data_type.numpy
    for value in (int(limits.min) - 1, int(limits.max) + 1, 2.0**70):
        with pytest.raises(MetadataError, match="from"):
            data_type.fill_from_json(value)


@pytest.mark.parametrize("stored", [1.5, "x", None, True, [0], {}, math.inf, math.nan, "0x01"])
def test_wrong_integers_are_refused(stored: object) -> None:
    with pytest.raises(MetadataError, match="fill_value: expected"):
        DataType.from_v3("int16").fill_from_json(stored)


@pytest.mark.parametrize(
    ("stored", "wanted"), [(True, True), (False, False), (0, False), (1, True)]
)
def test_booleans(stored: object, wanted: bool) -> None:
    fill = DataType.from_v3("bool").fill_from_json(stored)
    assert fill == wanted
    assert fill.dtype == np.dtype(bool)


@pytest.mark.parametrize("stored", [2, "true", None, [], 0.5])
def test_wrong_booleans_are_refused(stored: object) -> None:
    with pytest.raises(MetadataError, match="true or false"):
        DataType.from_v3("bool").fill_from_json(stored)


def test_complex_numbers_are_pairs() -> None:
    data_type = DataType.from_v3("complex64")
    fill = data_type.fill_from_json(["0x7fc00001", "-Infinity"])
    assert data_type.fill_to_json(fill) == ["0x7fc00001", "-Infinity"]
    assert data_type.fill_to_json(fill, zarr_format=2) == ["NaN", "-Infinity"]
    assert data_type.fill_from_json(2) == 2 + 0j
    for wrong in ([1], [1, 2, 3], ["x", 0], None, "x"):
        with pytest.raises(MetadataError):
            data_type.fill_from_json(wrong)


@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
def test_times(kind: str) -> None:
    document = {"name": f"numpy.{kind}", "configuration": {"unit": "ms", "scale_factor": 10}}
    data_type = DataType.from_v3(document)
    assert np.isnat(data_type.fill_from_json("NaT"))
    assert np.isnat(data_type.fill_from_json(-(2**63)))
    assert np.isnat(data_type.default_fill())
    fill = data_type.fill_from_json(100)
    assert fill == np.int64(100).view(f"{kind}[10ms]")
    assert data_type.fill_to_json(fill) == 100
    for wrong in (2**63, "soon", None, 1.5, True):
        with pytest.raises(MetadataError):
            data_type.fill_from_json(wrong)


def test_fixed_text() -> None:
    data_type = DataType.from_v2(">U4")
    assert data_type.fill_from_json("a😀b") == "a😀b"
    assert data_type.fill_from_json(0, zarr_format=2) == ""
    assert data_type.fill_bytes("ab") == "ab".encode("utf-32-le").ljust(16, b"\0")
    for wrong in ("fivee", 1, None, b"x"):
        with pytest.raises(MetadataError):
            data_type.fill_from_json(wrong)


def test_fixed_bytes() -> None:
    data_type = DataType.from_v2("|S4")
    assert data_type.fill_from_json("WA==") == b"X"
    assert data_type.fill_from_json(0) == b""
    assert data_type.fill_to_json(b"X") == "WA=="
    assert data_type.fill_bytes(b"X") == b"X\0\0\0"
    for wrong in ("WA", "not base64!", "YWJjZGU=", 1, None):
        with pytest.raises(MetadataError):
            data_type.fill_from_json(wrong)


def test_raw_bytes_in_both_spellings() -> None:
    core, own = DataType.from_v3("r16"), DataType.from_v2("|V2")
    assert core.fill_from_json([1, 255]).tobytes() == b"\1\xff"
    assert core.fill_to_json(core.fill_from_json([1, 255])) == [1, 255]
    assert own.fill_to_json(own.fill_from_json("Af8=")) == "Af8="
    assert own.fill_from_json(0).tobytes() == b"\0\0"
    for wrong in ([1], [1, 256], [1, 2, 3], "AQ==", 1):
        with pytest.raises(MetadataError):
            core.fill_from_json(wrong)


def test_text_and_bytes_of_any_length() -> None:
    text, data = DataType.from_v3("string"), DataType.from_v3("bytes")
    assert text.fill_from_json("é") == "é"
    assert text.fill_from_json(0) == "0"  # as zarr-python reads it
    assert text.fill_bytes("é") == "é".encode()
    assert data.fill_from_json("WA==") == b"X"
    assert data.fill_from_json([88]) == b"X"
    assert data.fill_to_json(b"X") == "WA=="
    for wrong in (None, [], {}, True):
        with pytest.raises(MetadataError):
            text.fill_from_json(wrong)


RECORD = [["foo", "|S3"], ["bar", ">i4"], ["baz", "<f8"]]


def test_records_of_format_2() -> None:
    import base64

    data_type = DataType.from_v2(RECORD)
    record = np.array((b"zzz", 99, -1.5), data_type.numpy)
    stored = base64.b64encode(record.tobytes()).decode()
    fill = data_type.fill_from_json(stored, zarr_format=2)
    assert fill == record[()]
    assert data_type.fill_to_json(fill, zarr_format=2) == stored
    assert data_type.fill_bytes(fill) == record.tobytes()
    assert data_type.fill_bytes(data_type.fill_from_json(0, zarr_format=2)) == bytes(15)
    with pytest.raises(MetadataError, match="15 bytes"):
        data_type.fill_from_json("WA==", zarr_format=2)


def test_records_of_format_3() -> None:
    fields = [
        {"name": "a", "data_type": "int16"},
        {"name": "t", "data_type": {"name": "numpy.datetime64", "configuration": {"unit": "s"}}},
        {
            "name": "s",
            "data_type": {"name": "struct", "configuration": {"fields": [["x", "float32"]]}},
        },
    ]
    data_type = DataType.from_v3({"name": "struct", "configuration": {"fields": fields}})
    stored = {"a": 5, "t": 7, "s": {"x": "NaN"}}
    fill = data_type.fill_from_json(stored)
    assert data_type.fill_to_json(fill) == stored
    assert np.isnat(data_type.fill_from_json({"a": 1})["t"])
    with pytest.raises(MetadataError) as caught:
        data_type.fill_from_json({"s": {"x": "y"}})
    assert caught.value.path == "fill_value.s.x"
    with pytest.raises(MetadataError, match="only the fields"):
        data_type.fill_from_json({"b": 1})


@pytest.mark.parametrize(
    ("dtype", "given_value", "wanted"),
    [
        ("i4", True, 1),
        ("i4", np.array(3), 3),
        ("i4", 3.0, 3),
        ("f4", "NaN", np.nan),
        ("f4", np.float64(0.1), np.float32(0.1)),
        ("c8", 1j, 1j),
        ("M8[D]", "2020-01-02", np.datetime64("2020-01-02", "D")),
        ("m8[s]", 5, np.timedelta64(5, "s")),
        ("S2", "abc", b"ab"),
        ("U2", "abc", "ab"),
        ("V3", b"a", np.void(b"a\0\0")),
        ([("a", "i4"), ("b", "U2")], (1, "x"), None),
        (str, 5, "5"),
    ],
)
def test_fill_values_from_users(dtype: object, given_value: object, wanted: object) -> None:
    data_type = DataType.from_numpy(dtype)
    fill = data_type.to_fill(given_value)
    if wanted is not None:
        np.testing.assert_equal(fill, wanted)
    again = data_type.fill_from_json(data_type.fill_to_json(fill))
    assert data_type.fill_bytes(again) == data_type.fill_bytes(fill)


@pytest.mark.parametrize(
    ("dtype", "given_value"),
    [
        ("i1", 300),
        ("i4", "x"),
        ("f4", "x"),
        ("M8[s]", "x"),
        ("S2", 5),
        ("V1", b"ab"),
        ([("a", "i4")], "x"),
        ("?", 7),
    ],
)
def test_wrong_fill_values_from_users(dtype: object, given_value: object) -> None:
    with pytest.raises(MetadataError, match="fill_value: expected"):
        DataType.from_numpy(dtype).to_fill(given_value)
