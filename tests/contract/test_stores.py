"""Every store of ours against the contract."""

import io
import zipfile
from contextlib import closing

import fsspec
import obstore.store
import pytest
import zarr

from blazarr.errors import ReadOnlyError
from blazarr.stores import (
    ANY,
    CacheStore,
    Capabilities,
    LocalStore,
    LoggingStore,
    MemoryStore,
    PrefixStore,
    RetryStore,
    Store,
    WrapperStore,
    ZipStore,
    store_from,
)
from blazarr.stores.fsspec import FsspecStore
from blazarr.testing.faults import FaultyStore
from blazarr.testing.store_contract import StoreContract


class TestLocal(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        return LocalStore(tmp_path / "a #folder")


class TestLocalDurable(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        return LocalStore(tmp_path, durability="fsync")

    test_long_listing = None  # takes half a minute of waiting for a disk


class TestLocalUnlocked(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        return LocalStore(tmp_path, locking="none")


class TestMemory(StoreContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()


class TestDict(StoreContract):
    @pytest.fixture
    def store(self):
        return MemoryStore({})


class TestWrapper(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        return WrapperStore(LocalStore(tmp_path))


class TestLogging(StoreContract):
    @pytest.fixture
    def store(self):
        return LoggingStore(MemoryStore())


class TestZip(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        with closing(ZipStore(tmp_path / "folder" / "a.zip", mode="a")) as store:
            yield store


class TestDeflatedZip(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        path = tmp_path / "a.zip"
        with closing(ZipStore(path, mode="w", compression=zipfile.ZIP_DEFLATED)) as store:
            yield store


class TestZipInMemory(StoreContract):
    @pytest.fixture
    def store(self):
        with closing(ZipStore(io.BytesIO(), mode="w")) as store:
            yield store


class Unversioned(StoreContract):
    """Stores without generations: those of parts that end before the value are equal to none."""

    def test_ranges(self, store):
        data = bytes(range(100))
        store.put("a/c/0", data)
        parts = (slice(0, 10), slice(5, 5), slice(90, 200), slice(200, 300), slice(7, None))
        for part in (*parts, slice(100, None), slice(-3, None), slice(-300, None)):
            assert bytes(store.get("a/c/0", part)[0]) == data[part]


class TestZarrPythonMemory(Unversioned):
    @pytest.fixture
    def store(self):
        return store_from(zarr.storage.MemoryStore())[0]

    test_pickle = None  # zarr-python's cannot


class TestZarrPythonObjectStore(Unversioned):
    @pytest.fixture
    def store(self):
        return store_from(zarr.storage.ObjectStore(obstore.store.MemoryStore()))[0]

    test_pickle = None  # memory is not shared between processes


class TestFsspecMemory(Unversioned):
    @pytest.fixture
    def store(self):
        fs = fsspec.filesystem("memory", skip_instance_cache=True)
        fs.store, fs.pseudo_dirs = {}, [""]
        return FsspecStore(fs, "/folder")

    test_pickle = None  # likewise


class TestFsspecFolder(Unversioned):
    @pytest.fixture
    def store(self, tmp_path):
        return store_from(fsspec.get_mapper(f"file://{tmp_path}/a"))[0]


class TestObstoreMemory(StoreContract):
    @pytest.fixture
    def store(self):
        return store_from(obstore.store.MemoryStore())[0]

    test_pickle = None  # obstore's memory is not shared between processes


class TestPrefix(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        inner = LocalStore(tmp_path)
        inner.put("beside", b"")
        inner.put("ab", b"")
        return PrefixStore(inner, "a")

    def test_the_rest_is_out_of_reach(self, store):
        store.delete_folder()
        assert list(store.store.keys()) == ["ab", "beside"]


class TestCacheInMemory(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        return CacheStore(LocalStore(tmp_path), MemoryStore(), max_size=1 << 20)


class TestCacheInAFolder(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        return CacheStore(LocalStore(tmp_path / "a"), LocalStore(tmp_path / "b"), max_size=5000)


class TestRetry(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        return RetryStore(LocalStore(tmp_path))


class TestFaulty(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        return FaultyStore(LocalStore(tmp_path), print)


class Minimal(Store):
    """What somebody may write in a few lines; everything else is inherited."""

    def __init__(self, values):
        self.values = values

    @property
    def capabilities(self):
        return Capabilities()

    def get(self, key, range=None):
        return MemoryStore(self.values).get(key, range)

    def put(self, key, data, if_generation=ANY):
        return MemoryStore(self.values).put(key, data)

    def delete(self, key, if_generation=ANY):
        return MemoryStore(self.values).delete(key)

    def list(self, prefix="", start_after=""):
        return MemoryStore(self.values).list(prefix, start_after)


class TestMinimal(StoreContract):
    @pytest.fixture
    def store(self):
        return Minimal({})

    def test_a_read_only_view_is_a_wrapper(self, store):
        view = store.with_read_only()
        assert view.with_read_only() is view
        with pytest.raises(ReadOnlyError):
            view.put("a", b"")
