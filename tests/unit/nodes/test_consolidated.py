"""Consolidated metadata: written, used instead of members' own, kept up where it is said to be."""

import copy
import json

import numpy as np
import pytest

import blazarr
from blazarr.errors import ConflictError, GroupNotFoundError


@pytest.fixture
def tree(group):
    group.attrs["title"] = "t"
    group.create_array("x", data=np.arange(6), chunks=(4,))
    group.create_array("g/y", shape=(2, 2), dtype="f4", attributes={"unit": "m"})
    group.create_group("g/h")
    return group


def opened(group, **kwargs):
    return blazarr.open_group(group.store, zarr_format=group.metadata.zarr_format, **kwargs)


class CountingStore(blazarr.stores.MemoryStore):
    """Counts reads."""

    reads = 0

    def get(self, key, range=None):
        self.reads += 1
        return super().get(key, range)

    def children(self, folder=""):
        self.reads += 1
        return super().children(folder)


def test_members_come_from_the_copy(zarr_format):
    store = CountingStore()
    group = blazarr.open_group(store, mode="w", zarr_format=zarr_format)
    group.create_array("a/b/x", shape=(2,), dtype="i4")
    blazarr.consolidate_metadata(store)
    found = blazarr.open_group(store, zarr_format=zarr_format)
    store.reads = 0
    assert sorted(path for path, _ in found.members(None)) == ["a", "a/b", "a/b/x"]
    assert found["a/b/x"].shape == (2,)
    assert list(found["a"]["b"]) == ["x"]
    assert "a/nope" not in found
    assert store.reads == 0


def stale(tree):
    """Return an array that was opened by consolidated metadata, and is changed by another handle."""
    blazarr.consolidate_metadata(tree.store)
    return opened(tree)["x"]


@pytest.mark.parametrize("handle", [lambda x: x, copy.copy, lambda x: x.with_config({})])
@pytest.mark.parametrize("write", [lambda x: x.__setitem__(5, 0), lambda x: x.__setitem__(..., 0)])
def test_a_stale_copy_does_not_cost_what_was_appended(tree, handle, write):
    array = handle(stale(tree))
    tree["x"].append(np.array([8, 9]))
    write(array)
    assert array.shape == tree["x"].shape == (8,)
    assert tree["x"][5:].tolist() == [0, 8, 9]


def test_a_stale_copy_of_another_array_is_refused(tree):
    array = stale(tree)
    tree["x"].resize(3)
    with pytest.raises(ConflictError, match="consolidate_metadata"):
        array[:] = 0
    array = stale(tree)
    tree.create_array("x", data=np.arange(6.0), overwrite=True)
    with pytest.raises(ConflictError, match="float64"):
        array[0] = 1
    assert tree["x"][:].tolist() == [0, 1, 2, 3, 4, 5]


def test_a_copy_without_the_arrays_own_document_is_enough(tree):
    array = stale(tree)
    for name in ("zarr.json", ".zarray", ".zattrs"):
        tree.store.delete(f"x/{name}")
    array[:] = 7
    assert opened(tree)["x"][:].tolist() == [7] * 6


def test_a_deletion_keeps_what_others_have_consolidated_since(tree):
    blazarr.consolidate_metadata(tree.store)
    earlier = opened(tree)
    tree.create_array("z", shape=1, dtype="i4")
    blazarr.consolidate_metadata(tree.store)
    del earlier["x"]
    assert sorted(opened(tree, use_consolidated=True)) == sorted(earlier) == ["g", "z"]


def test_consolidates(tree):
    whole = blazarr.consolidate_metadata(tree.store, zarr_format=tree.metadata.zarr_format)
    assert sorted(whole.metadata.consolidated_metadata) == ["g", "g/h", "g/y", "x"]
    for found in (
        whole,
        opened(tree),
        opened(tree, use_consolidated=True),
        blazarr.open_consolidated(tree.store, zarr_format=tree.metadata.zarr_format),
    ):
        assert sorted(path for path, _ in found.members(None)) == ["g", "g/h", "g/y", "x"]
        assert found.attrs.asdict() == {"title": "t"}
        assert found["g/y"].attrs.asdict() == {"unit": "m"}
        assert found["x"][...].tolist() == list(range(6))
        assert found.info.members == 4
    assert opened(tree, use_consolidated=False).metadata.consolidated_metadata is None


