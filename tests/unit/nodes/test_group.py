"""`Group`: finding, creating, moving and deleting members."""

import pickle

import numpy as np
import pytest

import blazarr
from blazarr.errors import (
    ArrayNotFoundError,
    BlazarrError,
    ContainsArrayError,
    ContainsGroupError,
    ExistsError,
    GroupNotFoundError,
    NotFoundError,
    ReadOnlyError,
)


@pytest.fixture
def tree(group):
    """A hierarchy: arrays x and g/y, groups g and g/h."""
    group.attrs["title"] = "t"
    group.create_array("x", data=np.arange(6), chunks=(4,))
    group.create_array("g/y", shape=(2, 2), dtype="f4", attributes={"unit": "m"})
    group.create_group("g/h", attributes={"deep": True})
    return group


def reopened(group, **kwargs):
    return blazarr.open_group(
        group.store, mode="r", path=group.path, zarr_format=group.metadata.zarr_format, **kwargs
    )


def test_describes_itself(tree, zarr_format):
    assert (tree.path, tree.name, tree.basename) == ("", "/", "")
    deep = tree["g/h"]
    assert (deep.path, deep.name, deep.basename) == ("g/h", "/g/h", "h")
    assert tree.metadata.zarr_format == zarr_format
    assert not tree.read_only
    assert tree.synchronizer is None
    assert tree.store is tree.store_path.store
    assert repr(deep) == f"<Group {tree.store}/g/h>"


def test_is_a_mapping_of_members(tree):
    assert sorted(tree) == sorted(tree.keys()) == ["g", "x"]
    assert len(tree) == tree.nmembers() == 2
    assert "x" in tree
    assert "g/y" in tree
    assert "nope" not in tree
    assert 1 not in tree
    assert tree["x"][...].tolist() == list(range(6))
    assert tree["g"]["y"] == tree["g/y"]
    assert tree.get("g/h").attrs.asdict() == {"deep": True}
    assert tree.get("nope") is None
    assert tree.get("nope", 1) == 1


def test_missing_members_are_key_errors(tree):
    for key in ("nope", "x/y", "g/nope"):
        with pytest.raises(KeyError) as caught:
            tree[key]
        assert isinstance(caught.value, NotFoundError)
        assert key in str(caught.value)


def test_members_by_kind(tree):
    assert [name for name, _ in tree.arrays()] == list(tree.array_keys()) == ["x"]
    assert [name for name, _ in tree.groups()] == list(tree.group_keys()) == ["g"]
    assert [array.path for array in tree.array_values()] == ["x"]
    assert [found.path for found in tree.group_values()] == ["g"]
    assert isinstance(tree.get_array("x"), blazarr.Array)
    assert isinstance(tree.get_group("g"), blazarr.Group)


def test_the_wrong_kind_says_so(tree):
    with pytest.raises(ContainsGroupError):
        tree.get_array("g")
    with pytest.raises(ContainsArrayError):
        tree.get_group("x")
    with pytest.raises(ArrayNotFoundError):
        tree.get_array("nope")
    with pytest.raises(GroupNotFoundError):
        tree.get_group("nope")


def test_members_to_a_depth(tree):
    assert sorted(path for path, _ in tree.members()) == ["g", "x"]
    everything = ["g", "g/h", "g/y", "x"]
    assert sorted(path for path, _ in tree.members(max_depth=1)) == everything
    assert sorted(path for path, _ in tree.members(max_depth=None)) == everything
    assert tree.nmembers(max_depth=None) == 4
    with pytest.raises(ValueError, match="max_depth"):
        tree.members(max_depth=-1)


def test_what_is_no_node_is_no_member(tmp_path, zarr_format):
    group = blazarr.open_group(tmp_path, mode="w", zarr_format=zarr_format)
    group.create_array("x", shape=(1,), dtype="u1")[...] = 1
    for junk in ("README.md", ".DS_Store", "x/._0", "stray/0/1"):
        (tmp_path / junk).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / junk).write_bytes(b"junk")
    (tmp_path / "empty").mkdir()
    assert list(reopened(group)) == ["x"]


