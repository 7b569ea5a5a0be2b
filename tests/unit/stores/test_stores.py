"""What each store does beyond the contract."""

import pickle

import pytest

import blazarr
from blazarr.errors import BlazarrError, ConflictError, NotFoundError, ReadOnlyError, StoreError
from blazarr.stores import LocalStore, MemoryStore, PrefixStore, ReadOnlyStore, WrapperStore
from blazarr.stores.logged import LoggingStore


def test_local_stores_are_equal_by_folder_and_options(tmp_path):
    store = LocalStore(tmp_path)
    assert store == LocalStore(str(tmp_path)) != LocalStore(tmp_path, read_only=True)
    assert hash(store) == hash(LocalStore(tmp_path))
    assert pickle.loads(pickle.dumps(store)) == store
    read_only = LocalStore(tmp_path, read_only=True)
    assert pickle.loads(pickle.dumps(read_only)) == read_only
    assert str(store) == f"file://{tmp_path}"
    assert repr(read_only) == f"LocalStore({str(tmp_path)!r}, read_only=True)"


def test_memory_is_equal_and_pickled_by_content():
    store = MemoryStore()
    store.put("a/b", b"1")
    copy = pickle.loads(pickle.dumps(store))
    assert copy == store == MemoryStore({"a/b": b"1"}) != MemoryStore()
    copy.put("a/b", b"2")
    assert copy != store


def test_views_share_content():
    store = MemoryStore()
    view = store.with_read_only()
    store.put("a", b"1")
    assert view.size("a") == 1
    assert view.with_read_only(False) == store


def test_a_dict_is_shared_with_its_owner():
    values = {"a": bytearray(b"1")}
    store = MemoryStore(values)
    assert store.get("a")[0] == b"1"
    generation = store.get("a")[1]
    values["a"] = b"2"
    with pytest.raises(ConflictError) as caught:
        store.put("a", b"3", generation)
    assert caught.value.key == "a"
    assert values == {"a": b"2"}


def test_large_values_are_not_copied():
    store = MemoryStore()
    store.put("a", bytes(1 << 20))
    view = store.get("a")[0]
    assert isinstance(view, memoryview)
    assert view.readonly
    store.delete("a")
    assert view[-1] == 0


def test_generations_of_other_stores_are_refused(tmp_path):
    for store in (LocalStore(tmp_path), MemoryStore()):
        with pytest.raises((ValueError, TypeError)):
            store.put("a", b"", "not a generation")


def test_errors_name_the_place(tmp_path):
    store = LocalStore(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(StoreError) as caught:
        store.get("loop")
    assert caught.value.key == "loop"
    assert isinstance(caught.value.__cause__, OSError)
    with pytest.raises(BlazarrError) as caught:
        store.get("../x")
    assert (caught.value.kind, caught.value.key) == ("key", "../x")
    with pytest.raises(ReadOnlyError) as caught:
        store.with_read_only().put("a", b"")
    assert (caught.value.kind, caught.value.key) == ("read-only", "a")


def test_data_has_to_be_contiguous_bytes():
    store = MemoryStore()
    with pytest.raises(TypeError):
        store.put("a", memoryview(b"0123")[::2])
    with pytest.raises(TypeError):
        store.put("a", "text")


def test_wrappers_are_values(tmp_path):
    store = LocalStore(tmp_path)
    for wrapper in (ReadOnlyStore(store), PrefixStore(store, "a/b")):
        assert wrapper == pickle.loads(pickle.dumps(wrapper))
        assert hash(wrapper) == hash(pickle.loads(pickle.dumps(wrapper)))
    assert str(PrefixStore(store, "a/b")) == f"{store}/a/b"
    assert PrefixStore(store, "a/b").capabilities.local_path == tmp_path / "a/b"
    with pytest.raises(BlazarrError):
        PrefixStore(store, "../b").get("x")


def test_calls_are_logged_and_counted(caplog):
    store = LoggingStore(MemoryStore(), log_level="INFO")
    with caplog.at_level("INFO"):
        store.put("a", b"1")
        blazarr.open_group(store)
    assert store.counter["put"] == 2
    assert store.counter["get_many"] > 0
    assert any(".put('a')" in record.message for record in caplog.records)
    assert all(record.name == "blazarr.stores" for record in caplog.records)
    assert pickle.loads(pickle.dumps(store)) == store


def test_nothing_goes_around_a_wrapper(tmp_path):
    class Upper(WrapperStore):
        def get(self, key, range=None):
            data, generation = super().get(key, range)
            return bytes(data).upper(), generation

    store = Upper(LocalStore(tmp_path))
    store.put("a", b"text")
    assert store.get("a")[0] == b"TEXT"
    assert store.capabilities.local_path is None
    assert store.with_read_only().get("a")[0] == b"TEXT"


def test_metrics_of_a_logged_store():
    store = LoggingStore(MemoryStore())
    array = blazarr.create_array(store, shape=(6,), chunks=(3,), dtype="u1", compressors=None)
    array[:] = 1
    written = store.metrics["put"]
    assert (written.calls, written.failed) == (3, 0)
    assert written.bytes == 6 + store.size("zarr.json")
    assert list(array[:]) == [1] * 6
    assert store.metrics["get_many"].bytes == 6
    with pytest.raises(BlazarrError):
        store.put("../a", b"123")
    assert (store.metrics["put"].calls, store.metrics["put"].failed) == (4, 1)
    assert store.metrics["put"].bytes == written.bytes
    assert store.metrics["put"].seconds > written.seconds


def test_sizes_by_the_names_of_zarr_python():
    store = MemoryStore({"a/b": b"123", "a/c": b"4", "d": b""})
    assert store.exists("d")
    assert not store.exists("a")
    assert store.getsize("a/b") == 3
    assert store.getsize_prefix("a/") == 4
    with pytest.raises(NotFoundError, match="nope"):
        store.getsize("nope")
    store.delete_dir("a")
    assert list(store.keys()) == ["d"]
