"""`CudaArray` and the calls of its device, over a pretended cupy and nvCOMP."""

import pickle
import sys
import threading

import numpy as np
import pytest

import blazarr
from blazarr.cuda import gpu, info, nvcomp
from blazarr.cuda.array import CudaArray
from blazarr.cuda.options import Options
from blazarr.errors import CorruptError, SelectionError, UnsupportedError
from tests.unit.cuda import fake_cupy
from tests.unit.cuda.arrays import noise

OPTIONS = Options(memory=4 << 20, crossover=0, least_streams=0)


@pytest.fixture(autouse=True)
def cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy.module)
    monkeypatch.setattr(nvcomp, "installed", fake_cupy.Nvcomp)
    monkeypatch.setattr(gpu, "compiled", lambda major, capability: b"kernels")
    gpu.cuda_device.cache_clear()
    yield fake_cupy.module
    gpu.cuda_device.cache_clear()


@pytest.fixture
def array():
    made = blazarr.create_array({}, shape=(60, 500), chunks=(16, 128), dtype="f4", fill_value=2)
    made[:50] = noise((50, 500), "f4")
    return made


def test_selections_are_read_to_the_device(array):
    handle = CudaArray(array, "cuda", OPTIONS)
    for key in (..., np.s_[::-2, 5], np.s_[3, 4], (np.array([59, 1, 1]), slice(None))):
        pending = handle.read_async(key)
        found = pending.result()
        assert found.shape == np.shape(array[key])
        assert (found.get() == array[key]).all()
        assert pending.report.retried == 0
    assert handle.shape == array.shape


def test_devices_are_asked_for_by_name(array):
    assert array.to("cuda:1").device.name == "cuda:1"
    assert (array.read(np.s_[5], device="cuda").get() == array[5]).all()
    assert (array.read(np.s_[5]) == array[5]).all()
    opened = blazarr.open_array(array.store_path.store, device="cuda")
    assert (opened[5:9].get() == array[5:9]).all()
    for name in ("cuda:2", "cuda:x", "tpu"):
        with pytest.raises(UnsupportedError):
            array.to(name)


def test_out_is_filled_or_refused(array, cupy):
    handle = CudaArray(array, "cuda", OPTIONS)
    out = cupy.empty((60,), np.dtype("f4"))
    assert handle.read(np.s_[:, 7], out=out) is out
    assert (out.get() == array[:, 7]).all()
    for shape, dtype in (((59,), "f4"), ((60,), "f8")):
        with pytest.raises(SelectionError):
            handle.read(np.s_[:, 7], out=cupy.empty(shape, np.dtype(dtype)))


def test_values_from_a_device_are_written(array, cupy):
    handle = CudaArray(array, "cuda", OPTIONS)
    value = np.arange(500, dtype="f4")
    handle[4] = cupy.asarray(value)
    handle[5] = 1
    assert (array[4] == value).all()
    assert (array[5] == 1).all()


def test_single_chunks_decoded_and_encoded(array):
    handle = CudaArray(array, "cuda", OPTIONS)
    assert (handle.retrieve_chunk((3, 3)).get() == array[48:, 384:]).all()
    stored = bytes(array.store_path.store.get("c/0/0")[0])
    assert handle.retrieve_encoded_chunk((0, 0)).get().tobytes() == stored
    assert array[:].shape == (60, 500)
    array.store_path.store.delete("c/0/0")
    assert handle.retrieve_encoded_chunk((0, 0)) is None


def test_damage_is_an_error_of_result(array):
    store = array.store_path.store
    stored = bytearray(store.get("c/1/1")[0])
    stored[-1] ^= 1
    store.put("c/1/1", bytes(stored))
    handle = CudaArray(array, "cuda", OPTIONS)
    with pytest.raises(CorruptError):
        handle.read()


def test_pinned_memory_is_kept(array):
    handle = CudaArray(array, "cuda", OPTIONS)
    handle.read()
    kept = list(handle.device._pinned)
    handle.read()
    assert kept
    assert {id(memory) for memory in handle.device._pinned} <= {id(memory) for memory in kept}


def test_a_read_that_is_dropped_ends_first(array):
    handle = CudaArray(array, "cuda", OPTIONS)
    pending = handle.read_async()
    read = pending._read
    del pending
    assert not read._slots


def test_handles_are_pickled(array, tmp_path):
    stored = blazarr.create_array(tmp_path / "a", shape=(9,), chunks=(3,), dtype="i2")
    stored[...] = np.arange(9)
    handle = pickle.loads(pickle.dumps(CudaArray(stored, "cuda:1", OPTIONS)))
    assert handle.device.name == "cuda:1"
    assert handle.read().get().tolist() == list(range(9))


def test_threads_share_a_handle(array):
    handle = CudaArray(array, "cuda", OPTIONS)
    wrong = []

    def read(row):
        if not (handle.read(row).get() == array[row]).all():
            wrong.append(row)

    threads = [threading.Thread(target=read, args=(row,)) for row in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_info_says_what_is_there():
    found = info()
    assert found.usable
    assert "pretended" in found.devices
    assert "6.0" in str(found)


def test_without_cupy_the_extra_is_named(array, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(UnsupportedError, match=r"blazarr\[cu13\]") as caught:
        array.to("cuda")
    assert caught.value.package == "cupy"
    assert not info().usable


def test_types_that_a_gpu_does_not_have_are_refused(cupy):
    text = blazarr.create_array({}, shape=(3,), dtype="U4")
    with pytest.raises(UnsupportedError):
        text.to("cuda").read()
    objects = blazarr.create_array({}, shape=(3,), dtype=str)
    with pytest.raises(UnsupportedError):
        objects.to("cuda")
