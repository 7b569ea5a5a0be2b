"""What stores around others add."""

import numpy as np
import pytest

import blazarr
from blazarr.errors import BlazarrError, ConflictError, StoreError
from blazarr.stores import (
    ABSENT,
    CacheStore,
    LocalStore,
    MemoryStore,
    RetryStore,
)
from blazarr.testing.faults import Fail, FaultyStore


def nothing(call):
    """No fault."""


class TestCache:
    def test_chunks_are_asked_for_once(self, tmp_path):
        inner = FaultyStore(LocalStore(tmp_path), nothing)
        values = np.arange(600, dtype="u2").reshape(20, 30)
        blazarr.create_array(inner.store, shards=(10, 10), chunks=(5, 5), data=values)
        cached = CacheStore(inner, MemoryStore())
        array = blazarr.open_array(cached, mode="r")
        assert np.array_equal(array[:], values)
        asked = len(inner.calls)
        assert np.array_equal(array[:], values)
        assert len(inner.calls) == asked
        cached.clear()
        assert np.array_equal(array[3:7], values[3:7])
        assert len(inner.calls) > asked

    def test_no_more_is_kept_than_fits(self, tmp_path):
        kept = MemoryStore()
        store = CacheStore(LocalStore(tmp_path), kept, max_size=4000)
        for number in range(10):
            store.put(f"c/{number}", bytes(1000))
        for number in range(10):
            store.get(f"c/{number}")
        sizes = [size for page in kept.list() for _, size in page]
        assert 1 < len(sizes) <= 3
        assert sum(sizes) <= 4000
        store.put("c/big", bytes(9000))
        assert len(store.get("c/big")[0]) == 9000
        assert sum(size for page in kept.list() for _, size in page) <= 4000

    def test_what_is_used_stays(self, tmp_path):
        inner = FaultyStore(LocalStore(tmp_path), nothing)
        store = CacheStore(inner, MemoryStore(), max_size=2400)
        for key in ("c/0", "c/1", "c/2"):
            inner.store.put(key, bytes(1000))
        for key in ("c/0", "c/1", "c/0", "c/2", "c/0"):
            store.get(key)
        assert [call.key for call in inner.calls] == ["c/0", "c/1", "c/2"]

    def test_own_changes_are_seen_at_once(self, tmp_path):
        store = CacheStore(LocalStore(tmp_path), MemoryStore())
        store.put("c/0", b"first")
        assert store.get("c/0", slice(0, 2))[0] == b"fi"
        assert store.get("c/0")[0] == b"first"
        store.put("c/0", b"second")
        assert store.get("c/0", slice(0, 2))[0] == b"se"
        assert store.get("c/0")[0] == b"second"
        store.delete("c/0")
        assert store.get("c/0") is None

    def test_a_lost_race_brings_the_new_value(self, tmp_path):
        inner = LocalStore(tmp_path)
        store = CacheStore(inner, MemoryStore())
        store.put("c/0", b"1")
        _, generation = store.get("c/0")
        inner.put("c/0", b"2")
        assert store.get("c/0")[0] == b"1"
        with pytest.raises(ConflictError):
            store.put("c/0", b"3", generation)
        assert store.get("c/0")[0] == b"2"

    def test_old_values_are_asked_for_again(self, tmp_path):
        inner = LocalStore(tmp_path)
        store = CacheStore(inner, MemoryStore(), max_age_seconds=0)
        store.put("c/0", b"1")
        store.get("c/0")
        inner.put("c/0", b"2")
        assert store.get("c/0")[0] == b"2"

    def test_a_folder_serves_the_next_process(self, tmp_path):
        inner = FaultyStore(LocalStore(tmp_path / "a"), nothing)
        folder = LocalStore(tmp_path / "b")
        inner.store.put("c/0", b"value")
        first = CacheStore(inner, folder, max_size=10_000).get("c/0")
        again = CacheStore(inner, folder, max_size=10_000)
        assert again.get("c/0") == first
        assert len(inner.calls) == 1

    def test_damaged_and_foreign_values_are_not_given(self, tmp_path):
        inner, kept = LocalStore(tmp_path), MemoryStore()
        store = CacheStore(inner, kept)
        for key in ("c/0", "c/1"):
            inner.put(key, key.encode())
            store.get(key)
        first, second = kept.keys()
        stored = bytes(kept.get(first)[0])
        for wrong in (b"", b"BZC1", stored[:-1] + b"?", bytes(kept.get(second)[0])):
            kept.put(first, wrong)
            assert store.get("c/0")[0] == b"c/0"
            assert store.get("c/1")[0] == b"c/1"

    def test_documents_are_not_kept(self, tmp_path):
        inner, kept = LocalStore(tmp_path), MemoryStore()
        store = CacheStore(inner, kept)
        inner.put("a/zarr.json", b"{}")
        store.get("a/zarr.json")
        assert not list(kept.keys())

    def test_a_cache_that_cannot_be_written(self, tmp_path):
        with pytest.raises(BlazarrError, match="writable"):
            CacheStore(LocalStore(tmp_path), MemoryStore(read_only=True))


