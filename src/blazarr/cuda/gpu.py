"""The CUDA device: cupy's memory, streams and launches, nvCOMP's decoders.

The only module that imports cupy. It was written and checked without a GPU: see
``docs/design/gpu.md`` for what has run and what has not.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np

from blazarr.cuda import files, nvcomp, nvrtc
from blazarr.cuda.device import Batch, ByteArray, FilePart, Format, Tuning
from blazarr.errors import UnsupportedError

THREADS = 256
# Blocks of one launch; each takes tiles in turn.
MOST_BLOCKS = 4096
# cudaHostAllocPortable: pinned for every context.
PORTABLE = 1
# Pinned memory that a device keeps for its next read: allocating it takes longer than a wave.
KEPT_PINNED = 1 << 30


def import_cupy() -> Any:
    """Return cupy, or say what to install."""
    try:
        import cupy
    except ImportError as error:
        raise UnsupportedError(
            "arrays on \"cuda\" need cupy, which is not installed; install 'blazarr[cu13]' (CUDA "
            "13) or 'blazarr[cu12]' (CUDA 12)",
            package="cupy",
        ) from error
    return cupy


def import_kvikio() -> Any:
    """Return kvikio, or say what to install."""
    try:
        import kvikio
    except ImportError as error:
        raise UnsupportedError(
            "io='cufile' needs kvikio, which is not installed; install kvikio-cu13 (CUDA 13) or "
            "kvikio-cu12 (CUDA 12)",
            package="kvikio",
        ) from error
    return kvikio


def _path_of(part: FilePart) -> str:
    """A path that opens the same file, even where another has taken its name meanwhile."""
    return f"/proc/self/fd/{part.descriptor}"


class _Pending(list[Any]):
    """Reads under way, which are waited for on leaving."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for read in self:
            with contextlib.suppress(Exception):
                read.get()


class CupyMemory:
    """Memory of cupy's allocator, which may be a pool of the user's."""

    def __init__(self, pointer: Any, nbytes: int) -> None:
        self._pointer = pointer
        self.nbytes = nbytes

    @property
    def address(self) -> int:
        """Where it begins."""
        return int(self._pointer.ptr)

    def free(self) -> None:
        """Give it back to its pool."""
        self._pointer = None


class CupyPinned:
    """Pinned memory, kept by its device when it is given back."""

    def __init__(self, device: CudaDevice, memory: Any, nbytes: int) -> None:
        self._device = device
        self.memory = memory
        self.capacity = nbytes
        self.array: ByteArray = np.empty(0, np.uint8)

    def cut(self, nbytes: int) -> CupyPinned:
        """Use this many bytes of it."""
        raw = (ctypes.c_uint8 * nbytes).from_address(self.memory.ptr)
        self.array = np.frombuffer(raw, np.uint8)
        return self

    def free(self) -> None:
        """Give it back."""
        self._device.keep(self)


