"""Stores and URLs of other libraries."""

import sys
from datetime import timedelta

import fsspec
import numpy as np
import obstore
import pytest
import upath
import zarr
from obstore.store import HTTPStore, S3Store
from zarr.abc.store import RangeByteRequest

import blazarr
from blazarr.errors import BlazarrError, ConflictError, ReadOnlyError, UnsupportedError
from blazarr.stores import LocalStore, MemoryStore, store_from
from blazarr.stores.fsspec import FsspecStore
from blazarr.stores.object_store import ObjectStore
from blazarr.stores.zarr_python import ZarrPythonStore

VALUES = np.arange(600, dtype="u2").reshape(20, 30)


def filled(store, **options):
    """A sharded array, written through a store and read back by zarr-python's side of it."""
    array = blazarr.create_array(
        store, shape=(20, 30), chunks=(5, 5), shards=(10, 10), dtype="u2", **options
    )
    array[:] = VALUES
    array[3:5, 7] = 9
    array.attrs["note"] = "ü"
    return array


def check(store, **options):
    expected = VALUES.copy()
    expected[3:5, 7] = 9
    array = blazarr.open_array(store, mode="r", **options)
    assert np.array_equal(array[:], expected)
    assert np.array_equal(array[17:2:-3, [1, 8]], expected[17:2:-3, [1, 8]])
    assert array.attrs["note"] == "ü"


def test_stores_of_zarr_python(tmp_path):
    memory = zarr.storage.MemoryStore()
    filled(memory, name="a/b")
    check(memory, path="a/b")
    assert zarr.open_array(memory, path="a/b", mode="r")[19, 29] == 599
    group = blazarr.open_group(memory, mode="r")
    assert sorted(group.keys()) == ["a"]
    wrapped = zarr.storage.WrapperStore(memory)
    check(wrapped, path="a/b")
    check(zarr.storage.StorePath(memory, "a/b"))
    with pytest.raises(ReadOnlyError):
        blazarr.open_array(memory.with_read_only(True), path="a/b", mode="r+")


class Strict(zarr.storage.WrapperStore):
    """As Icechunk's: what lies beyond the end of a value is an error."""

    async def get(self, key, prototype, byte_range=None):
        if isinstance(byte_range, RangeByteRequest) and await self.exists(key):
            assert byte_range.end <= await self.getsize(key)
        return await super().get(key, prototype, byte_range)


def test_a_store_that_cuts_nothing_off():
    store = Strict(zarr.storage.MemoryStore())
    filled(store)
    check(store)
    assert store_from(store)[0].get("zarr.json", slice(1 << 20, 1 << 30))[0] == b""


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_local_store_of_zarr_python_is_our_own(tmp_path):
    found, _ = store_from(zarr.storage.LocalStore(tmp_path, read_only=True))
    assert found == LocalStore(tmp_path, read_only=True)
    archive = zarr.storage.ZipStore(tmp_path / "a.zip", mode="w")
    filled(archive)
    archive.close()
    check(tmp_path / "a.zip")


def test_stores_of_obstore():
    memory = obstore.store.MemoryStore()
    filled(memory)
    check(memory)
    store = store_from(memory)[0]
    assert store.capabilities.conditional
    generation = store.get("zarr.json")[1]
    store.put("zarr.json", bytes(store.get("zarr.json")[0]), generation)
    with pytest.raises(ConflictError):
        store.put("zarr.json", b"{}", generation)
    with pytest.raises(BlazarrError, match="generation"):
        store.put("zarr.json", b"{}", b"something else")


def test_fsspec(tmp_path):
    url = f"memory://{tmp_path}/a"
    filled(url)
    check(url)
    check(fsspec.get_mapper(url))
    check(upath.UPath(url))
    assert isinstance(store_from(upath.UPath(url))[0], FsspecStore)
    assert store_from(upath.UPath(tmp_path))[0] == LocalStore(tmp_path)
    check(f"simplecache::{url}")


def test_references_of_kerchunk(tmp_path):
    (tmp_path / "data").write_bytes(b"head" + VALUES.tobytes())
    blazarr.create_array(
        documents := {},
        shape=(20, 30),
        chunks=(20, 30),
        dtype="u2",
        zarr_format=2,
        compressors=None,
    )
    refs = {f"a/{key}": value.decode() for key, value in documents.items()}
    refs |= {".zgroup": '{"zarr_format": 2}', "a/0.0": [str(tmp_path / "data"), 4, 1200]}
    options = {"fo": {"version": 1, "refs": refs}}
    group = blazarr.open_group("reference://", mode="r", storage_options=options)
    assert list(group.keys()) == ["a"]
    assert np.array_equal(group["a"][:], VALUES)


def test_a_failing_file_system_is_an_error_and_never_a_missing_chunk(monkeypatch, tmp_path):
    url = f"memory://{tmp_path}/a"
    filled(url)
    fs = type(fsspec.filesystem("memory"))
    original = fs.cat_file

    def failing(self, path, **options):
        if "/c/" in path:
            raise PermissionError("no")
        return original(self, path, **options)

    monkeypatch.setattr(fs, "cat_file", failing)
    with pytest.raises(blazarr.errors.StoreError, match="PermissionError"):
        blazarr.open_array(url, mode="r")[:]


def test_urls():
    def options(url, **storage_options):
        return store_from(url, None, storage_options)[0].store

    found = options("s3://bucket/a/b", endpoint_url="http://host:1", key="k", secret="s")
    assert isinstance(found, S3Store)
    assert found.prefix == "a/b"
    assert found.config["endpoint"] == "http://host:1"
    assert found.config["access_key_id"] == "k"
    assert "skip_signature" not in found.config
    assert found.retry_config["retry_timeout"] == timedelta(seconds=60)
    anonymous = options("s3://bucket/a", anonymous=True)
    assert anonymous.config["skip_signature"] in {True, "true"}
    assert isinstance(options("https://host/a"), HTTPStore)
    assert store_from("https://host/a")[0].read_only
    with pytest.raises(BlazarrError, match="endpoint"):
        options("https://host/a", endpoint_url="x")
    with pytest.raises(BlazarrError):
        options("s3://bucket/a", no_such_option="x")
    store = store_from("s3://bucket/a", "r", {"requests": 7, "deadline": 5, "anon": True})[0]
    assert store.read_only


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(UnsupportedError, match="pip install obstore"):
        store_from("s3://bucket/a")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(UnsupportedError, match="pip install fsspec"):
        store_from("ftp://host/a")


def test_equality():
    memory = zarr.storage.MemoryStore()
    assert ZarrPythonStore(memory) == ZarrPythonStore(memory)
    assert ZarrPythonStore(memory) != MemoryStore()
    first, second = obstore.store.MemoryStore(), obstore.store.MemoryStore()
    assert ObjectStore(first) == ObjectStore(first)
    assert ObjectStore(first) != ObjectStore(second)
    assert FsspecStore.from_url("memory://a") == FsspecStore.from_url("memory://a/")
    assert FsspecStore.from_url("memory://a") != FsspecStore.from_url("memory://b")
