"""What a pipeline has to keep besides giving the right elements."""

import asyncio
import multiprocessing
import pickle
import threading
import time

import numpy as np
import pytest
import zarr
from zarr.storage import LocalStore, LoggingStore, MemoryStore

import blazarr
from blazarr.compat.zarr_python import BlazarrCodecPipeline, DiscontiguousArrayError


def pipeline_of(array):
    return array._async_array.codec_pipeline


# Types and codecs that the specification does not have; not all releases of zarr-python say so.
UNSPECIFIED = pytest.mark.filterwarnings(
    "ignore:.*(does not have a Zarr V3 specification|not part in the Zarr format 3 specification)"
)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "array"


@pytest.fixture
def array(folder):
    made = zarr.create_array(folder, shape=(10, 9), chunks=(4, 4), dtype="i4", fill_value=-1)
    made[:] = np.arange(90).reshape(10, 9)
    return made


def test_the_pipeline_is_chosen_and_put_back(own_pipeline):
    with own_pipeline():
        before = zarr.config.get("codec_pipeline.path")
        with blazarr.enable():
            inside = zarr.create_array({}, shape=1, dtype="i4")
        outside = zarr.create_array({}, shape=1, dtype="i4")
        assert zarr.config.get("codec_pipeline.path") == before
    assert type(pipeline_of(inside)) is BlazarrCodecPipeline
    assert type(pipeline_of(outside)) is not BlazarrCodecPipeline


def test_equal_arrays_compare_equal(array, folder):
    assert zarr.open_array(folder, mode="r+") == array
    assert pipeline_of(array) == pipeline_of(zarr.open_array(folder))
    other = zarr.create_array({}, shape=(10, 9), chunks=(4, 4), dtype="i4", compressors=None)
    assert pipeline_of(array) != pipeline_of(other)


@pytest.mark.skipif(
    "read_missing_chunks" not in str(zarr.config.defaults),
    reason="this zarr-python fills missing chunks always",
)
def test_missing_chunks_are_told(folder):
    zarr.create_array(folder, shape=8, chunks=4, dtype="i4")[:4] = 1
    # Before zarr-python 3.4 what is given when an array is opened has no effect.
    with zarr.config.set({"array.read_missing_chunks": False}):
        array = zarr.open_array(folder)
    np.testing.assert_array_equal(array[:4], 1)
    with pytest.raises(Exception, match=r"1 chunk\(s\) not found"):
        array[:]


@pytest.mark.parametrize("kind", ["F", "strided", "reversed", "big-endian", "float"])
def test_results_of_any_layout(array, kind):
    from zarr.core.buffer import default_buffer_prototype

    out = {
        "F": np.empty((10, 9), "i4", order="F"),
        "strided": np.empty((20, 18), "i4")[::2, ::2],
        "reversed": np.empty((10, 9), "i4")[::-1, ::-1],
        "big-endian": np.empty((10, 9), ">i4"),
        "float": np.empty((10, 9), "f8"),
    }[kind]
    buffer = default_buffer_prototype().nd_buffer.from_ndarray_like(out)
    array.get_basic_selection(..., out=buffer)
    np.testing.assert_array_equal(out, np.arange(90).reshape(10, 9))


@UNSPECIFIED
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", [">i4", ">f8", ">c16", ">M8[s]", ">U3"])
def test_other_byte_orders(zarr_format, dtype):
    numbers = np.arange(12).astype("M8[s]" if "M" in dtype else dtype).astype(dtype)
    array = zarr.create_array({}, shape=12, chunks=5, dtype=dtype, zarr_format=zarr_format)
    array[:] = numbers
    got = array[:]
    np.testing.assert_array_equal(got, numbers)
    assert got.dtype == array.dtype


@UNSPECIFIED
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(
    "values",
    [
        np.array(["a", "bcd", ""], "U3"),
        np.array([b"a", b"bcd", b""], "S3"),
        np.array([(1, 2.5), (3, -0.0), (0, 0)], [("x", "<i4"), ("y", "<f8")]),
        np.array([1, 2, 3], "m8[ms]"),
        np.array([True, False, True]),
        np.array([1, 2, 3], "f2"),
        np.array(["one", "", "three"], object),
    ],
    ids=lambda values: values.dtype.str,
)
def test_types(values, zarr_format, own_pipeline):
    dtype = str if values.dtype == object else values.dtype
    store = {}
    array = zarr.create_array(store, shape=3, chunks=2, dtype=dtype, zarr_format=zarr_format)
    array[:] = values
    np.testing.assert_array_equal(array[:], values)
    with own_pipeline():
        np.testing.assert_array_equal(zarr.open_array(store)[:], values)


