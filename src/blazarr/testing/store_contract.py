"""What every store has to do, as tests that any implementation can run.

::

    from blazarr.testing.store_contract import StoreContract

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self):
            return MyStore()

The store has to be empty and writable. Tests of what `capabilities` doesn't claim pass without
looking.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from blazarr.errors import BlazarrError, ConflictError
from blazarr.stores import ABSENT, ANY, Children, Store

BAD_KEYS = ("", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b", "a\0b", "a.__lock")
UNUSUAL_KEYS = ("a b", "ü/ß", "%20#?", "...", ".hidden", "a" * 200, "zarr.json/c", "c.0.0", "~")


class StoreContract:
    """Tests of one store; subclasses have a fixture ``store``."""

    def test_missing_keys(self, store: Store) -> None:
        """What is not there is None, and not an error to delete."""
        store.put("a/b", b"1")
        for key in ("b", "a/c", "a/b/c"):
            assert store.get(key) is None
            assert store.get(key, slice(0, 1)) is None
            assert store.size(key) is None
            assert store.delete(key) is False

    def test_values_come_back(self, store: Store) -> None:
        """What was put last is got, whatever its size and type."""
        for length in (0, 1, 1000, 1 << 20):
            data = bytes(i % 251 for i in range(length))
            for value in (data, bytearray(data), memoryview(data)):
                store.put("a/b/c", value)
                assert value_of(store, "a/b/c") == data
                assert store.size("a/b/c") == length

    def test_unusual_keys(self, store: Store) -> None:
        """A key is not a URL, a pattern or a shell word."""
        for key in UNUSUAL_KEYS:
            store.put(key, key.encode())
        for key in UNUSUAL_KEYS:
            assert value_of(store, key) == key.encode()
        assert list(store.keys()) == sorted(UNUSUAL_KEYS)

    def test_bad_keys(self, store: Store) -> None:
        """A key cannot leave the store or have a second spelling."""
        for key in BAD_KEYS:
            with raises(BlazarrError):
                store.get(key)
            with raises(BlazarrError):
                store.put(key, b"1")
            with raises(BlazarrError):
                store.delete(key)
        assert list(store.keys()) == []

    def test_ranges(self, store: Store) -> None:
        """A part is what the same slice of the value is."""
        data = bytes(range(100))
        for key in ("a/c/0", "a/zarr.json"):
            generation = store.put(key, data)
            for part in (slice(0, 10), slice(5, 5), slice(90, 200), slice(200, 300)):
                assert store.get(key, part) == (data[part], generation)
            for part in (slice(7, None), slice(100, None), slice(-3, None), slice(-300, None)):
                assert store.get(key, part) == (data[part], generation)

    def test_ranges_that_are_none(self, store: Store) -> None:
        """Steps, and ends counted from the end, are refused."""
        store.put("a", b"0123456789")
        for part in (slice(0, 4, 2), slice(0, -1), slice(-4, -2), slice(4, 2)):
            with raises(ValueError):
                store.get("a", part)

    def test_many(self, store: Store) -> None:
        """Many answers come in the order of the questions."""
        for key in "abc":
            store.put(key, key.encode() * 3)
        found = store.get_many(["c", "missing", "a", "c"])
        assert [item and bytes(item[0]) for item in found] == [b"ccc", None, b"aaa", b"ccc"]
        found = store.get_many(["b", "missing", "b"], [slice(1, 2), slice(0, 1), None])
        assert [item and bytes(item[0]) for item in found] == [b"b", None, b"bbb"]
        assert store.get_many([]) == []

    def test_generations(self, store: Store) -> None:
        """A generation stays while the value does, and goes with it."""
        for key in ("a/c/0", "a/zarr.json"):
            first = store.put(key, b"1")
            assert generation_of(store, key) == generation_of(store, key) == first
            second = store.put(key, b"2")
            assert second != first
            assert generation_of(store, key) == second

    def test_conditions(self, store: Store) -> None:
        """A write whose condition does not hold changes nothing."""
        if not store.capabilities.conditional:
            return
        for key in ("a/c/0", "a/zarr.json"):
            first = store.put(key, b"1", ABSENT)
            with raises(ConflictError):
                store.put(key, b"2", ABSENT)
            second = store.put(key, b"2", first)
            for stale in (first, ABSENT):
                with raises(ConflictError):
                    store.put(key, b"3", stale)
                with raises(ConflictError):
                    store.delete(key, stale)
            assert value_of(store, key) == b"2"
            assert store.delete(key, second) is True
            with raises(ConflictError):
                store.put(key, b"3", second)
            assert store.get(key) is None
            store.put(key, b"4", ANY)
            assert store.delete(key, ANY) is True

    def test_no_update_is_lost(self, store: Store) -> None:
        """Of writers who read, change and write on condition, all succeed in the end."""
        if not store.capabilities.conditional:
            return
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: increment(store, "a/zarr.json", i, 25), range(8)))
            list(pool.map(lambda i: increment(store, "a/c/0", i, 25), range(8)))
        assert value_of(store, "a/zarr.json") == value_of(store, "a/c/0") == bytes([25] * 8)

    def test_listing(self, store: Store) -> None:
        """Keys are listed in order, with their sizes, from any place on."""
        keys = sorted(("zarr.json", "a.b", "a/zarr.json", "a/c/0", "a/c/10", "a/c/9", "a0", "b/x"))
        for key in keys:
            store.put(key, key.encode())
        listed = list(itertools.chain(*store.list()))
        assert listed == [(key, len(key)) for key in keys]
        for prefix, after in itertools.product(
            ("", "a", "a/", "a/c/1", "x/y"), ("", "a/c", "a/c/10", "a/c/5", "zz")
        ):
            expected = [key for key in keys if key.startswith(prefix) and key > after]
            assert list(store.keys(prefix, after)) == expected

    def test_long_listing(self, store: Store) -> None:
        """A listing of several pages has every key once."""
        keys = [f"c/{i:04}" for i in range(1100)]
        for key in keys:
            store.put(key, b"")
        assert list(store.keys()) == keys
        assert list(store.keys("c/0", "c/0123")) == keys[124:1000]

    def test_children(self, store: Store) -> None:
        """A folder has keys and folders, each named once."""
        for key in ("zarr.json", "a/zarr.json", "a/c/0", "a/c/1", "a.b", "ab/c", "a-/c"):
            store.put(key, b"")
        top = Children(keys=["a.b", "zarr.json"], folders=["a", "a-", "ab"])
        assert store.children() == top
        assert store.children("a") == store.children("a/") == Children(["zarr.json"], ["c"])
        assert store.children("missing") == Children([], [])

    def test_delete_folder(self, store: Store) -> None:
        """A folder goes with everything below and nothing beside."""
        for key in ("a/zarr.json", "a/c/0", "a.b", "ab/c"):
            store.put(key, b"")
        store.delete_folder("missing")
        store.delete_folder("a")
        assert list(store.keys()) == ["a.b", "ab/c"]
        store.delete_folder()
        assert list(store.keys()) == []
        store.put("a/c/0", b"again")
        assert list(store.keys()) == ["a/c/0"]

    def test_read_only(self, store: Store) -> None:
        """A read-only view reads the same and refuses every change."""
        store.put("a/b", b"1")
        view = store.with_read_only()
        assert view.read_only
        assert not store.read_only
        assert view.get("a/b") == store.get("a/b")
        with raises(BlazarrError, kind="read-only"):
            view.put("a/b", b"2")
        with raises(BlazarrError, kind="read-only"):
            view.put("new/key", b"2", ABSENT)
        with raises(BlazarrError, kind="read-only"):
            view.delete("a/b")
        with raises(BlazarrError, kind="read-only"):
            view.delete_folder("a")
        assert list(store.keys()) == ["a/b"]
        assert value_of(store, "a/b") == b"1"

    def test_pickle(self, store: Store) -> None:
        """A copy in another process reads the same."""
        store.put("a/b", b"1")
        copy = pickle.loads(pickle.dumps(store))  # noqa: S301 - our own
        assert value_of(copy, "a/b") == b"1"
        assert copy.capabilities == store.capabilities


def value_of(store: Store, key: str) -> bytes | None:
    """Return what is under a key as bytes."""
    found = store.get(key)
    return None if found is None else bytes(found[0])


def generation_of(store: Store, key: str) -> object:
    """Return the generation of what is under a key."""
    found = store.get(key)
    return None if found is None else found[1]


def increment(store: Store, key: str, place: int, times: int) -> None:
    """Add one to a byte of an eight-byte value, over and over, losing to no other writer."""
    for _ in range(times):
        while True:
            found = store.get(key)
            value = bytearray(8 if found is None else found[0])
            value[place] += 1
            try:
                store.put(key, bytes(value), ABSENT if found is None else found[1])
            except ConflictError:
                continue
            break


@contextmanager
def raises(cls: type[Exception], kind: str | None = None) -> Iterator[None]:
    """Fail unless the block raises an error of a class, and of a kind where one is named."""
    try:
        yield
    except cls as error:
        found = getattr(error, "kind", None)
        assert kind is None or found == kind, f"kind is {found!r}, not {kind!r}"
    else:
        raise AssertionError(f"no {cls.__name__} was raised")
