"""What replaces a place never takes away what it is about to read, whatever way leads there."""

import zipfile

import numpy as np
import pytest
import zarr

import blazarr
from blazarr.errors import BlazarrError, ExistsError
from blazarr.stores import LocalStore, LoggingStore, MemoryStore, PrefixStore, ZipStore
from blazarr.stores.fsspec import FsspecStore

VALUES = np.arange(12, dtype="i4").reshape(3, 4)


def stored(place, **options):
    return blazarr.create_array(place, data=VALUES, chunks=(2, 2), **options)


def unharmed(place):
    np.testing.assert_array_equal(blazarr.open_array(place, mode="r")[:], VALUES)


@pytest.fixture
def places(tmp_path):
    """Return an array in a folder, and all that is or holds this array."""
    folder = tmp_path / "data" / "x.zarr"
    stored(folder)
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "above").symlink_to(tmp_path / "data")
    fsspec = pytest.importorskip("fsspec")
    others = [
        folder,
        tmp_path / "data",
        tmp_path / "link",
        tmp_path / "above",
        f"file://{tmp_path}/above/x.zarr",
        LocalStore(tmp_path / "data"),
        LoggingStore(LocalStore(tmp_path / "link")),
        PrefixStore(LocalStore(tmp_path), "above"),
        FsspecStore(fsspec.filesystem("file"), str(tmp_path / "above")),
        zarr.storage.LocalStore(tmp_path / "above"),
        zarr.storage.LoggingStore(zarr.storage.LocalStore(tmp_path / "above")),
    ]
    return folder, others


def test_no_way_leads_around_the_check(places):
    folder, others = places
    array = blazarr.open_array(folder, mode="r")
    sources = [array, array.lazy[1:], zarr.open_array(folder, mode="r")]
    for other in others:
        with pytest.raises(BlazarrError, match="inside of"):
            blazarr.rechunk(folder, other, (3, 4), overwrite=True)
        for source in sources:
            with pytest.raises(BlazarrError, match="inside of"):
                blazarr.create_array(other, data=source, overwrite=True)
            with pytest.raises(BlazarrError, match="inside of"):
                blazarr.save_group(other, a=source)
        unharmed(folder)


def test_neighbours_are_other_places(places, tmp_path):
    folder, _ = places
    for name in ("data/x.zarr2", "data/x", "data/y.zarr"):
        blazarr.rechunk(folder, tmp_path / name, (3, 4), overwrite=True)
        unharmed(tmp_path / name)
    unharmed(folder)


def test_members_that_are_links_are_where_they_lead(tmp_path):
    stored(tmp_path / "real")
    group = blazarr.open_group(tmp_path / "group", mode="w")
    (tmp_path / "group" / "member").symlink_to(tmp_path / "real")
    assert list(group) == ["member"]
    with pytest.raises(BlazarrError, match="inside of"):
        blazarr.convert(group, tmp_path / "real", overwrite=True)
    unharmed(tmp_path / "real")


def test_a_folder_with_the_source_file_is_not_emptied(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a"] = VALUES
    with ZipStore(tmp_path / "x.zip", mode="w") as store:
        stored(store)
    for name in ("x.h5", "x.zip"):
        with pytest.raises(BlazarrError, match="inside of"):
            blazarr.convert(tmp_path / name, tmp_path, overwrite=True)
        blazarr.convert(tmp_path / name, tmp_path / f"{name}.zarr", overwrite=True)
    assert zipfile.is_zipfile(tmp_path / "x.zip")
    assert h5py.is_hdf5(tmp_path / "x.h5")


def test_memory_is_the_same_through_any_store():
    mapping = {}
    stored(mapping, name="a/x")
    for store in (mapping, MemoryStore(mapping), LoggingStore(MemoryStore(mapping))):
        with pytest.raises(BlazarrError, match="inside of"):
            blazarr.convert(mapping, store, path="a/x", target_path="a", overwrite=True)
    blazarr.convert(mapping, {}, path="a/x", overwrite=True)
    unharmed(blazarr.storage.StorePath(MemoryStore(mapping), "a/x"))


def test_a_copy_does_not_replace_what_it_copies():
    group = blazarr.create_group({})
    stored(group.store_path / "x")
    with pytest.raises(BlazarrError, match="inside of"):
        blazarr.copy(group, group, "x", if_exists="replace")
    unharmed(group.store_path / "x")


def test_a_copy_takes_what_lies_below_a_place_for_something():
    source, dest = blazarr.create_group({}), blazarr.create_group({})
    stored(source.store_path / "x")
    # No document says that x is a group; its member is there all the same.
    stored(below(dest, "x") / "y")
    with pytest.raises(ExistsError):
        blazarr.copy(source["x"], dest)
    unharmed(dest.store_path / "x/y")
    assert blazarr.copy(source["x"], dest, if_exists="replace").copied == 1


def below(group, folder):
    return blazarr.storage.StorePath(PrefixStore(group.store, folder))


def test_a_copy_keeps_a_group_of_the_other_format():
    source, dest = blazarr.create_group({}), blazarr.create_group({})
    source.create_group("x")
    old = blazarr.create_group(dest.store, path="x", zarr_format=2)
    stored(old.store_path / "y", zarr_format=2)
    with pytest.raises(ExistsError):
        blazarr.copy(source["x"], dest)
    unharmed(old.store_path / "y")


@pytest.mark.parametrize("name", ["", "/"])
def test_a_group_replaces_members_and_never_itself(name):
    group = blazarr.create_group({})
    stored(group.store_path / "a")
    for create in (
        lambda: group.create_array(name, shape=2, dtype="i4", overwrite=True),
        lambda: group.zeros(name=name, shape=2, overwrite=True),
        lambda: group.create_group(name, overwrite=True),
        lambda: group.require_group(name, overwrite=True),
        lambda: group.__setitem__(name, VALUES),
    ):
        with pytest.raises(BlazarrError, match="not a member"):
            create()
        unharmed(group.store_path / "a")


@pytest.mark.parametrize("names", [["../a", "b"], ["a", "a/b"], ["a", "a/"], ["", "b"]])
def test_names_that_cannot_be_saved_leave_the_old_group(tmp_path, names):
    stored(tmp_path)
    with pytest.raises(BlazarrError):
        blazarr.save_group(tmp_path, **dict.fromkeys(names, VALUES))
    unharmed(tmp_path)


def test_dask_does_not_replace_what_it_reads(tmp_path):
    da = pytest.importorskip("dask.array")
    from blazarr.distributed import from_dask, to_dask

    array = stored(tmp_path / "x")
    for values in (to_dask(array), da.from_array(array), da.from_zarr(tmp_path / "x")):
        with pytest.raises(BlazarrError, match="inside of"):
            from_dask(values * 2, tmp_path / "x", overwrite=True)
    unharmed(tmp_path / "x")
    np.testing.assert_array_equal(from_dask(to_dask(array), tmp_path / "y")[:], VALUES)


def test_folders_of_a_bucket_are_compared_by_their_urls():
    options = {"endpoint": "http://127.0.0.1:9", "access_key_id": "a", "secret_access_key": "b"}
    place = blazarr.storage.StorePath

    def at(url, path=""):
        return place(blazarr.storage.ObjectStore(url, storage_options=options), path)

    array = at("s3://bucket/data/x.zarr")
    assert array.overlaps(at("s3://bucket/data"))
    assert at("s3://bucket", "data/x.zarr/g").overlaps(array)
    assert not array.overlaps(at("s3://bucket/data/x.zarr2"))
    assert not array.overlaps(place(MemoryStore()))
