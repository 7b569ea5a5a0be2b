"""Attributes of arrays and groups: a mapping whose concurrent changes all survive."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import blazarr


@pytest.fixture(params=["array", "group"])
def node(request, group):
    if request.param == "group":
        return group.create_group("g", attributes={"a": 1})
    return group.create_array("x", shape=(4,), dtype="i4", attributes={"a": 1})


def reopened(node):
    return blazarr.open(node.store, path=node.path, mode="r", zarr_format=node.metadata.zarr_format)


def test_reads_as_a_mapping(node):
    assert dict(node.attrs) == {"a": 1}
    assert node.attrs["a"] == 1
    assert len(node.attrs) == 1
    assert list(node.attrs) == ["a"]
    assert "a" in node.attrs
    assert "b" not in node.attrs
    with pytest.raises(KeyError):
        node.attrs["b"]


def test_set_and_delete_are_stored(node):
    node.attrs["b"] = {"c": [1, None, "é"]}
    del node.attrs["a"]
    assert node.attrs.asdict() == {"b": {"c": [1, None, "é"]}}
    assert reopened(node).attrs.asdict() == {"b": {"c": [1, None, "é"]}}


def test_update_keeps_others(node):
    node.attrs.update({"b": 2}, c=3)
    assert node.update_attributes({"d": 4}) is node
    assert reopened(node).attrs.asdict() == {"a": 1, "b": 2, "c": 3, "d": 4}


def test_put_replaces_all(node):
    node.attrs.put({"b": 2})
    assert reopened(node).attrs.asdict() == {"b": 2}


def test_clear_pop_and_setdefault(node):
    assert node.attrs.setdefault("a", 9) == 1
    assert node.attrs.setdefault("b", 2) == 2
    assert node.attrs.pop("b") == 2
    assert node.attrs.pop("b", "none") == "none"
    with pytest.raises(KeyError):
        node.attrs.pop("b")
    with pytest.raises(KeyError):
        del node.attrs["b"]
    node.attrs.clear()
    assert reopened(node).attrs.asdict() == {}


def test_what_json_cannot_hold_changes_nothing(node):
    with pytest.raises(TypeError):
        node.attrs["b"] = object()
    assert node.attrs.asdict() == {"a": 1}
    assert reopened(node).attrs.asdict() == {"a": 1}


def test_changes_of_another_handle_are_kept(node):
    other = blazarr.open(node.store_path, zarr_format=node.metadata.zarr_format)
    other.attrs["theirs"] = 1
    node.attrs["ours"] = 2
    assert reopened(node).attrs.asdict() == {"a": 1, "theirs": 1, "ours": 2}


def test_read_only_nodes_refuse_changes(node):
    with pytest.raises(blazarr.errors.ReadOnlyError):
        reopened(node).attrs["b"] = 1


@pytest.mark.parametrize("handles", ["one", "own"])
def test_eight_threads_lose_nothing(node, handles):
    def job(number):
        mine = node
        if handles == "own":
            mine = blazarr.open(node.store_path, zarr_format=node.metadata.zarr_format)
        for step in range(5):
            mine.attrs[f"{number}-{step}"] = step

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(job, range(8)))
    expected = {"a": 1} | {f"{n}-{step}": step for n in range(8) for step in range(5)}
    assert reopened(node).attrs.asdict() == expected
    if handles == "one":
        assert node.attrs.asdict() == expected


def test_a_node_that_is_gone_says_so(tmp_path):
    array = blazarr.create_array(tmp_path, name="x", shape=(1,), dtype="i4")
    del blazarr.open_group(tmp_path)["x"]
    with pytest.raises(blazarr.errors.ConflictError, match="no longer"):
        array.attrs["a"] = 1


def test_changing_attributes_leaves_other_members_of_the_document(tmp_path):
    array = blazarr.create_array(tmp_path, shape=(4,), dtype="i4", dimension_names=["x"])
    path = tmp_path / "zarr.json"
    document = json.loads(path.read_text())
    document["mine"] = {"must_understand": False, "k": 1}
    path.write_text(json.dumps(document))
    array.attrs["b"] = 2
    changed = json.loads(path.read_text())
    assert changed.pop("attributes") == {"b": 2}
    document.pop("attributes")
    assert changed == document


def test_a_value_that_json_does_not_have_is_named(group):
    with pytest.raises(TypeError, match=r"found\[1\]\.depth: .*float32.*\.item\(\)"):
        group.attrs["found"] = [1, {"name": "a", "depth": np.float32(2)}]
    assert dict(group.attrs) == {}
