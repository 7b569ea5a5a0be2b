"""Files that a device reads and writes itself."""

import itertools
import os
import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import blazarr
from blazarr import _core
from blazarr.cuda import files, info
from blazarr.cuda.array import CudaArray
from blazarr.cuda.engine import WaveEngine
from blazarr.cuda.host import DeviceCallError, HostDevice
from blazarr.cuda.options import Options
from blazarr.errors import CorruptError, StoreError, UnsupportedError
from blazarr.indexing import parse_getitem
from tests.unit.cuda import fake_cupy
from tests.unit.cuda.arrays import ALL, case, noise

# A fixture.
cupy = fake_cupy.cupy

SHAPE, CHUNKS = (40, 60), (16, 16)
PLAIN = {"steps": []}
CHAINS = {
    "plain": PLAIN,
    "swapped": {"swap": 4, "steps": []},
    "shuffled": {"steps": [{"id": "shuffle", "elementsize": 4}]},
}


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def on_disk(folder, chain, **kwargs):
    store = _core.LocalStore(str(folder))
    made = case(noise(SHAPE, "i4"), CHUNKS, chain, store=store, **kwargs)
    return replace(made, direct=True)


def sharded(chain):
    return {"shard": {"chunks": [8, 8], "chain": chain, "at_end": True}}


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("shards", [False, True])
def test_chunks_without_a_compressor_are_read_from_their_files(name, shards, tmp_path):
    chain = sharded(CHAINS[name]) if shards else CHAINS[name]
    made, before = on_disk(tmp_path, chain, fill=3), open_files()
    made.store.delete("c/1/1")
    expected = made.data.copy()
    expected[16:32, 16:32] = 3
    for key in (..., np.s_[::-3, 7:], np.s_[5, 6], (np.array([3, 39, 3]), np.array([1, 59, 2]))):
        device = HostDevice()
        out, report = made.read(key, device=device)
        assert (out == expected[key]).all(), key
        assert report.host_rows == report.retried == 0
        assert "read_files" in device.log
        assert open_files() == before
    device = HostDevice()
    assert (made.read(options=replace(ALL, crossover=1 << 20), device=device)[0] == expected).all()
    assert "read_files" not in device.log


@pytest.mark.parametrize("steps", [["zstd"], ["shuffle", "zstd"], ["crc32c"], ["blosclz"]])
def test_what_the_host_has_to_look_at_goes_through_it(steps, tmp_path):
    known = {
        "zstd": {"id": "zstd", "level": 1},
        "shuffle": {"id": "shuffle", "elementsize": 4},
        "crc32c": {"id": "crc32c"},
        "blosclz": {
            "id": "blosc",
            "cname": "blosclz",
            "clevel": 5,
            "shuffle": "shuffle",
            "typesize": 4,
        },
    }
    made, device = on_disk(tmp_path, {"steps": [known[step] for step in steps]}), HostDevice()
    assert (made.read(device=device)[0] == made.data).all()
    assert "read_files" not in device.log


def test_files_of_another_length_are_named_by_the_core(tmp_path):
    for change in (-1, 1):
        made, before = on_disk(tmp_path / str(change), PLAIN), open_files()
        path = tmp_path / str(change) / "c/1/2"
        data = path.read_bytes()
        path.write_bytes(data[:change] if change < 0 else data + b"\0")
        with pytest.raises(CorruptError) as caught:
            made.read()
        assert caught.value.key == "c/1/2"
        assert (made.read(np.s_[:16])[0] == made.data[:16]).all()
        assert open_files() == before


class Short(HostDevice):
    """A device that finds less in a file than there was a moment ago."""

    def read_files(self, parts):
        return [nbytes - (n == 1) for n, nbytes in enumerate(super().read_files(parts))]


def test_a_read_that_is_cut_short_is_done_by_the_host(tmp_path):
    made = on_disk(tmp_path, PLAIN)
    out, report = made.read(device=Short())
    assert (out == made.data).all()
    # One of every batch: what is left over is read once more.
    assert report.host_rows > 0


