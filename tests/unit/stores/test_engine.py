"""Stores under the engine: what is native, and what goes through Python."""

import fcntl
import json
import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import blazarr
from blazarr import _core
from blazarr.errors import ReadOnlyError
from blazarr.stores import (
    ANY,
    Capabilities,
    LocalStore,
    MemoryStore,
    ReadOnlyStore,
    Store,
    WrapperStore,
    native,
)

SIZE, CHUNK = 64, 8


def array_over(store):
    """An array of 64 bytes in chunks of 8, all 7 where nothing was written."""
    spec = {
        "shape": [SIZE],
        "grid": [{"size": CHUNK}],
        "item": 1,
        "fill": "07",
        "keys": {"prefix": "a/", "kind": "default", "separator": "/"},
        "chain": {"steps": []},
        "max_chunk_bytes": 1 << 20,
    }
    return _core.Array(json.dumps(spec).encode(), native(store), [])


def part(start, count):
    return ((), ((0, start, 1, count),))


def read(array):
    out = np.zeros(SIZE, "u1")
    array.read(part(0, SIZE), out)
    return out.tolist()


class Unconditional(Store):
    """A store over a dict that can't compare; counts and may fail."""

    def __init__(self):
        self.inner = MemoryStore({})
        self.error = None
        self.calls = []

    @property
    def capabilities(self):
        return Capabilities(batch=5)

    def get(self, key, range=None):
        return self.inner.get(key, range)

    def get_many(self, keys, ranges=None):
        self.calls.append(len(keys))
        if self.error:
            raise self.error
        return super().get_many(keys, ranges)

    def put(self, key, data, if_generation=ANY):
        assert if_generation is ANY
        assert type(data) is bytes
        if self.error:
            raise self.error
        return self.inner.put(key, data)

    def delete(self, key, if_generation=ANY):
        assert if_generation is ANY
        return self.inner.delete(key)

    def list(self, prefix="", start_after=""):
        return self.inner.list(prefix, start_after)


@pytest.fixture(params=["local", "local unlocked", "memory", "dict", "unconditional"])
def store(request, tmp_path):
    return {
        "local": lambda: LocalStore(tmp_path / "x"),
        "local unlocked": lambda: LocalStore(tmp_path / "x", locking="none"),
        "memory": MemoryStore,
        "dict": lambda: MemoryStore({}),
        "unconditional": Unconditional,
    }[request.param]()


def test_written_values_come_back(store):
    array = array_over(store)
    assert read(array) == [7] * SIZE
    array.write(part(5, 30), np.arange(30, dtype="u1"))
    expected = [7] * 5 + list(range(30)) + [7] * 29
    assert read(array) == expected
    assert list(store.keys()) == [f"a/c/{i}" for i in range(5)]
    array.write(part(8, 8), np.full(8, 7, "u1"))
    assert read(array) == expected[:8] + [7] * 8 + expected[16:]
    assert list(store.keys()) == [f"a/c/{i}" for i in (0, 2, 3, 4)]


def test_threads_that_change_their_part_of_a_chunk_lose_nothing(store):
    if getattr(store, "locking", None) == "none":
        pytest.skip("this store leaves that to its user")
    array = array_over(store)

    def count(i):
        for n in range(1, 21):
            array.write(part(i, 1), np.full(1, n + 10, "u1"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(8)))
    assert read(array)[:8] == [30] * 8


@pytest.mark.parametrize("wrap", [lambda s: s.with_read_only(), ReadOnlyStore])
def test_read_only_stores_are_read_and_never_written(store, wrap):
    array_over(store).write(part(0, 8), np.arange(8, dtype="u1"))
    array = array_over(wrap(store))
    assert read(array)[:8] == list(range(8))
    for start, count in ((0, 8), (0, 1), (8, 8)):
        with pytest.raises(ReadOnlyError) as caught:
            array.write(part(start, count), np.full(count, 7, "u1"))
        assert caught.value.key == f"a/c/{start // 8}"
    assert list(store.keys()) == ["a/c/0"]
    assert read(array)[:8] == list(range(8))


def test_python_stores_are_asked_in_batches():
    store = Unconditional()
    read(array_over(store))
    assert store.calls == [5, 3]


def test_errors_of_python_stores_come_through_unchanged():
    store = Unconditional()
    array = array_over(store)
    store.error = LookupError("mine")
    with pytest.raises(LookupError) as caught:
        read(array)
    assert caught.value is store.error
    with pytest.raises(LookupError) as caught:
        array.write(part(0, 8), np.zeros(8, "u1"))
    assert caught.value is store.error


def test_a_python_store_that_answers_nonsense_is_an_error():
    store = Unconditional()
    array = array_over(store)
    for answer in (lambda *_: [], lambda *_: [5] * 5, lambda *_: 5, lambda *_: [("text", 1)] * 5):
        store.get_many = answer
        with pytest.raises((TypeError, ValueError)):
            read(array)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_children_read_and_write(store):
    array = array_over(store)
    array.write(part(0, SIZE), np.arange(SIZE, dtype="u1"))
    for _ in range(100):
        pid = os.fork()
        if pid == 0:
            same = read(array) == list(range(SIZE))
            array.write(part(3, 1), np.full(1, 3, "u1"))
            os._exit(0 if same else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert read(array) == list(range(SIZE))


def hold_lock(path, held):
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        held.set()
        time.sleep(60)


def test_waiting_for_a_lock_ends_with_ctrl_c_and_with_its_holder(tmp_path):
    store = LocalStore(tmp_path)
    array = array_over(store)
    store.put("a/c/0", bytes(8))
    context = multiprocessing.get_context("spawn")
    held = context.Event()
    holder = context.Process(target=hold_lock, args=(tmp_path / "a/c/0.__lock", held))
    holder.start()
    held.wait()
    for write in (
        lambda: store.put("a/c/0", b"x" * 8),
        lambda: array.write(part(0, 1), np.ones(1, "u1")),
    ):
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            write()
    assert read(array)[:8] == [0] * 8
    holder.kill()
    holder.join()
    array.write(part(0, 1), np.ones(1, "u1"))
    assert read(array)[:8] == [1] + [0] * 7
    assert [path.name for path in (tmp_path / "a/c").iterdir()] == ["0"]


def test_writes_wait_side_by_side_where_the_store_says_so():
    class Waiting(WrapperStore):
        now = most = 0
        lock = threading.Lock()

        @property
        def capabilities(self):
            return replace(self.store.capabilities, writes=12)

        def put(self, key, data, if_generation=ANY):
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            time.sleep(0.02)
            with self.lock:
                self.now -= 1
            return self.store.put(key, data, if_generation)

    store = Waiting(MemoryStore())
    array = blazarr.create_array(store, shape=(40, 40), chunks=(5, 10), dtype="i4", fill_value=0)
    values = np.arange(1600, dtype="i4").reshape(40, 40) + 1
    array[:] = values
    array[3:37, 7:31] += 1
    values[3:37, 7:31] += 1
    assert 6 <= store.most <= 12
    assert np.array_equal(array[:], values)
