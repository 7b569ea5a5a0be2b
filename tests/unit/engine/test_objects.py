"""Text and bytes of any length: every selection, both formats, shards, and what zarr-python reads."""

import numpy as np
import pytest

import blazarr

TEXT = np.array(
    [["", "a", "été", "fill"], ["😀", "x" * 3000, "\0", "b"], ["fill", "fill", "c", "d"]],
    dtype=object,
)


@pytest.fixture(
    params=[
        {"zarr_format": 2, "chunks": (2, 3)},
        {"zarr_format": 2, "chunks": (2, 3), "order": "F"},
        {"zarr_format": 3, "chunks": (2, 3)},
        {"zarr_format": 3, "chunks": [[1, 2], [3, 1]]},
        {"zarr_format": 3, "chunks": (1, 2), "shards": (2, 4)},
        {
            "zarr_format": 3,
            "chunks": (2, 3),
            "filters": {"name": "transpose", "configuration": {"order": [1, 0]}},
        },
    ],
    ids=["v2", "v2-F", "v3", "rectilinear", "sharded", "transposed"],
)
def array(request, tmp_path):
    made = blazarr.create_array(
        tmp_path, shape=(3, 4), dtype=str, fill_value="fill", **request.param
    )
    made[...] = TEXT
    return made


def test_reads_what_was_written(array):
    assert (array[...] == TEXT).all()
    assert array.dtype.kind == "T"
    assert array[1, 1] == "x" * 3000
    assert array[::-2, 1:].tolist() == TEXT[::-2, 1:].tolist()
    assert array.oindex[[2, 0], [3, 1]].tolist() == TEXT[[2, 0]][:, [3, 1]].tolist()
    assert array.vindex[[2, 0], [3, 1]].tolist() == ["d", "a"]
    assert array[TEXT == "fill"].tolist() == ["fill"] * 3


def test_changes_parts(array):
    expected = TEXT.copy()
    array[0] = "row"
    expected[0] = "row"
    array[1:, 1] = ["p", "q"]
    expected[1:, 1] = ["p", "q"]
    array.vindex[[0, 2], [0, 2]] = np.array(["r", "s"])
    expected[[0, 2], [0, 2]] = ["r", "s"]
    assert (blazarr.open_array(array.store)[...] == expected).all()


def test_chunks_of_nothing_but_fill_are_not_stored(array):
    array[...] = "fill"
    assert array.nchunks_initialized == 0
    assert (array[...] == "fill").all()


def test_appends(array):
    if array.metadata.grid.is_regular:
        array.append(TEXT[:2])
        assert (array[...] == np.concatenate([TEXT, TEXT[:2]])).all()


def test_reads_into_an_array(array):
    out = np.empty((3, 4), object)
    array.get_basic_selection(..., out=out)
    assert (out == TEXT).all()


def test_zarr_python_reads_it(array):
    zarr = pytest.importorskip("zarr")
    with zarr.config.set({"array.rectilinear_chunks": True}):
        found = zarr.open_array(array.store.root, mode="r")
        assert (found[...] == TEXT).all()


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("fmt", [2, 3])
def test_bytes(tmp_path, fmt):
    values = np.array([b"", b"\xff\0", b"y" * 5000], dtype=object)
    array = blazarr.create_array(
        tmp_path, shape=(3,), chunks=(2,), dtype="variable_length_bytes", zarr_format=fmt
    )
    array[...] = values
    assert array[...].tolist() == values.tolist()
    assert array.dtype == np.dtype(object)
    zarr = pytest.importorskip("zarr")
    assert zarr.open_array(tmp_path)[...].tolist() == values.tolist()


def test_items_of_the_wrong_type_are_refused(tmp_path):
    array = blazarr.create_array(
        tmp_path, shape=(2,), chunks=(2,), dtype="variable_length_bytes", zarr_format=3
    )
    with pytest.raises((TypeError, ValueError)):
        array[...] = np.array(["text", b"bytes"], dtype=object)
    assert array.nchunks_initialized == 0


def test_a_large_chunk_of_few_items(tmp_path):
    array = blazarr.create_array(tmp_path, shape=(3,), chunks=(3,), dtype=str)
    array[...] = np.array(["x" * 4_000_000, "", "y"], dtype=object)
    assert [len(item) for item in array[...]] == [4_000_000, 0, 1]