def test_budgets_hold_and_waves_do_not_open_too_many_files(tmp_path):
    store = _core.LocalStore(str(tmp_path))
    data = noise((40, 400), "u2")
    made = replace(case(data, (2, 20), PLAIN, store=store), direct=True)
    before, most = open_files(), []

    class Counting(HostDevice):
        def read_files(self, parts):
            most.append(open_files() - before)
            return super().read_files(parts)

    device = Counting()
    out, report = made.read(np.s_[::-1], device=device)
    assert (out == data[::-1]).all()
    assert report.device_rows == 400
    assert len(most) == 2
    assert max(most) <= 256
    small = Options(memory=100_000, crossover=0)
    device = HostDevice()
    assert (made.read(device=device, options=small)[0] == data).all()
    assert device.peak <= 100_000


@pytest.mark.parametrize("stay", [False, True])
@pytest.mark.parametrize("way", ["read", "write"])
def test_a_failed_call_leaks_neither_memory_nor_files(way, stay, tmp_path):
    made, before = on_disk(tmp_path, PLAIN), open_files()
    new = noise(SHAPE, "i4", seed=5)
    options = Options(memory=60_000, crossover=0)
    for number in itertools.count():
        device = HostDevice(fail_at=number, fail_on=stay)
        try:
            if way == "read":
                out, _ = made.read(device=device, options=options)
                assert (out == made.data).all()
            else:
                made.write(..., new, device=device, options=options)
        except DeviceCallError:
            assert device.allocated == 0
            assert open_files() == before
            assert not list(tmp_path.rglob("*.__lock"))
            found = made.on_cpu()
            for row, column in itertools.product(range(0, 40, 16), range(0, 60, 16)):
                part = np.s_[row : row + 16, column : column + 16]
                assert (found[part] == made.data[part]).all() or (found[part] == new[part]).all()
            continue
        assert number > 10
        break
    assert (made.on_cpu() == (made.data if way == "read" else new)).all()


@pytest.mark.parametrize("swap", [0, 4])
def test_whole_chunks_without_codecs_are_written_to_their_files(swap, tmp_path):
    made = on_disk(tmp_path, {"swap": swap, "steps": []}, fill=9, written=False)
    value, before = made.data.copy(), open_files()
    value[16:32, 32:48] = 9
    device = HostDevice()
    report = made.write(..., value, device=device)
    assert (report.device_rows, report.host_rows, report.absent_rows) == (11, 0, 1)
    assert device.log.count("write_file") == 11
    assert (made.on_cpu() == value).all()
    assert not (tmp_path / "c/1/2").exists()
    # Parts are changed by the core, under the same lock.
    report = made.write(np.s_[3:32], value[3:32] + 1, device=device)
    value[3:32] += 1
    assert (report.device_rows, report.host_rows) == (4, 4)
    assert (made.on_cpu() == value).all()
    assert open_files() == before
    assert not list(tmp_path.rglob("*.__lock"))


