"""Documents of format 2 become models, and back."""

import base64
import json
from typing import Any

import numpy as np
import pytest

from blazarr.dtypes import DataType
from blazarr.errors import MetadataError
from blazarr.grids import Axis, ChunkGrid
from blazarr.metadata import ArrayV2Metadata, CodecSpec, KeyEncoding, parse_array_v2

BLOSC = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}
DELTA = {"id": "delta", "dtype": "<i4"}
DOCUMENT: dict[str, Any] = {
    "shape": [10, 7],
    "chunks": [4, 4],
    "dtype": ">i4",
    "fill_value": -1,
    "order": "F",
    "filters": [DELTA],
    "dimension_separator": "/",
    "compressor": BLOSC,
    "zarr_format": 2,
}
ABSENT = object()


def document(**changes: Any) -> bytes:
    """Make a document with some members changed or left out."""
    members = {**DOCUMENT, **changes}
    return json.dumps({k: v for k, v in members.items() if v is not ABSENT}).encode()


def parse(**changes: Any) -> ArrayV2Metadata:
    return parse_array_v2(document(**changes), b'{"a": 1}', "x/.zarray")


def test_the_common_view() -> None:
    metadata = parse()
    assert metadata.shape == (10, 7)
    assert metadata.data_type.numpy == np.dtype(">i4")
    assert metadata.grid == ChunkGrid.regular((4, 4))
    assert metadata.chunk_key_encoding == KeyEncoding("v2", "/")
    assert metadata.fill_value == -1
    assert metadata.fill_bytes == np.array(-1, "i4").tobytes()
    assert metadata.codecs == (
        CodecSpec("delta", {"dtype": "<i4"}),
        CodecSpec("blosc", {"cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}),
    )
    assert metadata.attributes == {"a": 1}
    assert metadata.dimension_names is None
    assert (metadata.zarr_format, metadata.order) == (2, "F")


def test_written_as_it_was_read() -> None:
    assert parse().to_documents() == {
        ".zarray": json.dumps(DOCUMENT, indent=2).encode(),
        ".zattrs": b'{\n  "a": 1\n}',
    }


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("order", "C"),
        ("filters", None),
        ("compressor", None),
        ("fill_value", None),
        ("dimension_separator", "."),
    ],
)
def test_members_that_may_be_absent(name: str, meant: Any) -> None:
    assert parse(**{name: ABSENT}) == parse(**{name: meant})


def test_no_attributes() -> None:
    assert parse_array_v2(document(), None, "k").attributes == {}


def test_no_filters_are_written_as_null() -> None:
    assert json.loads(parse(filters=[]).to_documents()[".zarray"])["filters"] is None


def test_null_fill_value() -> None:
    metadata = parse(fill_value=None)
    assert metadata.fill_value is None
    assert metadata.fill_bytes == bytes(4)
    assert json.loads(metadata.to_documents()[".zarray"])["fill_value"] is None


def test_unknown_members_are_kept() -> None:
    metadata = parse(node_type="array").update(shape=(1, 1))
    assert json.loads(metadata.to_documents()[".zarray"])["node_type"] == "array"


def test_records_with_base64_fill_value() -> None:
    dtype = [["foo", "|S3"], ["bar", "<i4"], ["baz", "<f8"]]
    record = np.array((b"zzz", 99, -1.5), [tuple(field) for field in dtype])
    metadata = parse(dtype=dtype, fill_value=base64.b64encode(record.tobytes()).decode())
    assert metadata.fill_value == record[()]
    assert json.loads(metadata.to_documents()[".zarray"])["dtype"] == dtype


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        *(({name: ABSENT}, name) for name in ("shape", "chunks", "dtype", "zarr_format")),
        ({"zarr_format": 3}, "zarr_format"),
        ({"shape": [10, -7]}, "shape[1]"),
        ({"chunks": [4]}, "chunks"),
        ({"chunks": None}, "chunks"),
        ({"chunks": [4, -1]}, "chunks[1]"),
        ({"chunks": [4, 2.0]}, "chunks[1]"),
        ({"dtype": "nonsense"}, "dtype"),
        ({"dtype": [["a", "<i4"], ["b", "<i3"]]}, "dtype[1][1]"),
        ({"dtype": "|O"}, "dtype"),
        ({"fill_value": 2**31}, "fill_value"),
        ({"order": "K"}, "order"),
        ({"filters": {}}, "filters"),
        ({"filters": [DELTA, {"name": "x"}]}, "filters[1]"),
        ({"compressor": "blosc"}, "compressor"),
        ({"compressor": {"id": 5}}, "compressor"),
        ({"dimension_separator": "-"}, "dimension_separator"),
    ],
)
def test_wrong_documents_are_refused_with_key_and_place(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(MetadataError) as caught:
        parse(**changes)
    assert (caught.value.key, caught.value.path) == ("x/.zarray", path)
    assert str(caught.value).startswith("x/.zarray: ")


def test_wrong_attributes_name_their_own_document() -> None:
    with pytest.raises(MetadataError, match=r"^x/\.zattrs: ") as caught:
        parse_array_v2(document(), b"[]", "x/.zarray")
    assert caught.value.key == "x/.zattrs"


def test_create_and_update() -> None:
    metadata = ArrayV2Metadata.create(
        shape=(10, 7),
        data_type=DataType.from_numpy(">i4"),
        grid=ChunkGrid.regular((4, 4)),
        fill_value=-1,
        order="F",
        filters=(DELTA,),
        compressor=BLOSC,
        dimension_separator="/",
        attributes={"a": 1},
    )
    assert metadata == parse()
    assert metadata.update(shape=(3, 3)).shape == (3, 3)
    assert metadata.update(attributes={}).attributes == {}


@pytest.mark.parametrize(
    "changes",
    [
        {"grid": ChunkGrid((Axis(4), Axis(lengths=(7,))))},
        {"grid": ChunkGrid.regular((4,))},
        {"order": "K"},
        {"compressor": {"name": "x"}},
        {"dimension_separator": "-"},
        {"fill_value": "x"},
    ],
)
def test_create_refuses_what_does_not_fit(changes: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {
        "shape": (10, 7),
        "data_type": DataType.from_numpy("i4"),
        "grid": ChunkGrid.regular((4, 4)),
    }
    with pytest.raises(MetadataError):
        ArrayV2Metadata.create(**{**arguments, **changes})