def test_members_have_the_format_of_their_group(tmp_path):
    group = blazarr.open_group(tmp_path, mode="w", zarr_format=3)
    blazarr.create_array(tmp_path, name="old", shape=(1,), dtype="i4", zarr_format=2)
    assert list(reopened(group)) == []
    assert "old" not in group


def test_creates_arrays(group, zarr_format):
    array = group.create_array(
        "deep/x", shape=(6,), chunks=(2,), dtype="i2", fill_value=4, attributes={"a": 1}
    )
    assert array.metadata.zarr_format == zarr_format
    assert array[...].tolist() == [4] * 6
    assert isinstance(group["deep"], blazarr.Group)
    with pytest.raises(ContainsArrayError):
        group.create_array("deep/x", shape=(1,), dtype="i2")
    with pytest.raises(ContainsArrayError, match="nothing can be created below"):
        group.create_array("deep/x/y", shape=(1,), dtype="i2")
    again = group.create("deep/x", shape=(3,), dtype="i2", overwrite=True)
    assert again[...].tolist() == [0] * 3
    assert again.attrs.asdict() == {}


def test_compressor_is_an_older_name(group):
    array = group.create_array("x", shape=(1,), dtype="i4", compressor=None)
    assert array.compressors == ()
    with pytest.raises(ValueError, match="only one"):
        group.create_array("y", shape=(1,), dtype="i4", compressor=None, compressors=None)


def test_creates_groups(group):
    made = group.create_group("a/b", attributes={"k": 1})
    assert made.attrs.asdict() == {"k": 1}
    with pytest.raises(ContainsGroupError):
        group.create_group("a/b")
    group.create_array("a/b/x", shape=(1,), dtype="i4")
    assert list(group.create_group("a", overwrite=True)) == []


def test_requires_groups(tree):
    assert tree.require_group("g") == tree["g"]
    assert isinstance(tree.require_group("new"), blazarr.Group)
    assert len(tree.require_groups("g", "other")) == 2
    assert tree.require_groups() == ()
    with pytest.raises(TypeError, match="is an array"):
        tree.require_group("x")
    assert list(tree.require_group("g", overwrite=True)) == []


def test_requires_arrays(tree):
    assert tree.require_array("x", shape=(6,), dtype="i8") == tree["x"]
    assert tree.require_array("x", shape=6, dtype="f8") == tree["x"]
    made = tree.require_array("new", shape=(2,), chunks=(1,))
    assert made.dtype == np.dtype("f8")
    assert made.chunks == (1,)
    assert tree.require_array("x", shape=(6,), dtype="i8", config={"order": "F"}).order in "CF"
    with pytest.raises(TypeError, match="shape"):
        tree.require_array("x", shape=(5,), dtype="i8")
    with pytest.raises(TypeError, match="data type"):
        tree.require_array("x", shape=(6,), dtype="f8", exact=True)
    with pytest.raises(TypeError, match="data type"):
        tree.require_array("x", shape=(6,), dtype="i2")
    with pytest.raises(TypeError, match="is a group"):
        tree.require_array("g", shape=(6,))


def test_creates_arrays_with_a_value(group):
    assert group.zeros(name="zeros", shape=(2,))[...].tolist() == [0, 0]
    assert group.ones(name="ones", shape=(2,), dtype="i4")[...].tolist() == [1, 1]
    assert group.full(name="full", shape=(2,), fill_value=7)[...].tolist() == [7, 7]
    assert group.empty(name="empty", shape=(2,)).shape == (2,)
    source = group["full"]
    assert group.empty_like(name="e", data=source).shape == (2,)
    assert group.full_like(name="f", data=source, fill_value=3)[...].tolist() == [3, 3]
    assert group.zeros_like(name="z", data=source)[...].tolist() == [0, 0]
    assert group.ones_like(name="o", data=np.zeros(2))[...].tolist() == [1, 1]
    with pytest.raises(ValueError, match="format"):
        group.zeros(name="bad", shape=(1,), zarr_format=5 - group.metadata.zarr_format)


