"""zarr-python's arrays decoded on a GPU, over a pretended cupy and the host device."""

import sys
from typing import ClassVar

import numpy as np
import pytest
import zarr
import zarr.core.buffer.gpu as buffers

import blazarr
from blazarr.cuda import Options
from blazarr.cuda.encode_waves import WaveWrite
from blazarr.cuda.waves import WaveRead
from blazarr.errors import CorruptError, UnsupportedError
from tests.unit.cuda import fake_cupy
from tests.unit.cuda.arrays import noise

# A fixture.
cupy = fake_cupy.cupy
OPTIONS = Options(memory=4 << 20, crossover=0, least_streams=0)
KEYS = [
    np.s_[:],
    np.s_[3:17, ::2],
    np.s_[5],
    np.s_[7, 8],
    np.s_[19:],
]
CHAINS = {
    "zstd": {"compressors": zarr.codecs.ZstdCodec()},
    # Blosc stores what is shorter than 128 bytes.
    "blosc": {
        "compressors": zarr.codecs.BloscCodec(cname="lz4", shuffle="shuffle"),
        "chunks": (20, 10),
    },
    "gzip": {"compressors": [zarr.codecs.GzipCodec(), zarr.codecs.Crc32cCodec()]},
    "plain": {"compressors": None},
    "shards": {"shards": (20, 30), "compressors": zarr.codecs.ZstdCodec()},
    "shards plain": {"shards": (10, 10), "compressors": None},
}


@pytest.fixture
def reads(monkeypatch, cupy):
    """The reads that went through the wave executor."""
    monkeypatch.setattr(buffers, "cp", cupy)
    made = []
    finish = WaveRead.finish

    def spy(self):
        made.append(finish(self))
        return made[-1]

    monkeypatch.setattr(WaveRead, "finish", spy)
    return made


def stored(store, name, **kwargs):
    data = noise((40, 60), "f4")
    made = {"chunks": (5, 5), "fill_value": 3} | CHAINS[name] | kwargs
    array = zarr.create_array(store, shape=(40, 60), dtype="f4", **made)
    array[:, :50] = data[:, :50]
    data[:, 50:] = 3
    return data


class Other(zarr.storage.WrapperStore):
    """A store that blazarr does not know."""


STORES = {
    "memory": lambda path: zarr.storage.MemoryStore(),
    "folder": lambda path: zarr.storage.LocalStore(path / "a"),
    "other": lambda path: Other(zarr.storage.MemoryStore()),
}


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("place", STORES)
def test_selections_are_decoded_into_the_result(name, place, reads, tmp_path):
    store = STORES[place](tmp_path)
    data = stored(store, name)
    with blazarr.configure_gpu(OPTIONS):
        array = zarr.open_array(store, mode="r")
        for number, key in enumerate(KEYS, 1):
            found = array[key]
            assert isinstance(found, fake_cupy.FakeArray) or np.ndim(found) == 0
            assert (np.asarray(found) == data[key]).all(), key
            assert len(reads) == number
        assert (array.oindex[[3, 1, 39], 7:60:9] == data[[3, 1, 39], 7:60:9]).all()
        assert (array.vindex[[3, 1, 39], [7, 7, 59]] == data[[3, 1, 39], [7, 7, 59]]).all()
    assert sum(report.device_rows for report in reads) > 0
    assert sum(report.absent_rows for report in reads) > 0
    assert all(report.host_rows == report.retried == 0 for report in reads)


def test_everything_is_put_back(reads, cupy):
    names = ("buffer", "ndbuffer", "codec_pipeline", "async")
    before = {
        name: dict(zarr.config.get(name))
        if name in {"codec_pipeline", "async"}
        else zarr.config.get(name)
        for name in names
    }
    allocator = cupy.cuda.get_allocator()

    def mine(nbytes):
        return fake_cupy.Pointer(nbytes)

    with blazarr.configure_gpu(OPTIONS, async_concurrency=3, allocator=mine):
        assert zarr.config.get("async.concurrency") == 3
        assert cupy.cuda.get_allocator() is mine
    assert {name: zarr.config.get(name) for name in names} == before
    called = blazarr.configure_gpu()
    assert zarr.config.get("codec_pipeline.gpu")["memory"] == 1 << 30
    called.restore()
    called.restore()
    assert {name: zarr.config.get(name) for name in names} == before
    assert cupy.cuda.get_allocator() is allocator


def test_budgets_and_damage_are_those_of_other_reads(reads):
    store = zarr.storage.MemoryStore()
    data = stored(store, "gzip", chunks=(20, 60))
    small = Options(memory=100_000, crossover=0, least_streams=0)
    with blazarr.configure_gpu(small):
        array = zarr.open_array(store, mode="r")
        assert (array[:] == data).all()
        store._store_dict["c/1/0"] = buffers.Buffer.from_bytes(b"nothing")
        with pytest.raises(CorruptError):
            array[:]


