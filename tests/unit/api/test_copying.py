"""`copy`, `copy_all` and `copy_store`."""

import io

import numpy as np
import pytest

import blazarr
from blazarr.errors import BlazarrError, ExistsError, ReadOnlyError


@pytest.fixture(params=[(2, 2), (3, 3), (2, 3), (3, 2)], ids="v{0[0]}-to-v{0[1]}".format)
def groups(request):
    """A hierarchy (arrays x and g/y, groups g and g/h) and an empty group."""
    source, dest = (blazarr.create_group({}, zarr_format=number) for number in request.param)
    source.create_array("x", data=np.arange(6), chunks=(4,), attributes={"unit": "m"})
    source.create_array("g/y", shape=(2, 2), dtype="f4", fill_value=3)
    source["g"].attrs["a"] = 1
    source.create_group("g/h")
    return source, dest


def test_copies_an_array(groups):
    source, dest = groups
    assert blazarr.copy(source["x"], dest) == (1, 0, 48)
    copied = dest["x"]
    assert copied.metadata.zarr_format == dest.metadata.zarr_format
    assert copied[...].tolist() == list(range(6))
    assert (copied.chunks, copied.attrs.asdict()) == ((4,), {"unit": "m"})
    assert blazarr.copy(source["x"], dest, "a/b", without_attrs=True, chunks=(3,)) == (1, 0, 48)
    assert (dest["a/b"].chunks, dest["a/b"].attrs.asdict()) == ((3,), {})


def test_copies_a_hierarchy(groups):
    source, dest = groups
    assert blazarr.copy(source["g"], dest) == (3, 0, 16)
    assert sorted(path for path, _ in dest.members(None)) == ["g", "g/h", "g/y"]
    assert dest["g"].attrs.asdict() == {"a": 1}
    assert (dest["g/y"][...] == 3).all()
    assert blazarr.copy(source["g"], dest, "flat", shallow=True) == (2, 0, 16)
    assert list(dest["flat"]) == ["y"]


def test_copies_all_members(groups):
    source, dest = groups
    log = io.StringIO()
    assert blazarr.copy_all(source, dest, log=log, dry_run=True) == (4, 0, 0)
    assert len(dest) == 0
    assert "copy /x (6,) int64" in log.getvalue().splitlines()
    assert blazarr.copy_all(source, dest) == (4, 0, 64)
    assert dict(dest.members(None)).keys() == dict(source.members(None)).keys()


def test_keys_that_would_be_replaced_before_they_are_read():
    store = blazarr.storage.MemoryStore()
    for path in ("", "a", "a/a"):
        blazarr.create_group(store, path=path, attributes={"path": path})
    with pytest.raises(BlazarrError, match="inside of"):
        blazarr.copy_store(store, store, "a", "", if_exists="replace")
    assert blazarr.open_group(store, path="a").attrs["path"] == "a"
    assert blazarr.copy_store(store, store, "a", "b").copied == 2


def test_what_is_there_already(groups):
    source, dest = groups
    dest.create_array("x", shape=(6,), chunks=(6,), dtype="i8")
    with pytest.raises(ExistsError):
        blazarr.copy_all(source, dest)
    assert list(dest) == ["x"]
    assert blazarr.copy_all(source, dest, if_exists="skip") == (3, 1, 16)
    assert dest["x"][...].tolist() == [0] * 6
    assert blazarr.copy(source["x"], dest, if_exists="skip_initialized") == (1, 0, 48)
    assert blazarr.copy(source["x"], dest, if_exists="skip_initialized") == (0, 1, 0)
    dest["x"][:] = 0
    assert blazarr.copy(source["x"], dest, if_exists="replace") == (1, 0, 48)
    assert dest["x"][...].tolist() == list(range(6))
    with pytest.raises(BlazarrError, match="if_exists"):
        blazarr.copy(source["x"], dest, if_exists="maybe")


def test_a_copy_may_lie_in_its_source():
    group = blazarr.create_group({})
    group.create_array("g/x", data=np.arange(3))
    assert blazarr.copy(group["g"], group, "g/copy").copied == 2
    assert sorted(path for path, _ in group.members(None)) == ["g", "g/copy", "g/copy/x", "g/x"]
    with pytest.raises(BlazarrError):
        blazarr.copy(group["g/x"], group, "g", if_exists="replace")
    assert group["g/x"][...].tolist() == [0, 1, 2]


def test_copies_a_store(tmp_path):
    source = {"a/zarr.json": b"1", "a/c/0": b"23", "b": b"4"}
    assert blazarr.copy_store(source, tmp_path, source_path="a", dest_path="z") == (2, 0, 3)
    assert (tmp_path / "z" / "c" / "0").read_bytes() == b"23"
    with pytest.raises(ExistsError):
        blazarr.copy_store(source, tmp_path, "a", "z")
    found = blazarr.copy_store(source, tmp_path, "a", "z", excludes="c/", if_exists="skip")
    assert found == (0, 1, 0)
    found = blazarr.copy_store(
        source, tmp_path, "a", "z", excludes=["."], includes=["c/"], if_exists="replace"
    )
    assert found == (1, 0, 2)
    assert blazarr.copy_store(source, {}, dry_run=True) == (3, 0, 0)
    with pytest.raises(ReadOnlyError):
        blazarr.copy_store(source, blazarr.storage.MemoryStore({}, read_only=True))