def test_sets_arrays(tree):
    tree["x"] = np.array([[1, 2], [3, 4]])
    assert tree["x"][...].tolist() == [[1, 2], [3, 4]]
    tree["new"] = np.float32(2)
    assert tree["new"].dtype == np.dtype("f4")


def test_deletes_members(tree):
    del tree["g"]
    assert list(tree) == ["x"]
    assert "g/y" not in tree
    del tree["g"]
    assert tree["x"][...].tolist() == list(range(6))


def test_moves_members(tree):
    tree.move("g", "a/b")
    assert sorted(path for path, _ in tree.members(None)) == ["a", "a/b", "a/b/h", "a/b/y", "x"]
    assert tree["a/b/y"].attrs.asdict() == {"unit": "m"}
    tree.move("x", "a/x")
    assert tree["a/x"][...].tolist() == list(range(6))
    with pytest.raises(KeyError):
        tree.move("x", "y")
    with pytest.raises(ExistsError):
        tree.move("a/x", "a/b")
    with pytest.raises(ValueError, match="inside"):
        tree.move("a", "a/c")


def test_read_only_groups_refuse_changes(tree):
    still = reopened(tree)
    assert still.read_only
    assert still["x"].read_only
    for change in (
        lambda: still.create_group("new"),
        lambda: still.create_array("new", shape=(1,), dtype="i4"),
        lambda: still.move("x", "y"),
        lambda: still.__delitem__("x"),
        lambda: still["x"].__setitem__(0, 1),
    ):
        with pytest.raises(ReadOnlyError):
            change()
    assert len(tree.members(None)) == 4


def test_pickles_and_compares(tree):
    clone = pickle.loads(pickle.dumps(tree))
    assert pickle.loads(pickle.dumps(tree.attrs)) == {"title": "t"}
    assert sorted(clone) == ["g", "x"]
    assert reopened(tree) == tree
    assert tree != tree["g"]
    assert tree != 1


def test_draws_a_tree(tree):
    text = repr(tree.tree())
    assert text.splitlines()[0] == "/"
    assert "├── g" in text
    assert "│   ├── h" in text
    assert "│   └── y (2, 2) float32" in text
    assert "└── x (6,) int64" in text
    assert "h" not in repr(tree.tree(level=0))
    assert "Truncated" in repr(tree.tree(max_nodes=1))
    assert "<b>x</b>" in tree.tree()._repr_mimebundle_()["text/html"]
    assert repr(blazarr.tree(tree)) == text


def test_info(tree):
    assert "No. members" not in repr(tree.info)
    complete = tree.info_complete()
    assert (complete.members, complete.arrays, complete.groups) == (4, 2, 2)
    assert "No. arrays  : 2" in repr(complete)


def test_creates_a_hierarchy(group, zarr_format):
    source = blazarr.zeros((2,), dtype="i4", zarr_format=zarr_format)
    empty = type(group.metadata)(zarr_format=zarr_format, attributes={"k": 1})
    nodes = {"a/b/x": source.metadata, "a": empty, "y/": source.metadata}
    made = dict(group.create_hierarchy(nodes))
    assert sorted(made) == ["a", "a/b", "a/b/x", "y"]
    assert sorted(path for path, _ in group.members(None)) == ["a", "a/b", "a/b/x", "y"]
    assert group["a"].attrs.asdict() == {"k": 1}
    with pytest.raises(ContainsArrayError):
        list(group.create_hierarchy({"new": empty, "y": source.metadata}))
    assert "new" not in group
    list(group.create_hierarchy({"a": empty}, overwrite=True))
    assert list(group["a"]) == []


