"""What `blazarr.cuda.gpu` uses of cupy and nvCOMP, over the host device: late streams and all."""

import ctypes
import sys
import types

import numpy as np
import pytest

from blazarr.cuda.host import HostDevice

HOST = HostDevice()
STREAMS = {}


class CUDARuntimeError(RuntimeError):
    pass


class Stream:
    def __init__(self, non_blocking=False):
        self.host = HOST.stream()
        self.ptr = id(self)
        STREAMS[self.ptr] = self.host

    def wait_event(self, event):
        HOST.wait(self.host, event.host)

    def synchronize(self):
        HOST.drain(self.host)

    def __enter__(self):
        CURRENT.append(self)

    def __exit__(self, *_):
        CURRENT.pop()


CURRENT = [Stream()]


class Event:
    def __init__(self, disable_timing=False):
        self.host = None

    def record(self, stream):
        self.host = HOST.record(stream.host)

    def synchronize(self):
        HOST.synchronize(self.host)


class Device:
    compute_capability = "90"

    def __init__(self, number=0):
        self.id = number

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def synchronize(self):
        pass


class Pointer:
    def __init__(self, nbytes, flags=0):
        self.memory = HOST.alloc(nbytes)
        self.ptr = self.memory.address

    def __del__(self):
        self.memory.free()


class MemoryPointer:
    def __init__(self, memory, offset):
        self.memory, self.offset = memory, offset


class UnownedMemory:
    def __init__(self, address, nbytes, owner, device):
        self.bytes = view(address, nbytes)


class FakeArray(np.ndarray):
    """A numpy array that says it is on a device."""

    data = property(lambda self: types.SimpleNamespace(ptr=self.ctypes.data))
    device = property(lambda self: types.SimpleNamespace(id=0))
    __cuda_array_interface__ = property(lambda self: self.__array_interface__)

    def get(self):
        return self.view(np.ndarray)

    def set(self, array):
        self[...] = array


def to_device(array, *args, **kwargs):
    if isinstance(array, FakeArray):
        return array
    return np.array(array, *args, **kwargs).view(FakeArray)


class Function:
    def __init__(self, name):
        self.name = name

    def __call__(self, grid, block, args, shared, stream):
        assert len(grid) == len(block) == 1
        assert 0 < grid[0] < 1 << 31
        HOST.launch(self.name, grid[0], args, stream.host)


class Module:
    def load(self, image):
        assert image == b"kernels"

    def get_function(self, name):
        return Function(name)


def view(address, nbytes):
    return np.frombuffer((ctypes.c_uint8 * nbytes).from_address(address), np.uint8)


def copy_async(target, source, nbytes, kind, stream):
    host = STREAMS[stream]
    if kind == runtime.memcpyHostToDevice:
        HOST.to_device(target, view(source, nbytes), host)
    else:
        HOST.to_host(view(target, nbytes), source, host)


class Nvcomp:
    version = (6, 0)

    def temp_bytes(self, format, count, largest, total, *, encoding=False):
        asked = HOST.encode_temp_bytes if encoding else HOST.decode_temp_bytes
        return asked(format, count, largest, total)

    def decode(self, format, batch, stream):
        HOST.decode(format, batch, STREAMS[stream])

    def bound(self, format, largest):
        return HOST.encode_bound(format, largest)

    def encode(self, format, batch, tuning, stream):
        HOST.encode(format, batch, tuning, STREAMS[stream])


runtime = types.SimpleNamespace(
    CUDARuntimeError=CUDARuntimeError,
    getDeviceCount=lambda: 2,
    getDeviceProperties=lambda n: {"name": b"pretended"},
    runtimeGetVersion=lambda: 13000,
    memcpyAsync=copy_async,
    memcpyHostToDevice=1,
    memcpyDeviceToHost=2,
)

module = types.ModuleType("cupy")
module.__version__ = "14.0"
module.ndarray = FakeArray
module.empty = lambda *args, **kwargs: np.full_like(np.empty(*args, **kwargs), 0x5A).view(FakeArray)
module.asarray = module.array = module.asanyarray = to_device
module.ascontiguousarray = lambda array: np.ascontiguousarray(array).view(FakeArray)
module.asnumpy = lambda array: np.array(array).view(np.ndarray)
module.frombuffer = lambda *args, **kwargs: to_device(np.frombuffer(*args, **kwargs))
module.concatenate = lambda *args, **kwargs: to_device(np.concatenate(*args, **kwargs))
module.broadcast_to = lambda array, shape: np.broadcast_to(array, shape, subok=True)
module.from_dlpack = lambda array: np.from_dlpack(array.on_host).view(FakeArray)
module.cuda = types.SimpleNamespace(
    Stream=Stream,
    Event=Event,
    Device=Device,
    PinnedMemory=Pointer,
    alloc=Pointer,
    UnownedMemory=UnownedMemory,
    # What numpy's constructor takes in place of it.
    MemoryPointer=lambda memory, offset: memory.bytes[offset:],
    get_current_stream=lambda: CURRENT[-1],
    function=types.SimpleNamespace(Module=Module),
    runtime=runtime,
)


ALLOCATORS = [Pointer]


def set_allocator(allocator):
    ALLOCATORS.append(allocator)


module.cuda.set_allocator = set_allocator
module.cuda.alloc_pinned_memory = lambda nbytes: memoryview(bytearray(nbytes))
module.cuda.get_allocator = lambda: ALLOCATORS[-1]


@pytest.fixture
def cupy(monkeypatch):
    """A machine with two pretended GPUs."""
    from blazarr.cuda import gpu, nvcomp

    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setattr(nvcomp, "installed", Nvcomp)
    monkeypatch.setattr(gpu, "compiled", lambda major, capability: b"kernels")
    gpu.cuda_device.cache_clear()
    yield module
    gpu.cuda_device.cache_clear()
