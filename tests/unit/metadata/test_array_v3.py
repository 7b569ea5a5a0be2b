"""Documents of format 3 become models, and back."""

import json
from typing import Any

import numpy as np
import pytest

from blazarr.config import config
from blazarr.dtypes import DataType
from blazarr.errors import LimitError, MetadataError, NodeTypeValidationError, UnsupportedError
from blazarr.grids import Axis, ChunkGrid
from blazarr.metadata import (
    ArrayV3Metadata,
    CodecSpec,
    GroupMetadata,
    KeyEncoding,
    parse_array_v3,
    parse_node_v3,
)

DOCUMENT: dict[str, Any] = {
    "shape": [10, 7],
    "data_type": "uint16",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 4]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": 3,
    "codecs": [
        {"name": "bytes", "configuration": {"endian": "little"}},
        {"name": "zstd", "configuration": {"level": 3, "checksum": False}},
    ],
    "attributes": {"a": [1, {"b": None}]},
    "dimension_names": ["y", None],
    "zarr_format": 3,
    "node_type": "array",
    "storage_transformers": [],
}
ABSENT = object()


def document(**changes: Any) -> bytes:
    """Make a document with some members changed or left out."""
    members = {**DOCUMENT, **changes}
    return json.dumps({k: v for k, v in members.items() if v is not ABSENT}).encode()


def parse(**changes: Any) -> ArrayV3Metadata:
    return parse_array_v3(document(**changes), "a/zarr.json")


def test_the_common_view() -> None:
    metadata = parse()
    assert metadata.shape == (10, 7)
    assert metadata.ndim == 2
    assert metadata.data_type == DataType.from_v3("uint16")
    assert metadata.grid == ChunkGrid.regular((4, 4))
    assert metadata.chunk_key_encoding == KeyEncoding("default", "/")
    assert metadata.fill_value == np.uint16(3)
    assert metadata.fill_bytes == np.array(3, "u2").tobytes()
    assert metadata.codecs == (
        CodecSpec("bytes", {"endian": "little"}),
        CodecSpec("zstd", {"level": 3, "checksum": False}),
    )
    assert metadata.attributes == {"a": [1, {"b": None}]}
    assert metadata.dimension_names == ("y", None)
    assert (metadata.zarr_format, metadata.node_type, metadata.order) == (3, "array", "C")


def test_written_as_it_was_read() -> None:
    metadata = parse()
    assert metadata.to_documents() == {"zarr.json": json.dumps(DOCUMENT, indent=2).encode()}
    with config.set({"json_indent": None}):
        assert metadata.to_documents() == {"zarr.json": json.dumps(DOCUMENT).encode()}


def test_members_that_may_be_absent() -> None:
    metadata = parse(attributes=ABSENT, dimension_names=ABSENT, storage_transformers=ABSENT)
    assert metadata.attributes == {}
    assert metadata.dimension_names is None
    stored = json.loads(metadata.to_documents()["zarr.json"])
    assert "dimension_names" not in stored
    assert stored["storage_transformers"] == []


@pytest.mark.parametrize("name", ["attributes", "dimension_names", "storage_transformers"])
def test_members_that_may_be_null(name: str) -> None:
    assert parse(**{name: None}) == parse(**{name: ABSENT})


def test_extensions_as_bare_strings() -> None:
    metadata = parse(
        data_type="uint8",
        codecs=["bytes", "crc32c", {"name": "gzip"}],
        chunk_key_encoding="default",
    )
    assert metadata.codecs == (CodecSpec("bytes"), CodecSpec("crc32c"), CodecSpec("gzip"))
    assert metadata.chunk_key_encoding == KeyEncoding("default", "/")
    assert json.loads(metadata.to_documents()["zarr.json"])["codecs"][1] == {"name": "crc32c"}


@pytest.mark.parametrize(
    ("stored", "wanted"),
    [
        ("v2", KeyEncoding("v2", ".")),
        ({"name": "v2"}, KeyEncoding("v2", ".")),
        ({"name": "v2", "configuration": {"separator": "/"}}, KeyEncoding("v2", "/")),
        ({"name": "default", "configuration": {}}, KeyEncoding("default", "/")),
        ({"name": "default", "configuration": {"separator": "."}}, KeyEncoding("default", ".")),
    ],
)
def test_key_encodings(stored: Any, wanted: KeyEncoding) -> None:
    assert parse(chunk_key_encoding=stored).chunk_key_encoding == wanted


def test_unknown_members_are_kept() -> None:
    extra = {"name": "x", "must_understand": False, "configuration": {"k": [1]}}
    metadata = parse(my_ext=extra)
    assert metadata.extra == {"my_ext": extra}
    changed = metadata.update(shape=(20, 7), attributes={})
    assert json.loads(changed.to_documents()["zarr.json"])["my_ext"] == extra


