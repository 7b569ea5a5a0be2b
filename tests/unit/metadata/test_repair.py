"""Invalid documents of earlier releases and other writers are read; see zarr-python's corpus."""

import json
from typing import Any

import pytest

from blazarr.errors import MetadataError
from blazarr.grids import Axis, ChunkGrid
from blazarr.metadata import CodecSpec, parse_array_v2, parse_array_v3
from blazarr.metadata.repair import repair_v2, repair_v3

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


def v2(shape: list[int], chunks: list[Any]) -> dict[str, Any]:
    return {
        "zarr_format": 2,
        "shape": shape,
        "chunks": chunks,
        "dtype": "<i2",
        "fill_value": 0,
        "order": "C",
        "filters": None,
        "compressor": None,
    }


def shard(inner: list[Any], codecs: list[Any]) -> dict[str, Any]:
    return {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": inner,
            "codecs": codecs,
            "index_codecs": [BYTES, {"name": "crc32c"}],
            "index_location": "end",
        },
    }


def v3(shape: list[int], chunks: list[Any], codecs: list[Any] | None = None) -> dict[str, Any]:
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": codecs or [BYTES],
    }


def rectilinear(shape: list[int], lengths: list[Any]) -> dict[str, Any]:
    grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": lengths}}
    return {**v3(shape, [1] * len(shape)), "chunk_grid": grid}


def parse(document: dict[str, Any]) -> Any:
    encoded = json.dumps(document).encode()
    if document["zarr_format"] == 2:
        return parse_array_v2(encoded, None, "k")
    return parse_array_v3(encoded, "k")


@pytest.mark.parametrize(
    "document",
    [
        v2([10, 10], [4, 5]),
        v3([0, 0], [1, 1]),
        v3([10], [4], [shard([2], [BYTES])]),
        v3([8], [8], [shard([4], [shard([2], [BYTES])])]),
        rectilinear([8, 10], [[[4, 2]], [5, 5]]),
    ],
)
def test_valid_documents_pass_untouched(document: dict[str, Any]) -> None:
    repair = repair_v2 if document["zarr_format"] == 2 else repair_v3
    assert repair(document) is document


@pytest.mark.parametrize(
    ("document", "chunks"),
    [
        (v2([0, 4], [0, 4]), (1, 4)),
        (v3([0], [False]), (1,)),
        (v2([5], [True]), (1,)),
        (v3([5, 4], [True, 4]), (1, 4)),
        (v3([0], [0], [shard([4], [BYTES])]), (4,)),
        (v3([0, 3], [0, 3], [shard([2, 3], [BYTES])]), (2, 3)),
        (v3([5], [True], [shard([True], [BYTES])]), (1,)),
    ],
)
def test_chunk_sizes(document: dict[str, Any], chunks: tuple[int, ...]) -> None:
    metadata = parse(document)
    assert metadata.grid.chunk_shape == chunks
    for written in metadata.to_documents().values():
        assert "true" not in written.decode()


def test_inner_chunk_sizes_at_every_depth() -> None:
    metadata = parse(v3([8], [8], [shard([4], [shard([True], [BYTES])])]))
    assert metadata.codecs[0].configuration["codecs"][0]["configuration"]["chunk_shape"] == [1]


@pytest.mark.parametrize(
    "document",
    [
        v2([3], [0]),
        v3([4, 3], [4, 0]),
        v3([10], [0], [shard([4], [BYTES])]),
        v2([4], [-1]),
        v3([4, 4], [0]),
        v3([20], [10.0]),
        v3([10], [[5, 5]]),
        rectilinear([8], [[[4.5, 2]]]),
        rectilinear([8], [[[4, 2.0]]]),
        rectilinear([8], [4.0]),
        rectilinear([8], [[True, True]]),
    ],
)
def test_what_no_reading_makes_valid_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(MetadataError, match="chunk"):
        parse(document)


@pytest.mark.parametrize(
    ("lengths", "wanted"),
    [
        ([[[4.0, 2]], [[5, 2]]], ((4, 4), (5, 5))),
        ([[3.0, 5.0], [[5, 2]]], ((3, 5), (5, 5))),
        ([[[4.0, 2], 2.0], [[5, 2]]], ((4, 4, 2), (5, 5))),
        ([[True, 4], [[5, 2]]], ((1, 4), (5, 5))),
        ([[[True, 2], 3], [[5, 2]]], ((1, 1, 3), (5, 5))),
    ],
)
def test_chunk_lengths(lengths: list[Any], wanted: tuple[tuple[int, ...], ...]) -> None:
    shape = [sum(axis) for axis in wanted]
    metadata = parse(rectilinear(shape, lengths))
    assert tuple(axis.lengths for axis in metadata.grid.axes) == wanted


def test_lists_of_lengths_in_a_regular_grid() -> None:
    metadata = parse(v3([10, 7], [[4, 6.0], 3]))
    assert metadata.grid == ChunkGrid((Axis(lengths=(4, 6)), Axis(3)))
    stored = json.loads(metadata.to_documents()["zarr.json"])
    assert stored["chunk_grid"]["name"] == "rectilinear"


@pytest.mark.parametrize(
    "codec",
    [
        "endian",
        "bytes",
        {"name": "bytes"},
        {"name": "bytes", "configuration": {}},
        {"name": "endian", "configuration": {"endian": "little"}},
    ],
)
def test_early_spellings_of_byte_order(codec: Any) -> None:
    little = CodecSpec("bytes", {"endian": "little"})
    assert parse(v3([4], [2], [codec])).codecs == (little,)
    inner = parse(v3([4], [4], [shard([2], [codec])])).codecs[0].configuration["codecs"]
    assert inner == [{"name": "bytes", "configuration": {"endian": "little"}}]


def test_one_byte_types_have_no_byte_order() -> None:
    document = {**v3([4], [2], [{"name": "endian"}]), "data_type": "uint8"}
    assert parse(document).codecs == (CodecSpec("bytes"),)


def test_the_index_of_a_shard_of_bytes_has_a_byte_order() -> None:
    codec = shard([2], ["bytes"])
    codec["configuration"]["index_codecs"] = ["bytes"]
    configuration = parse({**v3([4], [4], [codec]), "data_type": "uint8"}).codecs[0].configuration
    assert configuration["codecs"] == ["bytes"]
    assert configuration["index_codecs"] == [BYTES]


@pytest.mark.parametrize(("order", "wanted"), [("C", [0, 1, 2]), ("F", [2, 1, 0])])
def test_early_orders_of_transpose(order: str, wanted: list[int]) -> None:
    codec = {"name": "transpose", "configuration": {"order": order}}
    metadata = parse(v3([2, 3, 4], [2, 3, 4], [codec, BYTES]))
    assert metadata.codecs[0] == CodecSpec("transpose", {"order": wanted})


@pytest.mark.parametrize(
    "junk",
    [
        None,
        5,
        "x",
        [],
        [None],
        {"name": None},
        [[]],
        [{"name": "sharding_indexed", "configuration": 5}],
    ],
)
def test_junk_is_left_for_the_parser_to_refuse(junk: Any) -> None:
    for name in ("codecs", "chunk_grid", "shape", "data_type"):
        document = {**v3([4], [2]), name: junk}
        repair_v3(document)
    repair_v2({"shape": junk, "chunks": junk})