class CudaDevice:
    """One GPU.

    Parameters
    ----------
    number
        CUDA's number of it.
    """

    formats = frozenset(Format) - {Format.STORED}
    encodes = formats

    def __init__(self, number: int) -> None:
        self._cupy = import_cupy()
        self._runtime = self._cupy.cuda.runtime
        self.number = number
        self._check_number()
        self._nvcomp = nvcomp.installed()
        self._pinned: list[CupyPinned] = []
        self._lock = threading.Lock()
        self._module: Any = None
        self._functions: dict[str, Any] = {}

    def _check_number(self) -> None:
        try:
            count = self._runtime.getDeviceCount()
        except self._runtime.CUDARuntimeError as error:
            raise UnsupportedError(f"there is no usable NVIDIA GPU: {error}") from error
        if self.number >= count:
            raise UnsupportedError(f"there is no device {self.name!r}; CUDA sees {count}")

    @property
    def name(self) -> str:
        """The name by which users ask for it."""
        return f"cuda:{self.number}"

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make it this thread's device."""
        with self._cupy.cuda.Device(self.number):
            yield

    def alloc(self, nbytes: int) -> CupyMemory:
        """Return new memory of the pool."""
        with self.current():
            return CupyMemory(self._cupy.cuda.alloc(nbytes), nbytes)

    def alloc_pinned(self, nbytes: int) -> CupyPinned:
        """Return pinned memory that was kept, or new."""
        with self._lock:
            fitting = [m for m in self._pinned if nbytes <= m.capacity <= 2 * nbytes]
            if fitting:
                best = min(fitting, key=lambda memory: memory.capacity)
                self._pinned.remove(best)
                return best.cut(nbytes)
        with self.current():
            memory = self._cupy.cuda.PinnedMemory(nbytes, PORTABLE)
        return CupyPinned(self, memory, nbytes).cut(nbytes)

    def keep(self, memory: CupyPinned) -> None:
        """Keep pinned memory for the next read, the latest first."""
        with self._lock:
            self._pinned.insert(0, memory)
            while sum(kept.capacity for kept in self._pinned) > KEPT_PINNED:
                self._pinned.pop()

    def stream(self) -> Any:
        """Return a new stream, which the legacy default stream does not wait for."""
        with self.current():
            return self._cupy.cuda.Stream(non_blocking=True)

    def record(self, stream: Any) -> Any:
        """Return an event for what is queued now."""
        with self.current():
            event = self._cupy.cuda.Event(disable_timing=True)
            event.record(stream)
            return event

    def wait(self, stream: Any, event: Any) -> None:
        """Let a stream wait for an event."""
        with self.current():
            stream.wait_event(event)

    def synchronize(self, event: Any) -> None:
        """Wait for an event."""
        with self.current():
            event.synchronize()

    def drain(self, stream: Any) -> None:
        """Wait for a stream."""
        with self.current():
            stream.synchronize()

    def to_device(self, address: int, source: ByteArray, stream: Any) -> None:
        """Queue a copy."""
        kind = self._runtime.memcpyHostToDevice
        with self.current():
            self._runtime.memcpyAsync(address, source.ctypes.data, source.nbytes, kind, stream.ptr)

    def to_host(self, target: ByteArray, address: int, stream: Any) -> None:
        """Queue a copy."""
        kind = self._runtime.memcpyDeviceToHost
        with self.current():
            self._runtime.memcpyAsync(target.ctypes.data, address, target.nbytes, kind, stream.ptr)

    def file_obstacle(self, folder: str) -> str:
        """Return what keeps this GPU from reading files of a folder itself; empty for nothing."""
        return files.obstacle(folder)

    def read_files(self, parts: Sequence[FilePart]) -> list[int]:
        """Read parts of files by cuFile, all at once."""
        kvikio = import_kvikio()
        with contextlib.ExitStack() as opened, self.current():
            opened_files = [opened.enter_context(kvikio.CuFile(_path_of(p), "r")) for p in parts]
            # Whatever fails, no file is closed while it is still read.
            pending = opened.enter_context(_Pending())
            for file, part in zip(opened_files, parts, strict=True):
                pending.append(file.pread(self._memory_at(part), part.nbytes, part.offset))
            return [int(read.get()) for read in pending]

    def write_file(self, part: FilePart) -> int:
        """Write a part of a file by cuFile."""
        kvikio = import_kvikio()
        with self.current(), kvikio.CuFile(_path_of(part), "r+") as file:
            return int(file.pwrite(self._memory_at(part), part.nbytes, part.offset).get())

    def _memory_at(self, part: FilePart) -> Any:
        """A part's memory as an array of cupy's, which does not own it."""
        cuda = self._cupy.cuda
        memory = cuda.UnownedMemory(part.address, part.nbytes, self, self.number)
        return self._cupy.ndarray((part.nbytes,), np.uint8, cuda.MemoryPointer(memory, 0))

    def launch(self, kernel: str, tiles: int, arguments: tuple[int, ...], stream: Any) -> None:
        """Queue a kernel."""
        with self.current():
            function = self._function(kernel)
            function((min(tiles, MOST_BLOCKS),), (THREADS,), arguments, 0, stream)

    def _function(self, kernel: str) -> Any:
        with self._lock:
            if self._module is None:
                self._module = self._cupy.cuda.function.Module()
                self._module.load(compiled(self._runtime.runtimeGetVersion() // 1000, self._arch))
            if kernel not in self._functions:
                self._functions[kernel] = self._module.get_function(kernel)
            return self._functions[kernel]

    @property
    def _arch(self) -> int:
        return int(self._cupy.cuda.Device(self.number).compute_capability)

    def decode_temp_bytes(self, format: Format, count: int, largest: int, total: int) -> int:
        """Return what nvCOMP asks for."""
        with self.current():
            return self._nvcomp.temp_bytes(format, count, largest, total)

    def decode(self, format: Format, batch: Batch, stream: Any) -> None:
        """Queue nvCOMP's decoder."""
        with self.current():
            self._nvcomp.decode(format, batch, stream.ptr)

    def encode_bound(self, format: Format, largest: int) -> int:
        """Return nvCOMP's bound."""
        return self._nvcomp.bound(format, largest)

    def encode_temp_bytes(self, format: Format, count: int, largest: int, total: int) -> int:
        """Return what nvCOMP asks for."""
        with self.current():
            return self._nvcomp.temp_bytes(format, count, largest, total, encoding=True)

    def encode(self, format: Format, batch: Batch, tuning: Tuning, stream: Any) -> None:
        """Queue nvCOMP's encoder."""
        with self.current():
            self._nvcomp.encode(format, batch, tuning, stream.ptr)


def compiled(major: int, capability: int) -> bytes:
    """Return the kernels for a compute capability, from a cache on disk where they are there."""
    compiler = nvrtc.installed(major)
    key = hashlib.sha256(repr((compiler.version, capability, nvrtc.OPTIONS)).encode())
    for path in sorted(nvrtc.FOLDER.glob("*.cu*")):
        key.update(path.read_bytes())
    default = Path(tempfile.gettempdir()) / f"blazarr-kernels-{os.getuid()}"
    folder = Path(os.environ.get("BLAZARR_CACHE", default))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = folder / f"{key.hexdigest()[:24]}.image"
    if target.exists() and target.stat().st_uid == os.getuid():
        return target.read_bytes()
    image = compiler.compile(capability)
    draft = target.with_suffix(f".{os.getpid()}")
    draft.write_bytes(image.data)
    draft.replace(target)
    return image.data


@functools.cache
def cuda_device(number: int) -> CudaDevice:
    """Return the device of this number; it keeps compiled kernels and pinned memory."""
    return CudaDevice(number)
