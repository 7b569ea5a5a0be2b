"""Data types and fill values read and write as zarr-python does."""

import json
import warnings
from typing import Any

import numpy as np
import pytest

from blazarr.dtypes import DataType, parse_data_type

# Earlier releases wrote records and their fill values in other ways.
pytest.importorskip("zarr", minversion="3.4")
zarr_dtype = pytest.importorskip("zarr.dtype")

DTYPES = [
    *("?", "i1", "u1", "i2", ">i2", "u4", ">u8", "f2", "f4", ">f8", "c8", ">c16"),
    *("M8[ns]", "M8[10ms]", "m8[D]", ">m8[s]", "M8", "S3", "U4", ">U4", "V5"),
    np.dtype([("a", "i4"), ("b", ">f8"), ("c", "S3")]),
    np.dtype([("a", "i4"), ("n", [("x", "U2"), ("y", "M8[s]")])]),
]
FILLS = {
    "b": [True, False],
    "i": [0, -1, 5],
    "u": [0, 5],
    "f": [0.0, -0.0, 1.5, np.nan, np.inf, -np.inf],
    "c": [0, 1 + 2j, complex(np.nan, -np.inf)],
    "M": ["NaT", 5],
    "m": ["NaT", 5],
    "S": [b"", b"ab"],
    "U": ["", "é"],
    "V": [],
}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_same_documents(dtype: Any, zarr_format: int) -> None:
    theirs = zarr_dtype.parse_dtype(np.dtype(dtype), zarr_format=zarr_format)
    ours = parse_data_type(np.dtype(dtype))
    if zarr_format == 2:
        stored = json.loads(json.dumps(theirs.to_json(zarr_format=2)["name"]))
        assert ours.to_v2() == stored
        assert DataType.from_v2(stored).numpy == theirs.to_native_dtype()
    else:
        stored = json.loads(json.dumps(theirs.to_json(zarr_format=3)))
        assert ours.to_v3() == stored
        assert DataType.from_v3(stored).numpy == np.dtype(dtype).newbyteorder("=")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_same_fill_values(dtype: Any, zarr_format: int) -> None:
    theirs = zarr_dtype.parse_dtype(np.dtype(dtype), zarr_format=zarr_format)
    ours = parse_data_type(np.dtype(dtype))
    default = theirs.default_scalar()
    assert ours.fill_bytes(ours.default_fill()) == ours.fill_bytes(default)
    for value in [default, *FILLS[np.dtype(dtype).kind]]:
        fill = theirs.cast_scalar(value)
        stored = json.loads(json.dumps(theirs.to_json_scalar(fill, zarr_format=zarr_format)))
        assert ours.fill_to_json(ours.to_fill(value), zarr_format=zarr_format) == stored
        read = ours.fill_from_json(stored, zarr_format=zarr_format)
        assert ours.fill_bytes(read) == ours.fill_bytes(fill)


@pytest.mark.parametrize("name", ["string", "variable_length_bytes"])
def test_variable_length(name: str) -> None:
    theirs = zarr_dtype.parse_dtype(name, zarr_format=3)
    ours = DataType.from_v3(name)
    assert ours.to_v3() == theirs.to_json(zarr_format=3)
    assert ours.to_v2() == theirs.to_json(zarr_format=2)["name"]
    assert ours.numpy == theirs.to_native_dtype()
    assert ours.default_fill() == theirs.default_scalar()