def test_types_without_a_gpu_form_are_read_on_the_cpu(reads):
    store = zarr.storage.MemoryStore()
    data = np.arange(30, dtype=">i4")
    zarr.create_array(store, shape=(30,), chunks=(10,), dtype=">i4")[:] = data
    with blazarr.configure_gpu(OPTIONS):
        assert (zarr.open_array(store, mode="r")[:] == data).all()


def test_what_is_written_from_the_gpu_is_read_everywhere(reads, cupy):
    store = zarr.storage.MemoryStore()
    data = noise((40, 60), "f4")
    with blazarr.configure_gpu(OPTIONS):
        array = zarr.create_array(store, shape=(40, 60), chunks=(7, 9), dtype="f4")
        array[:] = cupy.asarray(data)
        array[3] = cupy.asarray(np.ones(60, "f4"))
        data[3] = 1
        assert (array[:] == data).all()
    assert (zarr.open_array(store, mode="r")[:] == data).all()


@pytest.fixture
def writes(monkeypatch):
    """The writes that went through the wave executor."""
    made = []
    run = WaveWrite.run

    def spy(self, *args):
        run(self, *args)
        made.append(self.report)

    monkeypatch.setattr(WaveWrite, "run", spy)
    return made


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("place", STORES)
@pytest.mark.usefixtures("reads")
def test_values_on_the_gpu_are_encoded_there(name, place, writes, cupy, tmp_path):
    store, data = STORES[place](tmp_path), noise((40, 60), "f4")
    chain = {"chunks": (5, 5), "fill_value": 3} | CHAINS[name]
    zarr.create_array(store, shape=(40, 60), dtype="f4", **chain)
    with blazarr.configure_gpu(OPTIONS):
        array = zarr.open_array(store, mode="r+")
        array[:] = cupy.asarray(data)
        on_device = sum(report.device_rows for report in writes)
        assert on_device == (0 if "plain" in name else {"blosc": 12}.get(name, 96))
        array[3:17, ::2] = cupy.asarray(data[3:17, ::2] + 1)
        data[3:17, ::2] += 1
        array[5] = cupy.asarray(np.float32(7))
        data[5] = 7
        array.oindex[[3, 1, 39], 7:60:9] = cupy.asarray(data[[3, 1, 39], 7:60:9] - 5)
        data[[3, 1, 39], 7:60:9] -= 5
        array.vindex[[3, 1, 39], [7, 7, 59]] = cupy.asarray(np.arange(3, dtype="f4"))
        data[[3, 1, 39], [7, 7, 59]] = np.arange(3)
        array[20:25, 10:15] = cupy.asarray(np.full((5, 5), 3, "f4"))
        data[20:25, 10:15] = 3
        assert (array[:] == data).all()
    assert len(writes) == 6
    assert all(report.retried == 0 for report in writes)
    assert (zarr.open_array(store, mode="r")[:] == data).all()
    if "shards" not in name and place == "folder":
        assert not (tmp_path / "a/c/4/2").exists()


def test_of_elements_named_twice_the_last_counts(reads, writes, cupy):
    store = zarr.storage.MemoryStore()
    data = stored(store, "zstd")
    rows = [3, 39, 3, 1, 3]
    value = np.arange(300, dtype="f4").reshape(5, 60)
    with blazarr.configure_gpu(OPTIONS):
        array = zarr.open_array(store, mode="r+")
        array.oindex[rows, :] = cupy.asarray(value)
        data[[39, 1, 3]] = value[[1, 3, 4]]
        array.vindex[[7, 7], [9, 9]] = cupy.asarray(value[0, :2])
        data[7, 9] = value[0, 1]
        assert (array[:] == data).all()
    assert not writes


class Ranges(zarr.storage.WrapperStore):
    """A store that notes what it, and copies of it, were asked for."""

    asked: ClassVar[list] = []

    async def get(self, key, prototype=None, byte_range=None):
        self.asked.append((key, byte_range))
        return await super().get(key, prototype, byte_range)


def test_shards_in_any_store_are_read_by_ranges(reads):
    store = Ranges(zarr.storage.MemoryStore())
    data = stored(store, "shards")
    with blazarr.configure_gpu(OPTIONS):
        array = zarr.open_array(store, mode="r")
        for key in (np.s_[3:17, 7], np.s_[39, 58], np.s_[::7, ::9]):
            store.asked.clear()
            assert (array[key] == data[key]).all()
            shards = [asked for asked in store.asked if asked[0].startswith("c/")]
            assert shards
            assert all(byte_range is not None for _, byte_range in shards), shards
    assert sum(report.device_rows for report in reads) > 0
    assert sum(report.absent_rows for report in reads) > 0


def test_without_cupy_nothing_is_set(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    before = zarr.config.get("buffer")
    with pytest.raises(UnsupportedError):
        blazarr.configure_gpu()
    assert zarr.config.get("buffer") == before
