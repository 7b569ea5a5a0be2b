"""Every data type from end to end: values, fill values, byte order, casts, shards, both formats."""

import numpy as np
import pytest

import blazarr
from blazarr.dtypes import DataType, register_data_type
from blazarr.dtypes.raw import Raw
from blazarr.errors import BlazarrError, MetadataError, UnsupportedError

ml = pytest.importorskip("ml_dtypes")

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "float32", "float64", "complex64", "complex128"]
SMALL_INTEGERS = ["int2", "int4", "uint2", "uint4"]
SMALL_FLOATS = [
    "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e4m3b11fnuz",
    "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
    "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn",
]  # fmt: skip
RECORD = np.dtype([("a", "<i2"), ("b", [("x", "<f4"), ("y", "u1")]), ("s", "S3")])


def numbers(dtype):
    """Values that all numbers have: 0 and 1, and -1 or 2 where that is one."""
    found = np.dtype(getattr(ml, dtype, dtype))
    pattern = [1, 0, 1, 1, 0] if dtype != "float8_e8m0fnu" else [1, 2, 1, 4, 2]
    return np.resize(np.array(pattern), (7, 5)).astype(found)


VALUES = {
    "bool": np.resize(np.array([True, False, True]), (7, 5)),
    **{dtype: numbers(dtype) for dtype in (*INTEGERS, *FLOATS, *SMALL_INTEGERS, *SMALL_FLOATS)},
    **{f">{kind}": np.arange(35).reshape(7, 5).astype(f">{kind}") for kind in ("i2", "u8", "f4", "c8")},
    "M8[s]": np.arange(35).reshape(7, 5).astype("M8[s]"),
    "m8[10ms]": np.arange(35).reshape(7, 5).astype("m8[10ms]"),
    "U3": np.arange(35).reshape(7, 5).astype("U3"),
    "S3": np.arange(35).reshape(7, 5).astype("S3"),
    "V3": np.arange(35).reshape(7, 5).astype("S3").view("V3"),
    "record": np.zeros((7, 5), RECORD),
}  # fmt: skip
VALUES["M8[s]"][0, 0] = VALUES["m8[10ms]"][1, 1] = "NaT"
VALUES["record"]["a"] = np.arange(35).reshape(7, 5)
VALUES["record"]["b"]["x"] = 0.5
VALUES["record"]["s"] = b"ab"


def same(found, expected):
    return (
        found.dtype == expected.dtype
        and found.tobytes() == np.ascontiguousarray(expected).tobytes()
    )


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("name", VALUES)
def test_values(name, zarr_format):
    values = VALUES[name]
    array = blazarr.create_array({}, data=values, chunks=(3, 2), zarr_format=zarr_format)
    assert array.dtype == values.dtype
    assert same(array[...], values)
    array[1:4, ::2] = values[:3, ::2]
    expected = values.copy()
    expected[1:4, ::2] = values[:3, ::2]
    assert same(array[...], expected)
    again = blazarr.open_array(array.store, mode="r")
    native = (
        values.dtype if zarr_format == 2 or values.dtype.names else values.dtype.newbyteorder("=")
    )
    assert same(again[...], expected.astype(native))
    assert same(again[::-1, 2], expected.astype(native)[::-1, 2])
    assert again.metadata == array.metadata


@pytest.mark.parametrize("name", VALUES)
def test_shards(name):
    values = VALUES[name]
    array = blazarr.create_array({}, data=values, chunks=(3, 2), shards=(6, 4))
    array[2, 2] = values[0, 0]
    expected = values.copy()
    expected[2, 2] = values[0, 0]
    assert same(array[...], expected)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("name", VALUES)
def test_fill_values(name, zarr_format):
    values = VALUES[name]
    for value in (values[0, 0], values[1, 1]):
        options = {"shape": (3,), "chunks": (2,), "dtype": values.dtype, "zarr_format": zarr_format}
        array = blazarr.create_array({}, fill_value=value, **options)
        expected = np.full(3, value, dtype=values.dtype)
        assert same(array[...], expected)
        again = blazarr.open_array(array.store, mode="r")
        assert again[...].astype(values.dtype).tobytes() == expected.tobytes()
        array[...] = expected
        assert array.nchunks_initialized == 0


NOT_A_NUMBER = [
    *FLOATS,
    *(name for name in SMALL_FLOATS if np.isnan(np.array(np.nan).astype(getattr(ml, name)))),
]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("name", NOT_A_NUMBER)
def test_values_that_are_no_numbers(name, zarr_format):
    dtype = np.dtype(getattr(ml, name, name))
    array = blazarr.create_array(
        {}, shape=(3,), chunks=(2,), dtype=dtype, fill_value=np.nan, zarr_format=zarr_format
    )
    assert np.isnan(array[...].astype(complex)).all()
    array[1] = 1
    again = blazarr.open_array(array.store, mode="r")
    assert np.isnan(again[...].astype(complex)).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (complex(np.nan, 1), ["NaN", 1.0]),
        (complex(-0.0, np.inf), [-0.0, "Infinity"]),
        (complex(-np.inf, -0.0), ["-Infinity", -0.0]),
    ],
)
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_fill_values(dtype, zarr_format, value, stored):
    array = blazarr.create_array(
        {}, shape=(2,), chunks=(2,), dtype=dtype, fill_value=value, zarr_format=zarr_format
    )
    assert repr(array.metadata.to_dict()["fill_value"]) == repr(stored)
    again = blazarr.open_array(array.store, mode="r")
    assert again[...].tobytes() == np.full(2, value, dtype).tobytes()


