"""Random valid metadata survives its documents; zarr-python reads them as the same."""

import json
import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazarr.dtypes import DataType, parse_data_type
from blazarr.grids import Axis, ChunkGrid
from blazarr.metadata import (
    ArrayMetadata,
    ArrayV2Metadata,
    ArrayV3Metadata,
    CodecSpec,
    GroupMetadata,
    KeyEncoding,
    parse_array_v2,
    parse_array_v3,
    parse_group_v3,
)

BYTES = CodecSpec("bytes", {"endian": "little"})

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)
ATTRIBUTES = st.dictionaries(st.text(max_size=8), JSON_VALUES, max_size=4)

SIMPLE_TYPES = st.sampled_from(
    [
        "?",
        "i1",
        "u2",
        "i4",
        "u8",
        "f2",
        "f4",
        "f8",
        "c8",
        "c16",
        "M8[ns]",
        "m8[10s]",
        "S3",
        "U2",
        ">i2",
        ">f8",
        ">c8",
        ">M8[s]",
        ">U3",
    ]
)


@st.composite
def data_types(draw) -> DataType:
    if draw(st.integers(0, 4)):
        return parse_data_type(draw(SIMPLE_TYPES))
    names = draw(
        st.lists(st.text("abcé", min_size=1, max_size=3), min_size=1, max_size=3, unique=True)
    )
    return parse_data_type([(name, draw(SIMPLE_TYPES)) for name in names])


@st.composite
def fill_values(draw, data_type: DataType) -> Any:
    """Draw any bits that are an item of the type."""
    dtype = data_type.native
    if dtype.kind in "bU" or (dtype.names and any(dtype[n].kind in "bU" for n in dtype.names)):
        return data_type.default_fill()
    data = draw(st.binary(min_size=dtype.itemsize, max_size=dtype.itemsize))
    return np.frombuffer(data, dtype=dtype)[0]


@st.composite
def axes(draw, extent: int, *, rectilinear: bool) -> Axis:
    if rectilinear and draw(st.booleans()):
        lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=6))
        return Axis(lengths=(*lengths, max(1, extent - sum(lengths))))
    return Axis(draw(st.integers(1, 2**40)))


@st.composite
def arrays_v3(draw) -> ArrayV3Metadata:
    shape = tuple(draw(st.lists(st.integers(0, 2**12), max_size=4)))
    data_type = draw(data_types())
    names = st.lists(st.none() | st.text(max_size=3), min_size=len(shape), max_size=len(shape))
    return ArrayV3Metadata.create(
        shape=shape,
        data_type=data_type,
        grid=ChunkGrid(tuple(draw(axes(extent, rectilinear=True)) for extent in shape)),
        codecs=[BYTES, *draw(st.sampled_from([[], [CodecSpec("gzip", {"level": 5})]]))],
        fill_value=draw(fill_values(data_type)),
        chunk_key_encoding=KeyEncoding(
            draw(st.sampled_from(["default", "v2"])), draw(st.sampled_from("./"))
        ),
        attributes=draw(ATTRIBUTES),
        dimension_names=draw(st.none() | names),
    )


@st.composite
def arrays_v2(draw) -> ArrayV2Metadata:
    shape = tuple(draw(st.lists(st.integers(0, 2**12), max_size=4)))
    data_type = draw(data_types())
    return ArrayV2Metadata.create(
        shape=shape,
        data_type=data_type,
        grid=ChunkGrid(tuple(draw(axes(extent, rectilinear=False)) for extent in shape)),
        fill_value=draw(st.none() | fill_values(data_type)),
        order=draw(st.sampled_from("CF")),
        filters=draw(st.sampled_from([(), ({"id": "shuffle", "elementsize": 2},)])),
        compressor=draw(st.sampled_from([None, {"id": "zlib", "level": 1}])),
        dimension_separator=draw(st.sampled_from(["/", ".", None])),
        attributes=draw(ATTRIBUTES),
    )


def read_back(metadata: ArrayMetadata) -> ArrayMetadata:
    documents = metadata.to_documents()
    if metadata.zarr_format == 3:
        return parse_array_v3(documents["zarr.json"], "k")
    return parse_array_v2(documents[".zarray"], documents[".zattrs"], "k")


@given(arrays_v3())
def test_arrays_of_format_3(metadata: ArrayV3Metadata) -> None:
    again = read_back(metadata)
    assert again == metadata
    assert again.grid == metadata.grid
    assert again.fill_bytes == metadata.fill_bytes


@given(arrays_v2())
def test_arrays_of_format_2(metadata: ArrayV2Metadata) -> None:
    again = read_back(metadata)
    assert again == metadata
    assert again.data_type == metadata.data_type
    if "NaN" not in json.dumps(metadata.to_json()):  # format 2 has one NaN
        assert again.fill_bytes == metadata.fill_bytes


@given(ATTRIBUTES)
def test_groups(attributes: dict[str, Any]) -> None:
    group = GroupMetadata(3, attributes)
    again = parse_group_v3(group.to_documents()["zarr.json"], "k")
    assert json.dumps(again.attributes) == json.dumps(attributes)


@given(st.tuples(*[st.integers(0, 10**6)] * 3), st.integers(0, 3), st.sampled_from("./"))
def test_chunk_keys(coordinates: tuple[int, ...], ndim: int, separator: str) -> None:
    place = coordinates[:ndim]
    for kind in ("default", "v2"):
        encoding = KeyEncoding(kind, separator)
        assert encoding.decode(encoding.encode(place), ndim) == place


@pytest.mark.parametrize(
    ("key", "ndim"),
    [
        ("c", 1),
        ("c/0/1", 1),
        ("d/0", 1),
        ("c/00", 1),
        ("c/-1", 1),
        ("c/٣", 1),
        ("c/0.1", 2),
        ("", 0),
        ("c/", 1),
    ],
)
def test_what_is_no_chunk_key(key: str, ndim: int) -> None:
    assert KeyEncoding("default", "/").decode(key, ndim) is None


def test_chunk_keys_of_scalars() -> None:
    assert KeyEncoding("default", "/").encode(()) == "c"
    assert KeyEncoding("v2", ".").encode(()) == "0"
    assert KeyEncoding("v2", ".").decode("1", 0) is None


@given(st.data())
def test_zarr_python_reads_the_same(data) -> None:
    pytest.importorskip("zarr", minversion="3.4")
    zarr_metadata = pytest.importorskip("zarr.core.metadata")
    metadata = data.draw(arrays_v3() | arrays_v2())
    if not metadata.grid.is_regular or math.prod(metadata.shape) == 0:
        return
    documents = {name: json.loads(d) for name, d in metadata.to_documents().items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if metadata.zarr_format == 3:
            theirs = zarr_metadata.ArrayV3Metadata.from_dict(documents["zarr.json"])
            native = theirs.data_type.to_native_dtype()
        else:
            merged = {**documents[".zarray"], "attributes": documents[".zattrs"]}
            theirs = zarr_metadata.ArrayV2Metadata.from_dict(merged)
            native = theirs.dtype.to_native_dtype()
        stored = json.loads(json.dumps(theirs.to_dict()))
    assert theirs.shape == metadata.shape
    assert native.newbyteorder("=") == metadata.data_type.numpy.newbyteorder("=")
    ours = {k: v for document in metadata.to_json().values() for k, v in document.items()}
    # zarr-python drops a byte order that means nothing; NaNs have one spelling there.
    loose = {"attributes", "fill_value", "data_type", "codecs"}
    for name in stored.keys() & ours.keys() - loose:
        assert json.dumps(stored[name]) == json.dumps(ours[name]), name