def test_it_goes_stale_by_design(tree):
    blazarr.consolidate_metadata(tree.store)
    tree.create_array("new", shape=(1,), dtype="i4")
    assert "new" not in opened(tree)
    assert "new" in opened(tree, use_consolidated=False)
    blazarr.consolidate_metadata(tree.store)
    assert "new" in opened(tree)


def test_it_has_to_be_there_when_asked_for(tree):
    with pytest.raises(ValueError, match="no consolidated metadata"):
        opened(tree, mode="r", use_consolidated=True)
    with pytest.raises(TypeError):
        blazarr.open_consolidated(tree.store, use_consolidated=False)


def test_deleting_a_member_takes_it_out(tree):
    blazarr.consolidate_metadata(tree.store)
    found = opened(tree)
    del found["g"]
    assert list(found) == ["x"]
    assert list(opened(tree)) == ["x"]


def test_attributes_keep_it(tree):
    blazarr.consolidate_metadata(tree.store)
    tree.attrs["b"] = 1
    again = opened(tree)
    assert again.metadata.consolidated_metadata is not None
    assert again.attrs.asdict() == {"title": "t", "b": 1}
    again.attrs["c"] = 2
    assert again.metadata.consolidated_metadata is not None


def test_part_of_a_hierarchy(tree):
    part = blazarr.consolidate_metadata(tree.store, path="g")
    assert sorted(part.metadata.consolidated_metadata) == ["h", "y"]
    assert opened(tree).metadata.consolidated_metadata is None
    assert opened(tree)["g"].metadata.consolidated_metadata is None or list(part) == ["h", "y"]


def test_format_2_opens_by_the_copy_alone(tmp_path):
    group = blazarr.open_group(tmp_path, mode="w", zarr_format=2, attributes={"title": "t"})
    group.create_array("x", data=np.arange(3), chunks=(3,))
    blazarr.consolidate_metadata(tmp_path)
    (tmp_path / ".zmetadata").rename(tmp_path / "meta")
    for name in (".zgroup", ".zattrs", "x/.zarray", "x/.zattrs"):
        (tmp_path / name).unlink()
    with pytest.raises(GroupNotFoundError):
        blazarr.open_group(tmp_path, mode="r")
    found = blazarr.open_group(tmp_path, mode="r", use_consolidated="meta")
    assert found["x"][...].tolist() == [0, 1, 2]
    assert found.attrs.asdict() == {"title": "t"}
    (tmp_path / "meta").rename(tmp_path / ".zmetadata")
    assert list(blazarr.open_group(tmp_path, mode="r")) == ["x"]
    assert list(blazarr.open(tmp_path, mode="r")) == ["x"]


def test_groups_that_only_their_members_name(tmp_path):
    group = blazarr.open_group(tmp_path, mode="w")
    group.create_array("g/x", shape=(1,), dtype="i4")
    blazarr.consolidate_metadata(tmp_path)
    path = tmp_path / "zarr.json"
    document = json.loads(path.read_text())
    del document["consolidated_metadata"]["metadata"]["g"]
    path.write_text(json.dumps(document))
    found = blazarr.open_group(tmp_path)
    assert list(found) == ["g"]
    assert list(found["g"]) == ["x"]


@pytest.mark.parametrize("fmt", [2, 3])
def test_zarr_python_reads_it(tmp_path, fmt):
    zarr = pytest.importorskip("zarr")
    group = blazarr.open_group(tmp_path, mode="w", zarr_format=fmt)
    group.create_array("g/x", data=np.arange(4))
    group.create_group("h")
    blazarr.consolidate_metadata(tmp_path)
    found = zarr.open_consolidated(tmp_path, mode="r")
    assert sorted(path for path, _ in found.members(None)) == ["g", "g/x", "h"]
    assert found["g/x"][...].tolist() == [0, 1, 2, 3]


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.parametrize("fmt", [2, 3])
def test_zarr_python_writes_it(tmp_path, fmt):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(tmp_path, mode="w", zarr_format=fmt)
    group.create_array("g/x", data=np.arange(4))
    group.create_group("h")
    zarr.consolidate_metadata(tmp_path)
    found = blazarr.open_consolidated(tmp_path, mode="r")
    assert sorted(path for path, _ in found.members(None)) == ["g", "g/x", "h"]
    assert found["g/x"][...].tolist() == [0, 1, 2, 3]
