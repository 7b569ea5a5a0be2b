"""zarr-python's buffers on a GPU, over a pretended cupy."""

import sys
import types

import numpy as np
import pytest
import zarr
import zarr.core.buffer.gpu as buffers

import blazarr
from blazarr.errors import UnsupportedError


class OnDevice(np.ndarray):
    """A numpy array that says it is on a device."""

    __cuda_array_interface__ = property(lambda self: self.__array_interface__)


def to_device(array, *args, **kwargs):
    return np.array(array, *args, **kwargs).view(OnDevice)


PRETENDED = types.ModuleType("cupy")
PRETENDED.asarray = PRETENDED.array = PRETENDED.asanyarray = to_device
PRETENDED.asnumpy = lambda array: np.array(array).view(np.ndarray)
PRETENDED.frombuffer = lambda *args, **kwargs: to_device(np.frombuffer(*args, **kwargs))
PRETENDED.concatenate = lambda *args, **kwargs: to_device(np.concatenate(*args, **kwargs))
PRETENDED.empty = lambda *args, **kwargs: np.empty(*args, **kwargs).view(OnDevice)


def test_arrays_of_zarr_python_are_read_to_the_device(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", PRETENDED)
    monkeypatch.setattr(buffers, "cp", PRETENDED)
    data = np.arange(600, dtype="f4").reshape(20, 30)
    store = zarr.storage.MemoryStore()
    zarr.create_array(store, shape=(20, 30), shards=(10, 10), chunks=(5, 5), dtype="f4")[:] = data
    before = zarr.config.get("buffer"), zarr.config.get("codec_pipeline.path")
    with blazarr.configure_gpu(async_concurrency=3):
        assert zarr.config.get("async.concurrency") == 3
        found = zarr.open_array(store, mode="r")[3:17, ::2]
    assert isinstance(found, OnDevice)
    assert (found == data[3:17, ::2]).all()
    assert (zarr.config.get("buffer"), zarr.config.get("codec_pipeline.path")) == before


def test_without_cupy_nothing_is_set(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    before = zarr.config.get("buffer")
    with pytest.raises(UnsupportedError):
        blazarr.configure_gpu()
    assert zarr.config.get("buffer") == before