class TestRetry:
    def retrying(self, store, fault, **options):
        return RetryStore(FaultyStore(store, fault), first_pause=0.001, **options)

    @pytest.mark.parametrize("nth", range(1, 12))
    def test_every_call_may_fail_once(self, tmp_path, nth):
        store = self.retrying(LocalStore(tmp_path), Fail(nth))
        store.put("a/b", b"1")
        store.put("a/c", b"2")
        assert store.get("a/b")[0] == b"1"
        assert [item[0] for item in store.get_many(["a/c", "a/b"])] == [b"2", b"1"]
        assert store.size("a/c") == 1
        assert list(store.keys()) == ["a/b", "a/c"]
        assert store.children("a").keys == ["b", "c"]
        store.delete("a/b")
        store.delete_folder("a")
        assert list(store.keys()) == []

    def test_it_gives_up(self, tmp_path):
        store = self.retrying(LocalStore(tmp_path), Fail(1, ever=True), tries=3)
        with pytest.raises(StoreError, match="told to fail") as caught:
            store.get("a")
        assert caught.value.attempts == 3
        assert len(store.store.calls) == 3

    def test_the_deadline_is_for_all_tries(self, tmp_path):
        fault = Fail(1, ever=True)
        store = RetryStore(FaultyStore(LocalStore(tmp_path), fault), deadline=0.0)
        with pytest.raises(StoreError) as caught:
            store.get("a")
        assert (caught.value.kind, caught.value.attempts) == ("deadline", 1)

    def test_what_stays_is_not_asked_again(self, tmp_path):
        def refused(call):
            return StoreError("no", kind="permission")

        store = self.retrying(LocalStore(tmp_path), Fail(1, ever=True, error=refused))
        with pytest.raises(StoreError, match="no"):
            store.get("a")
        assert len(store.store.calls) == 1

    def test_nor_is_a_write_on_condition(self, tmp_path):
        store = self.retrying(LocalStore(tmp_path), Fail(1))
        with pytest.raises(StoreError):
            store.put("a", b"", ABSENT)
        assert len(store.store.calls) == 1

    def test_a_listing_goes_on_where_it_broke_off(self):
        class Breaking(MemoryStore):
            broken = False

            def list(self, prefix="", start_after=""):
                for number, page in enumerate(super().list(prefix, start_after)):
                    if number == 2 and not self.broken:
                        self.broken = True
                        raise StoreError("it broke off")
                    yield page

        inner = Breaking()
        keys = [f"{number:05}" for number in range(3500)]
        for key in keys:
            inner.put(key, b"")
        store = RetryStore(inner, first_pause=0.001)
        assert list(store.keys()) == keys
        assert inner.broken


class TestFaulty:
    def test_every_call_of_a_write_fails_once(self, tmp_path):
        """An error of the store is an error of the call, and what was there stays readable."""
        values = np.arange(100, dtype="u2").reshape(10, 10)
        done = False
        for nth in range(1, 100):
            inner = LocalStore(tmp_path / str(nth))
            array = blazarr.create_array(inner, chunks=(4, 4), data=values)
            store = FaultyStore(inner, Fail(nth))
            try:
                blazarr.open_array(store, mode="r+")[3:9, 2:5] = 7
                done = True
            except StoreError:
                pass
            found = array[:]
            assert np.array_equal(found[found != 7], values[found != 7])
            if done:
                break
        assert done
        assert nth > 6

    def test_only_some_verbs_count(self, tmp_path):
        store = FaultyStore(LocalStore(tmp_path), Fail(2, ever=True, verbs=["put"]))
        store.put("a", b"")
        store.get("a")
        for _ in range(2):
            with pytest.raises(StoreError):
                store.put("a", b"")
        assert [call.verb for call in store.calls] == ["put", "get", "put", "put"]