def test_read_only_arrays_never_write(array, folder):
    reader = zarr.open_array(folder, mode="r")
    with pytest.raises(ValueError, match="read-only"):
        reader[:] = 5
    np.testing.assert_array_equal(array[:], np.arange(90).reshape(10, 9))


def test_moved_stores_are_followed(array, tmp_path):
    zarr.core.sync.sync(array.store.move(tmp_path / "moved"))
    np.testing.assert_array_equal(array[:], np.arange(90).reshape(10, 9))
    array[0] = 7
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "moved")[0], 7)


def test_wrappers_see_the_traffic(array):
    store = LoggingStore(array.store, log_level="CRITICAL")
    wrapped = zarr.open_array(store)
    store.counter.clear()
    np.testing.assert_array_equal(wrapped[:], np.arange(90).reshape(10, 9))
    wrapped[0, 0] = 0
    assert store.counter["get"] == 9 + 1
    assert store.counter["set"] == 1


class Upper(MemoryStore):
    """A user's own kind of store, which keeps other keys."""

    async def get(self, key, *args, **kwargs):
        return await super().get(key.upper(), *args, **kwargs)

    async def set(self, key, value, *args, **kwargs):
        await super().set(key.upper(), value, *args, **kwargs)


def test_subclasses_are_not_taken_for_their_base():
    store = Upper()
    array = zarr.create_array(store, shape=4, chunks=2, dtype="i4")
    array[:] = [1, 2, 3, 4]
    np.testing.assert_array_equal(array[:], [1, 2, 3, 4])
    assert {"C/0", "C/1"} <= store._store_dict.keys()


def test_changed_methods_are_called(array, monkeypatch):
    seen = []
    original = LocalStore.get

    async def get(self, key, *args, **kwargs):
        seen.append(key)
        return await original(self, key, *args, **kwargs)

    monkeypatch.setattr(LocalStore, "get", get)
    np.testing.assert_array_equal(array[0, :4], np.arange(4))
    assert seen == ["c/0/0"]


def test_covered_chunks_are_written_unread(array, folder):
    for corner in ("2/2", "0/2", "0/0"):
        (folder / "c" / corner).write_bytes(b"damaged")
    array[:] = 3
    np.testing.assert_array_equal(array[:], 3)


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("shards", [None, (8, 8)])
def test_empty_chunks_are_stored_where_asked_for(folder, wanted, shards):
    config = {"write_empty_chunks": wanted}
    array = zarr.create_array(
        folder, shape=(8, 8), chunks=(4, 4), shards=shards, dtype="i4", config=config
    )
    array[:] = 0
    assert (array.nchunks_initialized > 0) is wanted


class Doubling(zarr.abc.codec.BytesBytesCodec):
    """A user's own codec, in Python: every byte twice."""

    is_fixed_size = True

    def to_dict(self):
        return {"name": "doubling"}

    @classmethod
    def from_dict(cls, data):
        return cls()

    async def _encode_single(self, chunk, spec):
        return spec.prototype.buffer.from_array_like(np.repeat(chunk.as_numpy_array(), 2))

    async def _decode_single(self, chunk, spec):
        return spec.prototype.buffer.from_array_like(chunk.as_numpy_array()[::2].copy())

    def compute_encoded_size(self, length, spec):
        return 2 * length


def test_codecs_in_python_are_used():
    zarr.registry.register_codec("doubling", Doubling)
    store = {}
    array = zarr.create_array(store, shape=6, chunks=4, dtype="i4", compressors=[Doubling()])
    array[:] = range(6)
    np.testing.assert_array_equal(array[:], range(6))
    assert store["c/0"].to_bytes() == np.repeat(np.arange(4, dtype="i4").view("u1"), 2).tobytes()