@pytest.mark.parametrize("name", [*SMALL_INTEGERS, *SMALL_FLOATS])
def test_small_numbers_by_name_and_cast(name):
    dtype = np.dtype(getattr(ml, name))
    array = blazarr.create_array({}, shape=(4,), chunks=(2,), dtype=name)
    assert array.dtype == dtype
    array[...] = np.array([1, 1, 2, 1]) if name[-1] != "2" or name.startswith("f") else 1
    wide = array[...].astype("f4")
    assert wide[0] == 1
    array[...] = wide
    assert array[...].astype("f4").tolist() == wide.tolist()
    assert array.metadata.to_dict()["data_type"] == name


@pytest.mark.parametrize("name", ["int2", "uint2", "int4", "uint4"])
def test_small_integers_have_bounds(name):
    info = ml.iinfo(name)
    for value in (info.min, info.max):
        array = blazarr.create_array({}, shape=(2,), chunks=(2,), dtype=name, fill_value=value)
        assert array[...].astype(int).tolist() == [value, value]
    for value in (info.min - 1, info.max + 1):
        with pytest.raises(MetadataError, match="integer from"):
            blazarr.create_array({}, shape=(2,), chunks=(2,), dtype=name, fill_value=value)


def test_sub_arrays_are_format_2():
    dtype = np.dtype([("a", "<i2", (2, 3)), ("b", "<f8")])
    values = np.zeros(5, dtype)
    values["a"] = np.arange(30).reshape(5, 2, 3)
    array = blazarr.create_array({}, data=values, chunks=(2,), zarr_format=2)
    assert same(array[...], values)
    np.testing.assert_array_equal(
        array.get_basic_selection(slice(1, 4), fields="a"), values["a"][1:4]
    )
    out = np.empty((3, 2, 3), "<i2")
    array.get_basic_selection(slice(1, 4), fields="a", out=out)
    np.testing.assert_array_equal(out, values["a"][1:4])
    array["a", 1:3] = [[1, 2, 3], [4, 5, 6]]
    assert array["a", :3].tolist() == [values["a"][0].tolist(), *[[[1, 2, 3], [4, 5, 6]]] * 2]
    with pytest.raises(UnsupportedError, match="sub-array"):
        blazarr.create_array({}, data=values, chunks=(2,), zarr_format=3)


OBJECTS = {
    "vlen-utf8": np.array(["a", "", "é"], dtype=object),
    "vlen-bytes": np.array([b"a", b"", b"\0\1"], dtype=object),
    "json2": np.array([{"a": 1}, [1, None], "text"], dtype=object),
    "msgpack2": np.array([{"a": 1}, [1, None], "text"], dtype=object),
    "pickle": np.array([(1, 2), {3}, None], dtype=object),
}


@pytest.mark.parametrize("codec", OBJECTS)
def test_objects_of_format_2(codec):
    if codec == "msgpack2":
        pytest.importorskip("msgpack")
    values = OBJECTS[codec]
    store = {".zarray": object_document({"id": codec})}
    array = blazarr.open_array(store, mode="r+")
    array[...] = values
    if codec == "pickle":
        with pytest.raises(BlazarrError, match="allow_unsafe_pickle_decode"):
            _ = array[...]
        return
    assert array[...].tolist() == values.tolist()
    array[1] = values[0]
    assert array[:2].tolist() == [values[0], values[0]]


def object_document(*filters):
    import json

    document = {
        "zarr_format": 2, "shape": [3], "chunks": [2], "dtype": "|O", "fill_value": None,
        "order": "C", "filters": list(filters), "compressor": {"id": "zlib", "level": 1},
    }  # fmt: skip
    return json.dumps(document).encode()


def test_arrays_of_arrays():
    store = {".zarray": object_document({"id": "vlen-array", "dtype": "<i4"})}
    array = blazarr.open_array(store, mode="r+")
    values = np.empty(3, dtype=object)
    values[:] = [np.array([1, 2, 3], "i4"), np.array([], "i4"), np.array([4], "i4")]
    array[...] = values
    found = blazarr.open_array(store, mode="r")[...]
    assert [item.tolist() for item in found] == [[1, 2, 3], [], [4]]


def test_text_of_any_kind_is_taken():
    for values in (
        ["a", "bb"],
        np.array(["a", "bb"], "U2"),
        np.array(["a", "bb"], np.dtypes.StringDType()),
    ):
        for zarr_format in (2, 3):
            array = blazarr.create_array(
                {}, shape=(2,), chunks=(1,), dtype=str, zarr_format=zarr_format
            )
            array[...] = values
            found = array[...]
            assert found.tolist() == ["a", "bb"]
            assert found.astype(np.dtypes.StringDType()).tolist() == ["a", "bb"]


def test_data_types_of_users():
    class Triple(Raw):
        @property
        def name(self):
            return "test.triple"

        def to_v3(self):
            return self.name

    register_data_type("test.triple", lambda configuration, path: Triple(np.dtype("V3")))
    array = blazarr.create_array({}, shape=(4,), chunks=(2,), dtype="test.triple")
    array[1] = np.void(b"abc")
    again = blazarr.open_array(array.store, mode="r")
    assert [bytes(item) for item in again[...]] == [bytes(3), b"abc", bytes(3), bytes(3)]
    assert again.metadata.to_dict()["data_type"] == "test.triple"
    assert isinstance(DataType.from_v3("test.triple"), Triple)
