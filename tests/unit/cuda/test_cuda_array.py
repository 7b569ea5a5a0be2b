"""`CudaArray` and the calls of its device, over a pretended cupy and nvCOMP."""

import pickle
import sys
import threading

import numpy as np
import pytest

import blazarr
from blazarr.cuda import info
from blazarr.cuda.array import CudaArray
from blazarr.cuda.options import Options
from blazarr.errors import CorruptError, ReadOnlyError, SelectionError, UnsupportedError
from tests.unit.cuda import fake_cupy
from tests.unit.cuda.arrays import noise

OPTIONS = Options(memory=4 << 20, crossover=0, least_streams=0)


pytestmark = pytest.mark.usefixtures("cupy")

# A fixture.
cupy = fake_cupy.cupy


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
    assert (handle.read(np.s_[:, 7], out=out[::-1])[::-1] == out).all()
    for shape, dtype in (((59,), "f4"), ((60,), "i4")):
        with pytest.raises(SelectionError):
            handle.read(np.s_[:, 7], out=cupy.empty(shape, np.dtype(dtype)))


def test_elements_become_another_type_while_they_are_placed(array, cupy):
    handle = CudaArray(array, "cuda", OPTIONS)
    for dtype in ("f8", "f2", "i4", "u1", "?"):
        found = handle.read(np.s_[::3, 7:], dtype=dtype)
        assert found.dtype == dtype
        assert (found.get() == array[::3, 7:].astype(dtype)).all(), dtype
    out = cupy.empty((500,), np.dtype("f8"))
    assert (handle.read(3, out=out).get() == array[3]).all()
    with pytest.raises(UnsupportedError, match="complex128"):
        handle.read(dtype="c16")
    with pytest.raises(SelectionError):
        handle.read(3, out=out, dtype="f4")


def test_reads_are_queued_on_streams_of_the_caller(array, cupy):
    handle = CudaArray(array, "cuda", OPTIONS)
    streams = [cupy.cuda.Stream() for _ in range(2)]
    rooms = [cupy.empty((30, 500), np.dtype("f4")) for _ in streams]
    pending = [
        handle.read_async(np.s_[n::2], out=room, stream=stream)
        for n, (room, stream) in enumerate(zip(rooms, streams, strict=True))
    ]
    for n in (1, 0):
        # What is queued on a stream afterwards finds the elements, before anybody asks for the result.
        streams[n].synchronize()
        assert (rooms[n].get() == array[n::2]).all()
        assert pending[n].result() is rooms[n]
    assert (array.read(np.s_[7], device="cuda", stream=streams[0]).get() == array[7]).all()


def test_arrays_are_opened_on_a_device(array):
    handle = blazarr.open_cuda_array(array.store_path.store, device="cuda:1", options=OPTIONS)
    assert (handle.device.name, handle.options) == ("cuda:1", OPTIONS)
    assert (handle[::-3].get() == array[::-3]).all()
    handle[3] = 8
    assert (array[3] == 8).all()


class OnlyDlpack:
    """An array of another library, which knows nothing but DLPack; on a device, or on the host."""

    def __init__(self, on_host, device=2):
        self.on_host = on_host
        self.device = device

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **kwargs):
        return self.on_host.__dlpack__(**kwargs)


def test_memory_is_shared_by_dlpack(array, cupy):
    handle = CudaArray(array, "cuda", OPTIONS)
    found = handle.read(np.s_[5:9])
    shared = np.from_dlpack(found)
    assert shared.ctypes.data == found.ctypes.data
    assert (shared == array[5:9]).all()
    # Into memory of another library.
    theirs = np.zeros((4, 500), "f4")
    handle.read(np.s_[5:9], out=cupy.from_dlpack(OnlyDlpack(theirs)))
    assert (theirs == array[5:9]).all()


def test_values_from_anywhere_are_written(array, cupy):
    handle = CudaArray(array, "cuda", OPTIONS)
    value = np.arange(500, dtype="f4")
    handle[4] = cupy.asarray(value)
    handle[5] = 1
    handle[6] = OnlyDlpack(value + 1)
    handle[7] = list(range(500))
    handle[8:10] = cupy.asarray(value.astype("i8")[None])
    handle[10] = OnlyDlpack(value + 2, device=1)
    expected = np.stack([value, np.ones(500), value + 1, value, value, value, value + 2])
    assert (array[4:11] == expected).all()
    for wrong in (np.zeros(3), np.zeros((2, 500))):
        with pytest.raises(SelectionError, match="nothing was written"):
            handle[4] = cupy.asarray(wrong)
    assert (array[4:11] == expected).all()


def test_whole_chunks_are_encoded_on_the_device(cupy):
    made = blazarr.create_array(
        {},
        shape=(64, 300),
        chunks=(16, 128),
        dtype="f4",
        filters=None,
        compressors=[{"name": "numcodecs.shuffle"}, {"name": "zstd"}, {"name": "crc32c"}],
    )
    handle = CudaArray(made, "cuda", OPTIONS)
    data = noise((64, 300), "f4")
    report = handle.write(..., cupy.asarray(data))
    assert (report.device_rows, report.host_rows, report.retried) == (12, 0, 0)
    assert (made[:] == data).all()
    report = handle.write(np.s_[8:], cupy.asarray(data[8:] + 1))
    assert (report.device_rows, report.host_rows) == (9, 3)
    assert (made[8:] == data[8:] + 1).all()
    assert (made[:8] == data[:8]).all()


def test_every_way_to_select_reads_and_writes(array):
    handle = CudaArray(array, "cuda", OPTIONS)
    expected = array[:]
    rows, columns = np.array([3, 40, 40, 1]), np.array([7, 7, 499, 0])
    mask = np.zeros((60, 500), bool)
    mask[3, ::7] = mask[59, 5] = True
    ways = [
        ("oindex", (rows, columns), np.ix_(rows, columns)),
        ("vindex", (rows, columns), (rows, columns)),
        ("vindex", mask, mask),
        ("blocks", np.s_[1, 2:], np.s_[16:32, 256:]),
    ]
    for number, (way, key, index) in enumerate(ways, 1):
        brackets = getattr(handle, way)
        assert (brackets[key].get() == expected[index]).all(), way
        brackets[key] = number
        expected[index] = number
        assert (array[:] == expected).all(), way
    named = [
        ("basic", np.s_[3:9, ::-1], np.s_[3:9, ::-1]),
        ("orthogonal", (rows, columns), np.ix_(rows, columns)),
        ("coordinate", (rows, columns), (rows, columns)),
        ("mask", mask, mask),
        ("block", np.s_[0, 0], np.s_[:16, :128]),
    ]
    for name, key, index in named:
        value = np.arange(expected[index].size).reshape(expected[index].shape)
        getattr(handle, f"set_{name}_selection")(key, value)
        expected[index] = value
        found = getattr(handle, f"get_{name}_selection")(key)
        assert (found.get() == expected[index]).all(), name
        assert (array[:] == expected).all(), name


def test_a_handle_sees_a_new_shape(array):
    handle = CudaArray(array, "cuda", OPTIONS)
    array.resize((70, 500))
    array[69] = 5
    assert handle.shape == (70, 500)
    assert (handle[69].get() == 5).all()


def test_arrays_for_reading_are_not_written(array):
    handle = blazarr.open_array(array.store_path.store, mode="r").to("cuda")
    with pytest.raises(ReadOnlyError):
        handle[3] = 1


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