@pytest.mark.parametrize("extra", [5, {}, {"must_understand": True}, {"must_understand": 0}])
def test_members_that_must_be_understood_are_refused(extra: Any) -> None:
    with pytest.raises(MetadataError, match=r"my_ext.*must_understand") as caught:
        parse(my_ext=extra)
    assert caught.value.path == "my_ext"


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        *(
            ({name: ABSENT}, name)
            for name in DOCUMENT
            if name not in ("attributes", "dimension_names", "storage_transformers")
        ),
        *(({"shape": wrong}, "shape") for wrong in (None, 5, "5", {}, [2**40, 2**40])),
        *(
            ({"shape": [10, wrong]}, "shape[1]")
            for wrong in (-1, 1.0, True, None, "7", [7], float("nan"), float("inf"))
        ),
        ({"zarr_format": "3"}, "zarr_format"),
        ({"zarr_format": 9}, "zarr_format"),
        ({"node_type": "group"}, "node_type"),
        ({"data_type": 5}, "data_type"),
        (
            {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, -1]}}},
            "chunk_grid.configuration.chunk_shape[1]",
        ),
        ({"chunk_key_encoding": 5}, "chunk_key_encoding"),
        (
            {"chunk_key_encoding": {"name": "v2", "configuration": {"separator": "-"}}},
            "chunk_key_encoding.configuration.separator",
        ),
        (
            {"chunk_key_encoding": {"name": "v2", "configuration": 5}},
            "chunk_key_encoding.configuration",
        ),
        ({"fill_value": 70000}, "fill_value"),
        ({"fill_value": "x"}, "fill_value"),
        ({"codecs": []}, "codecs"),
        ({"codecs": {}}, "codecs"),
        ({"codecs": ["bytes", 5]}, "codecs[1]"),
        ({"codecs": ["bytes", {"configuration": {}}]}, "codecs[1]"),
        ({"codecs": [{"name": "bytes", "configuration": 5}]}, "codecs[0].configuration"),
        ({"attributes": []}, "attributes"),
        ({"dimension_names": "yx"}, "dimension_names"),
        ({"dimension_names": ["y"]}, "dimension_names"),
        ({"dimension_names": ["y", 5]}, "dimension_names[1]"),
        ({"storage_transformers": [{"name": "t"}]}, "storage_transformers"),
    ],
)
def test_wrong_documents_are_refused_with_key_and_place(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(MetadataError) as caught:
        parse(**changes)
    assert caught.value.key == "a/zarr.json"
    assert caught.value.path == path
    assert str(caught.value).startswith("a/zarr.json: ")
    assert path.split(".", maxsplit=1)[0].split("[", maxsplit=1)[0] in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"data_type": "acme.quad"}, "acme.quad"),
        ({"chunk_grid": {"name": "acme.hex"}}, "acme.hex"),
        ({"chunk_key_encoding": "acme.hash"}, "acme.hash"),
    ],
)
def test_unknown_extensions_are_named(changes: dict[str, Any], name: str) -> None:
    with pytest.raises(UnsupportedError, match=name.replace(".", r"\.")) as caught:
        parse(**changes)
    assert caught.value.key == "a/zarr.json"


def test_too_many_dimensions() -> None:
    with pytest.raises(LimitError, match="dimensions"):
        parse(shape=[1] * 10_000)


def test_null_fill_value_is_the_default() -> None:
    assert parse(fill_value=None).fill_value == 0
    assert parse(fill_value=None, data_type="float32").fill_value == 0


def test_any_node() -> None:
    assert isinstance(parse_node_v3(document(), "k"), ArrayV3Metadata)
    group = b'{"zarr_format": 3, "node_type": "group"}'
    assert isinstance(parse_node_v3(group, "k"), GroupMetadata)
    with pytest.raises(NodeTypeValidationError, match="node_type"):
        parse_node_v3(b'{"zarr_format": 3}', "k")


def test_update() -> None:
    metadata = parse(
        chunk_grid={
            "name": "rectilinear",
            "configuration": {"kind": "inline", "chunk_shapes": [4, [3, 4]]},
        }
    )
    grown = metadata.update(shape=(100, 9))
    assert grown.shape == (100, 9)
    assert grown.grid.axes == (Axis(4), Axis(lengths=(3, 4, 2)))
    assert grown.attributes == metadata.attributes
    assert metadata.update(attributes={"n": 1}).attributes == {"n": 1}
    assert metadata.shape == (10, 7)
    with pytest.raises(MetadataError):
        metadata.update(shape=(3,))


def test_equal_where_the_documents_are() -> None:
    nan = parse(data_type="float32", fill_value="NaN")
    assert nan == parse(data_type="float32", fill_value="NaN")
    assert hash(nan) == hash(parse(data_type="float32", fill_value="NaN"))
    assert nan != parse(data_type="float32", fill_value="0x7fc00001")
    assert nan != parse()
    assert nan != 5


def test_create() -> None:
    metadata = ArrayV3Metadata.create(
        shape=(10, 7),
        data_type=DataType.from_v3("uint16"),
        grid=ChunkGrid.regular((4, 4)),
        codecs=parse().codecs,
        fill_value=3,
        chunk_key_encoding={"name": "default", "separator": "/"},
        attributes={"a": [1, {"b": None}]},
        dimension_names=("y", None),
    )
    assert metadata == parse()


def test_create_with_defaults() -> None:
    metadata = ArrayV3Metadata.create(
        shape=(),
        data_type=DataType.from_numpy("M8[s]"),
        grid=ChunkGrid(()),
        codecs=[CodecSpec("bytes", {"endian": "little"})],
    )
    assert np.isnat(metadata.fill_value)
    assert metadata.chunk_key_encoding == KeyEncoding("default", "/")
    assert parse_array_v3(metadata.to_documents()["zarr.json"], "k") == metadata


@pytest.mark.parametrize(
    "changes",
    [
        {"grid": ChunkGrid.regular((4,))},
        {"fill_value": 70000},
        {"dimension_names": ["y"]},
        {"dimension_names": [5, 5]},
        {"chunk_key_encoding": "other"},
        {"attributes": [1]},
        {"shape": (1,) * 65, "grid": ChunkGrid.regular((1,) * 65)},
    ],
)
def test_create_refuses_what_does_not_fit(changes: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {
        "shape": (10, 7),
        "data_type": DataType.from_v3("uint16"),
        "grid": ChunkGrid.regular((4, 4)),
        "codecs": [CodecSpec("bytes")],
    }
    with pytest.raises((MetadataError, UnsupportedError, LimitError)):
        ArrayV3Metadata.create(**{**arguments, **changes})
