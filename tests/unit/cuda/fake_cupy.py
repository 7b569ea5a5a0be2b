"""What `blazarr.cuda.gpu` uses of cupy and nvCOMP, over the host device: late streams and all."""

import ctypes
import types

import numpy as np

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


class Pointer:
    def __init__(self, nbytes, flags=0):
        self.memory = HOST.alloc(nbytes)
        self.ptr = self.memory.address

    def __del__(self):
        self.memory.free()


class FakeArray:
    """A numpy array that says it is on a device."""

    def __init__(self, host):
        self.host = host

    shape = property(lambda self: self.host.shape)
    dtype = property(lambda self: self.host.dtype)
    strides = property(lambda self: self.host.strides)
    data = property(lambda self: types.SimpleNamespace(ptr=self.host.ctypes.data))
    __cuda_array_interface__ = property(lambda self: self.host.__array_interface__)

    def reshape(self, shape):
        return FakeArray(self.host.reshape(shape))

    def get(self):
        return self.host


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

    def temp_bytes(self, format, count, largest, total):
        return HOST.decode_temp_bytes(format, count, largest, total)

    def decode(self, format, batch, stream):
        HOST.decode(format, batch, STREAMS[stream])


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
module.empty = lambda shape, dtype: FakeArray(np.full(shape, 0x5A, dtype))
module.asarray = lambda array: array if isinstance(array, FakeArray) else FakeArray(array.copy())
module.asnumpy = FakeArray.get
module.cuda = types.SimpleNamespace(
    Stream=Stream,
    Event=Event,
    Device=Device,
    PinnedMemory=Pointer,
    alloc=Pointer,
    get_current_stream=lambda: CURRENT[-1],
    function=types.SimpleNamespace(Module=Module),
    runtime=runtime,
)
