"""What the modes of opening find, create, replace and leave alone."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import blazarr
from blazarr.errors import (
    ArrayNotFoundError,
    ContainsArrayError,
    ContainsGroupError,
    ExistsError,
    GroupNotFoundError,
    NodeTypeValidationError,
    NotFoundError,
    ReadOnlyError,
)


@pytest.fixture(params=[2, 3], ids=["v2", "v3"])
def zarr_format(request):
    return request.param


@pytest.fixture
def folder(tmp_path, zarr_format):
    group = blazarr.open_group(tmp_path / "s", mode="w", zarr_format=zarr_format)
    group.create_array("x", data=np.arange(4), chunks=(2,))
    group.create_group("g", attributes={"a": 1})
    return tmp_path / "s"


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("mode", ["r", "r+", "a"])
def test_opens_what_is_there(folder, mode):
    before = files(folder)
    assert isinstance(blazarr.open(folder, mode=mode), blazarr.Group)
    assert isinstance(blazarr.open(folder, path="x", mode=mode), blazarr.Array)
    assert blazarr.open_array(folder, path="x", mode=mode)[...].tolist() == [0, 1, 2, 3]
    assert blazarr.open_group(folder, path="g", mode=mode).attrs.asdict() == {"a": 1}
    assert blazarr.open(folder, mode=mode).read_only is (mode == "r")
    assert files(folder) == before


@pytest.mark.parametrize("mode", ["r", "r+", None])
def test_nothing_is_created_where_nothing_is(tmp_path, mode):
    missing = tmp_path / "missing" / "deep"
    with pytest.raises(ArrayNotFoundError):
        blazarr.open_array(missing, mode=mode)
    if mode is not None:
        for function in (blazarr.open, blazarr.open_group):
            with pytest.raises(GroupNotFoundError) as caught:
                function(missing, mode=mode)
            assert isinstance(caught.value, FileNotFoundError)
            assert isinstance(caught.value, KeyError)
            assert "missing/deep" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_creates_what_is_missing(tmp_path, zarr_format):
    group = blazarr.open_group(tmp_path, path="a/b", mode="a", zarr_format=zarr_format)
    assert group.attrs.asdict() == {}
    array = blazarr.open_array(
        tmp_path, path="a/x", mode="a", shape=(3,), dtype="i4", zarr_format=zarr_format
    )
    assert array[...].tolist() == [0, 0, 0]
    again = blazarr.open_array(tmp_path, path="a/x", mode="a", shape=(5,), dtype="f8")
    assert again.shape == (3,)
    assert isinstance(blazarr.open(tmp_path, path="a/y", shape=(2,)), blazarr.Array)
    assert isinstance(blazarr.open(tmp_path, path="new"), blazarr.Group)


def test_w_replaces(folder, zarr_format):
    array = blazarr.open_array(
        folder, path="x", mode="w", shape=(2,), dtype="f4", zarr_format=zarr_format
    )
    assert array[...].tolist() == [0, 0]
    group = blazarr.open_group(folder, mode="w", zarr_format=zarr_format, attributes={"b": 2})
    assert list(group) == []
    assert group.attrs.asdict() == {"b": 2}
    assert isinstance(blazarr.open(folder, mode="w"), blazarr.Group)


def test_w_minus_needs_an_empty_place(folder):
    before = files(folder)
    for function in (blazarr.open_group, blazarr.open):
        with pytest.raises(ExistsError) as caught:
            function(folder, mode="w-")
        assert isinstance(caught.value, FileExistsError)
    with pytest.raises(ExistsError):
        blazarr.open_array(folder, path="x", mode="w-", shape=(1,), dtype="i4")
    assert files(folder) == before
    assert blazarr.open_group(folder, path="new", mode="w-").path == "new"
    assert blazarr.open_array(folder, path="y", mode="w-", shape=(1,), dtype="i4").shape == (1,)


@pytest.mark.parametrize(
    "wrong",
    [
        {"shape": (2,), "dtype": "no such type"},
        {"shape": (-2,), "dtype": "i4"},
        {"shape": (2,), "chunks": (0,), "dtype": "i4"},
        {"shape": (2,), "dtype": "i4", "fill_value": "x"},
        {"shape": (2,), "dtype": "i4", "attributes": {"a": object()}},
        {"shape": (2,), "dtype": "i4", "data": np.zeros(3)},
        {"shape": (2,), "dtype": "i4", "data": ["a", "b"]},
        {"shape": (2,), "dtype": "i4", "zarr_format": 3, "codecs": [{"name": "acme"}]},
        {"dtype": "i4"},
    ],
)
def test_a_failing_w_deletes_nothing(folder, zarr_format, wrong):
    before = files(folder)
    arguments = {"zarr_format": zarr_format, **wrong}
    with pytest.raises((ValueError, TypeError)):
        blazarr.open_array(folder, path="x", mode="w", **arguments)
    assert files(folder) == before


@pytest.mark.parametrize(
    "wrong",
    [
        {"shape": (2,)},
        {"shape": (2,), "dtype": "i4", "chunks": (1, 1)},
        {"shape": (2,), "dtype": "i4", "compressors": [{"name": "acme"}]},
        {"shape": (2,), "dtype": "i4", "data": np.zeros(2)},
        {"shape": (2,), "dtype": "i4", "dimension_names": ["a", "b"]},
    ],
)
def test_a_failing_overwrite_deletes_nothing(folder, zarr_format, wrong):
    before = files(folder)
    with pytest.raises((ValueError, TypeError)):
        blazarr.create_array(folder, name="x", overwrite=True, zarr_format=zarr_format, **wrong)
    assert files(folder) == before


def test_a_failing_save_group_deletes_nothing(folder):
    before = files(folder)
    with pytest.raises(ValueError, match="dtype"):
        blazarr.save_group(folder, good=np.zeros(2), bad=np.array([object()]))
    assert files(folder) == before


def test_the_other_kind_says_so(folder, zarr_format):
    with pytest.raises(NodeTypeValidationError, match="is a group"):
        blazarr.open_array(folder, path="g", mode="r")
    with pytest.raises(ContainsArrayError, match="is an array"):
        blazarr.open_group(folder, path="x", mode="r")
    with pytest.raises(ContainsArrayError):
        blazarr.open_group(folder, path="x", mode="a")
    with pytest.raises(ContainsGroupError):
        blazarr.create_array(folder, name="g", shape=(1,), dtype="i4", zarr_format=zarr_format)
    with pytest.raises(ContainsArrayError):
        blazarr.create_group(folder, path="x", zarr_format=zarr_format)


def test_format_3_wins_unless_asked(tmp_path):
    for zarr_format in (2, 3):
        blazarr.create_array(
            tmp_path, shape=(2,), dtype="i4", fill_value=zarr_format, zarr_format=zarr_format
        )
    assert blazarr.open_array(tmp_path)[0] == 3
    assert blazarr.open_array(tmp_path, zarr_format=2)[0] == 2
    assert blazarr.open(tmp_path, zarr_format=2)[0] == 2
    with pytest.raises(ValueError, match="zarr_format"):
        blazarr.open_array(tmp_path, zarr_format=4)


def test_the_format_that_is_asked_for_has_to_be_there(folder, zarr_format):
    with pytest.raises(NotFoundError, match="format"):
        blazarr.open_array(folder, path="x", mode="r", zarr_format=5 - zarr_format)


def test_both_kinds_in_one_place(tmp_path):
    blazarr.open_group(tmp_path, mode="w", zarr_format=2)
    array = blazarr.zeros((2,), zarr_format=2)
    (tmp_path / ".zarray").write_bytes(array.metadata.to_documents()[".zarray"])
    with pytest.raises(blazarr.errors.ContainsArrayAndGroupError):
        blazarr.open(tmp_path, mode="r")


def test_modes_have_names(tmp_path):
    with pytest.raises(ValueError, match="mode"):
        blazarr.open_group(tmp_path, mode="x")


def test_a_read_only_store_opens_for_reading(folder):
    store = blazarr.stores.LocalStore(folder, read_only=True)
    assert blazarr.open(store).read_only
    assert blazarr.open_array(store, path="x").read_only
    for mode in ("r+", "a", "w", "w-"):
        with pytest.raises(ReadOnlyError):
            blazarr.open_group(store, mode=mode)


def test_config_is_for_arrays(folder):
    assert blazarr.open(folder, path="x", config={"order": "F"}).config.order == "F"
    with pytest.raises(TypeError, match="config"):
        blazarr.open(folder, config={"order": "F"})
    with pytest.raises(TypeError, match="odrer"):
        blazarr.open_array(folder, path="x", config={"odrer": "F"})


@pytest.mark.parametrize("store", [None, "dict", "file", "str", "memory"])
def test_places_of_every_kind(tmp_path, store):
    given = {
        None: None,
        "dict": {},
        "file": f"file://{tmp_path}/a%20b",
        "str": str(tmp_path / "a b"),
        "memory": blazarr.stores.MemoryStore(),
    }[store]
    group = blazarr.open_group(given, mode="a")
    group.create_array("x", data=np.arange(3))
    assert group["x"][...].tolist() == [0, 1, 2]
    if store == "dict":
        assert json.loads(given["zarr.json"])["node_type"] == "group"
        assert blazarr.open_array(given, path="x")[1] == 1
    if store in ("file", "str"):
        assert (tmp_path / "a b" / "x" / "zarr.json").is_file()


@pytest.mark.parametrize("path", ["..", "a/../b", "a/./b", "a\\..\\b"])
def test_paths_stay_inside(tmp_path, path):
    with pytest.raises(ValueError, match="path"):
        blazarr.open_group(tmp_path, path=path, mode="a")
    assert list(tmp_path.iterdir()) == []


def test_parents_are_created_and_kept(tmp_path):
    blazarr.create_group(tmp_path, path="a", attributes={"k": 1})
    blazarr.create_array(tmp_path, name="a/b/c", shape=(1,), dtype="i4")
    assert blazarr.open_group(tmp_path, path="a").attrs.asdict() == {"k": 1}
    assert (tmp_path / "zarr.json").is_file()
    assert (tmp_path / "a" / "b" / "zarr.json").is_file()


def test_many_may_create_the_same_node(tmp_path, zarr_format):
    def job(number):
        group = blazarr.open_group(tmp_path, mode="a", zarr_format=zarr_format)
        array = blazarr.open_array(
            tmp_path,
            path="x",
            mode="a",
            shape=(8,),
            chunks=(1,),
            dtype="i4",
            zarr_format=zarr_format,
        )
        array[number] = number
        group.require_group("a/b").create_group(str(number))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(job, range(8)))
    found = blazarr.open_group(tmp_path)
    assert found["x"][...].tolist() == list(range(8))
    assert sorted(found["a/b"]) == [str(n) for n in range(8)]


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_open_says_that_neither_kind_of_node_is_there(tmp_path, mode):
    with pytest.raises(NotFoundError, match="no array or group"):
        blazarr.open(tmp_path / "none", mode=mode)
