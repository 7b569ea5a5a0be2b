"""`problems_in` reports everything that is wrong, with its place."""

import json

import pytest

from blazarr.metadata import problems_in

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


def v3(**changes):
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4, 6],
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 4]}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": [BYTES],
    } | changes


def v2(**changes):
    return {
        "zarr_format": 2,
        "shape": [4],
        "chunks": [2],
        "dtype": "<i4",
        "fill_value": 0,
        "order": "C",
        "filters": None,
        "compressor": None,
    } | changes


def places(documents, **kwargs):
    return sorted((problem.key, problem.path) for problem in problems_in(documents, **kwargs))


@pytest.mark.parametrize("strict", [False, True])
def test_nothing_is_wrong(strict):
    if strict:
        pytest.importorskip("zarr_metadata", minversion="0.6")
    assert problems_in({"zarr.json": v3()}, strict=strict) == ()
    assert problems_in({".zarray": v2(), ".zattrs": {"a": 1}}, strict=strict) == ()
    assert problems_in({".zgroup": {"zarr_format": 2}}, strict=strict) == ()


def test_every_problem_of_an_array():
    document = v3(
        shape=[4, -6],
        data_type="int99",
        chunk_key_encoding={"name": "other"},
        codecs=[BYTES, {"configuration": {}}, 7],
        attributes=[],
        novel=1,
    )
    found = problems_in({"zarr.json": document}, folder="a/")
    assert sorted(problem.path for problem in found) == [
        "attributes", "chunk_key_encoding", "codecs[1]", "codecs[2]", "data_type", "novel", "shape[1]",
    ]  # fmt: skip
    assert {problem.key for problem in found} == {"a/zarr.json"}
    kinds = {problem.path: problem.kind for problem in found}
    assert (kinds["data_type"], kinds["shape[1]"]) == ("unsupported", "metadata")
    assert all(problem.path in str(problem) for problem in found)


def test_the_grid_and_the_fill_value():
    grid = {"name": "regular", "configuration": {"chunk_shape": [2, 0.5]}}
    found = problems_in({"zarr.json": v3(chunk_grid=grid, fill_value="x")})
    assert sorted(problem.path for problem in found) == [
        "chunk_grid.configuration.chunk_shape[1]",
        "fill_value",
    ]


def test_every_problem_of_format_2():
    document = v2(chunks=[0.5], order="K", fill_value="x", dimension_separator="-")
    found = places({".zarray": document, ".zattrs": b"[1]"})
    assert found == [
        (".zarray", "chunks[0]"),
        (".zarray", "dimension_separator"),
        (".zarray", "fill_value"),
        (".zarray", "order"),
        (".zattrs", ""),
    ]
    assert places({".zarray": v2(filters=7)}) == [(".zarray", "filters")]


def test_documents_that_are_no_json():
    assert places({"zarr.json": b"{"}) == [("zarr.json", "")]
    assert places({"zarr.json": b'{"a": 1, "a": 2}'}) == [("zarr.json", "a")]


def test_members_of_consolidated_metadata():
    wrong = v3(shape="x")
    group = {
        "zarr_format": 3,
        "node_type": "group",
        "consolidated_metadata": {"kind": "inline", "metadata": {"a": v3(), "b": wrong}},
    }
    assert places({"zarr.json": json.dumps(group).encode()}) == [("zarr.json", "shape")]


def test_strict_is_what_the_specifications_say():
    pytest.importorskip("zarr_metadata", minversion="0.6")
    lenient = v3(chunk_grid={"name": "regular", "configuration": {"chunk_shape": [True, 4]}})
    lenient["codecs"] = ["endian", {"name": "gzip", "configuration": {"level": 12}}]
    assert problems_in({"zarr.json": lenient}) == ()
    assert places({"zarr.json": lenient}, strict=True) == [
        ("zarr.json", "chunk_grid.configuration.chunk_shape[0]"),
        ("zarr.json", "codecs[1].configuration.level"),
    ]
    found = problems_in({".zarray": v2(fill_value=float("nan"), dtype="<f4")}, strict=True)
    assert [problem.path for problem in found] == ["fill_value"]
    both = problems_in({"zarr.json": v3(shape=[-1, 6])}, strict=True)
    assert [problem.path for problem in both] == ["shape[0]"]