def test_attributes_may_be_set(array):
    pipeline_of(array).note = 1
    assert pipeline_of(array).note == 1


def test_arrays_pickle(array):
    copy = pickle.loads(pickle.dumps(array))
    assert copy == array
    np.testing.assert_array_equal(copy[:], array[:])


def read_all(array):
    return array[:]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_child_processes(array, method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        for got in pool.map_async(read_all, [array] * 4).get(timeout=120):
            np.testing.assert_array_equal(got, array[:])


def test_inside_a_running_event_loop(array):
    async def main():
        await asyncio.sleep(0)
        return array[:], await array._async_array.getitem(...)

    blocking, awaited = asyncio.run(main())
    np.testing.assert_array_equal(blocking, awaited)


def test_many_threads(array):
    failures = []

    def work(row):
        for _ in range(20):
            array[row] = row
            if not (array[row] == row).all():
                failures.append(row)

    threads = [threading.Thread(target=work, args=(row,)) for row in (0, 4, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert failures == []


class Slow(MemoryStore):
    """A store whose answers take a while, and that counts how many it is asked for at once."""

    def __init__(self):
        super().__init__()
        self.now = self.most = 0

    async def get(self, *args, **kwargs):
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.02)
        self.now -= 1
        return await super().get(*args, **kwargs)


def test_the_limit_on_requests_is_kept():
    store = Slow()
    array = zarr.create_array(store, shape=40, chunks=1, dtype="i4")
    array[:] = range(40)
    store.most = 0
    with zarr.config.set({"async.concurrency": 4}):
        np.testing.assert_array_equal(array[:], range(40))
    assert store.most == 4


def test_waiting_for_a_store_leaves_other_threads_alone():
    store = Slow()
    array = zarr.create_array(store, shape=40, chunks=1, dtype="i4")
    array[:] = range(40)
    beats = []
    reader = threading.Thread(target=lambda: array[:])
    reader.start()
    while reader.is_alive():
        beats.append(time.perf_counter())
        time.sleep(0.001)
    assert len(beats) > 10


@pytest.mark.parametrize("verify", [True, False])
def test_checksums_are_verified_unless_told_otherwise(folder, verify):
    from zarr.codecs import Crc32cCodec

    array = zarr.create_array(folder, shape=4, dtype="u1", compressors=[Crc32cCodec()])
    array[:] = [1, 2, 3, 4]
    chunk = folder / "c" / "0"
    chunk.write_bytes(b"\x09" + chunk.read_bytes()[1:])
    with zarr.config.set({"codec_pipeline.validate_checksums": verify}):
        damaged = zarr.open_array(folder)
        if verify:
            with pytest.raises(ValueError, match="checksum"):
                damaged[:]
        else:
            np.testing.assert_array_equal(damaged[:], [9, 2, 3, 4])


def test_names_of_zarrs_python_exist():
    assert issubclass(DiscontiguousArrayError, Exception)


def test_cells_beyond_a_shard_s_array_are_kept(own_pipeline):
    array = zarr.create_array({}, shape=(4,), chunks=(2,), shards=(4,), dtype="i2")
    array[:] = [1, 2, 3, 4]
    array.resize((3,))
    array[:] = [9, 9, 9]
    array.resize((4,))
    np.testing.assert_array_equal(array[:], [9, 9, 9, 4])


def test_partial_reads_of_shards_fetch_little():
    store = LoggingStore(MemoryStore(), log_level="CRITICAL")
    array = zarr.create_array(
        store, shape=(4096,), chunks=(64,), shards=(4096,), dtype="i4", compressors=None
    )
    array[:] = range(4096)
    store.counter.clear()
    np.testing.assert_array_equal(array[100:200], range(100, 200))
    assert store.counter["get"] + store.counter["get_ranges"] <= 4


def test_many_bytes_of_other_stores_come_in_waves(monkeypatch):
    from blazarr.compat.zarr_python import pipeline

    monkeypatch.setattr(pipeline, "_WAVE", 8)
    monkeypatch.setattr(pipeline, "_LEAST", 3)
    array = zarr.create_array(Upper(), shape=(10,), chunks=(1,), dtype="i4", fill_value=-1)
    array[:8] = range(8)
    np.testing.assert_array_equal(array[:], [*range(8), -1, -1])