class Full(HostDevice):
    """A device that writes less than it should."""

    def write_file(self, part):
        return super().write_file(replace(part, nbytes=part.nbytes // 2))


def test_a_file_that_is_cut_short_does_not_take_the_place_of_the_old(tmp_path):
    made = on_disk(tmp_path, PLAIN)
    with pytest.raises(StoreError, match="512 of 1024 bytes"):
        made.write(..., made.data + 1, device=Full())
    assert (made.on_cpu() == made.data).all()


def test_a_shard_that_is_replaced_meanwhile_is_read_as_it_is_then(tmp_path):
    store = blazarr.stores.LocalStore(tmp_path)
    codecs = {"compressors": None, "filters": None}
    array = blazarr.create_array(
        store, name="a", shape=SHAPE, chunks=(8, 8), shards=CHUNKS, dtype="i4", **codecs
    )
    array[...] = noise(SHAPE, "i4")
    changes = iter(range(1, 3))

    class Changing(HostDevice):
        """A device beside which a shard is replaced before its chunks are read."""

        def alloc_pinned(self, nbytes):
            number = next(changes, None)
            if number is not None:
                array[:16, :16] = number
                array[8, 8] = 0
            return super().alloc_pinned(nbytes)

    engine = WaveEngine(Changing(), ALL, array.metadata, store, "a", config=array.config)
    out = np.zeros(SHAPE, "i4")
    engine.start(parse_getitem(..., SHAPE), out.ctypes.data, out.strides).finish()
    assert (out == array[...]).all()


def test_options_and_the_device_decide(tmp_path):
    class Not(HostDevice):
        def file_obstacle(self, folder):
            return "nothing but a test"

    device = HostDevice()
    assert files.is_direct(device, Options(), tmp_path)
    assert not files.is_direct(device, Options(), None)
    assert not files.is_direct(device, Options(io="host"), tmp_path)
    assert not files.is_direct(Not(), Options(), tmp_path)
    assert files.is_direct(Not(), Options(io="cufile"), tmp_path)
    with pytest.raises(UnsupportedError, match="'auto', 'cufile' or 'host'"):
        Options(io="gds")


def test_what_is_in_the_way_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "kvikio", None)
    monkeypatch.setattr(files.importlib.util, "find_spec", lambda name: None)
    assert files.obstacle() == "kvikio is not installed"
    assert "kvikio is not installed" in info().reading
    monkeypatch.setattr(files.importlib.util, "find_spec", lambda name: name == "kvikio" or None)
    monkeypatch.setattr(files, "NVIDIA_FS", tmp_path / "no")
    assert "nvidia_fs" in files.obstacle()
    monkeypatch.setattr(files, "NVIDIA_FS", tmp_path)
    driver = types.SimpleNamespace(get=lambda name: False)
    monkeypatch.setitem(sys.modules, "kvikio", types.SimpleNamespace(cufile_driver=driver))
    monkeypatch.setitem(sys.modules, "kvikio.cufile_driver", driver)
    assert "not available" in files.obstacle()
    driver.get = lambda name: name == "is_gds_available"
    assert not files.obstacle()
    mounts = tmp_path / "mounts"
    number = tmp_path.stat().st_dev
    monkeypatch.setattr(files, "MOUNTS", mounts)
    for kind in ("tmpfs", "overlay", "ext4"):
        at = f"{os.major(number)}:{os.minor(number)}"
        mounts.write_text(f"22 1 0:5 / /proc rw - proc proc rw\n30 1 {at} / / rw - {kind} x rw\n")
        said = files.obstacle(str(tmp_path / "not" / "yet"))
        assert said == (
            "" if kind == "ext4" else f"the file system of {tmp_path}/not/yet is {kind}"
        )
    assert "straight from their files" in info(str(tmp_path)).reading
    mounts.unlink()
    assert files.file_system(str(tmp_path)) is None


class Future:
    def __init__(self, value):
        self.value = value

    def get(self):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


class CuFile:
    """kvikio's, over plain reads and writes."""

    def __init__(self, file, flags):
        self.file = os.open(file, os.O_RDONLY if flags == "r" else os.O_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.file)

    def pread(self, buf, size, file_offset):
        data = os.pread(self.file, size, file_offset)
        buf[: len(data)] = np.frombuffer(data, "u1")
        return Future(len(data))

    def pwrite(self, buf, size, file_offset):
        return Future(os.pwrite(self.file, np.asarray(buf)[:size].tobytes(), file_offset))


def test_the_gpu_reads_and_writes_by_cufile(cupy, tmp_path, monkeypatch):
    array = blazarr.create_array(
        tmp_path, shape=(40, 60), chunks=(16, 16), dtype="i4", compressors=None, filters=None
    )
    data = noise((40, 60), "i4")
    options = Options(crossover=0, io="cufile")
    monkeypatch.setitem(sys.modules, "kvikio", None)
    with pytest.raises(UnsupportedError, match="kvikio-cu13"):
        CudaArray(array, "cuda", options)[...] = data
    monkeypatch.setitem(sys.modules, "kvikio", types.SimpleNamespace(CuFile=CuFile))
    before = open_files()
    handle = CudaArray(array, "cuda", options)
    assert handle.write(..., cupy.asarray(data)).device_rows == 12
    assert (array[...] == data).all()
    assert (handle[::-1, 5:].get() == data[::-1, 5:]).all()
    assert open_files() == before
    failed = Future(OSError("cuFile failed"))
    monkeypatch.setattr(CuFile, "pread", lambda *args: failed)
    with pytest.raises(OSError, match="cuFile failed"):
        handle.read()
    assert open_files() == before