def test_a_hierarchy_makes_and_yields_the_groups_it_needs(group, zarr_format):
    array = blazarr.zeros((2,), dtype="i4", zarr_format=zarr_format).metadata
    empty = type(group.metadata)(zarr_format=zarr_format)
    group.create_group("there/old", attributes={"k": 1})
    made = dict(group.create_hierarchy({"there/x": array, "new/x": array, "new/y": array}))
    assert sorted(made) == ["new", "new/x", "new/y", "there/x"]
    # What is overwritten takes "there/old" away, which the array below it needs.
    made = dict(group.create_hierarchy({"there": empty, "there/old/x": array}, overwrite=True))
    assert sorted(made) == ["there", "there/old", "there/old/x"]
    assert group["there/old"].attrs.asdict() == {}
    made = dict(group.create_hierarchy({"new/x": empty, "new/x/y": array}, overwrite=True))
    assert sorted(made) == ["new/x", "new/x/y"]
    with pytest.raises(ContainsArrayError):
        list(group.create_hierarchy({"fresh": empty, "new/y/z": array}, overwrite=True))
    assert "fresh" not in group
    with pytest.raises(ValueError, match="two entries"):
        list(group.create_hierarchy({"a": empty, "/a/": empty}))


def test_a_hierarchy_that_is_wrong_changes_nothing(group, zarr_format):
    source = blazarr.zeros((2,), dtype="i4", zarr_format=zarr_format)
    other = blazarr.zeros((2,), dtype="i4", zarr_format=5 - zarr_format)
    with pytest.raises(ContainsArrayError, match="cannot be below"):
        list(group.create_hierarchy({"x": source.metadata, "x/y": source.metadata}))
    with pytest.raises(ValueError, match="both"):
        list(group.create_hierarchy({"x": source.metadata, "y": other.metadata}))
    assert len(group) == 0


def test_folders_may_have_any_name(tmp_path):
    group = blazarr.open_group(tmp_path, mode="w")
    for name in ("a b", "é", "#", "%41", "a:b"):
        group.create_array(name, shape=(1,), dtype="i4")
    (tmp_path / "a\\b").mkdir()
    (tmp_path / "a\\b" / "zarr.json").write_bytes((tmp_path / "é" / "zarr.json").read_bytes())
    names = sorted(reopened(group))
    assert [name for name in names if "\\" not in name] == sorted(["a b", "é", "#", "%41", "a:b"])
    assert group["%41"].path == "%41"


def test_a_tree_reads_no_more_than_it_draws(monkeypatch):
    group = blazarr.open_group(mode="a")
    for number in range(5):
        group.create_array(f"{number}/x", shape=(1,), dtype="i4")
    read = []
    find = blazarr.nodes.members.documents.read_nodes
    monkeypatch.setattr(
        "blazarr.nodes.members.documents.read_nodes",
        lambda places, fmt: read.extend(places) or find(places, fmt),
    )
    group.tree(max_nodes=2)
    assert len(read) == 5


@pytest.mark.parametrize("name", ["", "/"])
def test_no_name_is_not_the_group_itself(group, name):
    group["x"] = np.arange(3)
    with pytest.raises(BlazarrError, match="not a member"):
        del group[name]
    with pytest.raises(BlazarrError, match="not a member"):
        group[name] = np.arange(4)
    assert list(group) == ["x"]


@pytest.mark.parametrize("wrong", [7, 1, "3"])
def test_a_wrong_format_deletes_nothing(tmp_path, wrong):
    blazarr.open_group(tmp_path, mode="w")["x"] = np.arange(3)
    with pytest.raises(BlazarrError, match="zarr_format"):
        blazarr.open_group(tmp_path, mode="w", zarr_format=wrong)
    assert list(blazarr.open_group(tmp_path, mode="r")) == ["x"]
