"""A device made of host memory, for tests: streams that run as late as they may, counted failures."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from blazarr.cuda import hostcodecs, hostkernels
from blazarr.cuda.device import Batch, ByteArray, FilePart, Format, Tuning
from blazarr.errors import StoreError

# What memory holds before it is written and after it was given back.
POISON = 0xA5
# Bytes on both sides of memory that nobody may touch.
GUARD = 64

# Streams wait for each other, so one lock for each of them could end in a deadlock.
_RUNNING = threading.RLock()


class DeviceCallError(StoreError):
    """A device call failed because a test asked for it."""


@dataclass
class HostStream:
    """Work that has not run yet."""

    work: list[Callable[[], object]] = field(default_factory=list)
    done: int = 0

    def run(self, until: int) -> None:
        """Run what was queued up to a position."""
        with _RUNNING:
            while self.done < until:
                step = self.work[self.done]
                self.done += 1
                step()


@dataclass(frozen=True)
class HostEvent:
    """A position in a stream's work."""

    stream: HostStream
    position: int

    def happen(self) -> None:
        """Run all that it stands for."""
        self.stream.run(self.position)


class HostMemory:
    """Bytes of the host that are guarded on both sides, and poisoned when given back."""

    def __init__(self, device: HostDevice, nbytes: int, *, pinned: bool) -> None:
        self._device = device
        self.pinned = pinned
        self._whole = np.full(nbytes + 2 * GUARD, POISON, np.uint8)
        start = -self._whole.ctypes.data % GUARD
        self._start = start or GUARD
        self.nbytes = nbytes
        self.array: ByteArray = self._whole[self._start : self._start + nbytes]
        device.allocations.append(self)

    @property
    def address(self) -> int:
        """Where it begins."""
        return int(self._whole.ctypes.data) + self._start

    def is_intact(self) -> bool:
        """Whether nobody wrote outside."""
        outside = (self._whole[: self._start], self._whole[self._start + self.nbytes :])
        return all(bool((part == POISON).all()) for part in outside)

    def free(self) -> None:
        """Give it back; what is still queued on it will find poison."""
        assert self.is_intact(), "something was written outside of device memory"
        self.array[:] = POISON
        self._device.allocations.remove(self)
        self._device.freed.append(self)


class HostDevice:
    """The interface of a device over host memory and the CPU's decoders.

    Work on a stream runs only when somebody waits for it, and then no more of other streams than
    events ask for: a missing wait finds poison instead of data.

    Parameters
    ----------
    fail_at
        The number of the call that fails, from 0; None for none.
    fail_on
        Whether all calls after it fail too.
    """

    def __init__(self, fail_at: int | None = None, *, fail_on: bool = False) -> None:
        self.fail_at = fail_at
        self.fail_on = fail_on
        self.calls = 0
        self.log: list[str] = []
        self.allocations: list[HostMemory] = []
        # Kept, so that late work meets poison and not memory of somebody else.
        self.freed: list[HostMemory] = []
        self.peak = self.peak_pinned = 0
        self._kernels = hostkernels.library()

    name = "host"
    formats = frozenset(Format)
    encodes = frozenset(Format) - {Format.STORED}

    @property
    def allocated(self) -> int:
        """Bytes that were not given back."""
        return sum(memory.nbytes for memory in self.allocations)

    def _call(self, name: str) -> None:
        number = self.calls
        self.calls += 1
        self.log.append(name)
        if self.fail_at is not None and (
            number == self.fail_at or (self.fail_on and number > self.fail_at)
        ):
            raise DeviceCallError(f"call {number} of the device, {name}, was told to fail")

    def alloc(self, nbytes: int) -> HostMemory:
        """Return new memory, full of poison."""
        self._call("alloc")
        memory = HostMemory(self, nbytes, pinned=False)
        self.peak = max(self.peak, self._used(pinned=False))
        return memory

    def alloc_pinned(self, nbytes: int) -> HostMemory:
        """Return new memory; there is only one kind."""
        self._call("alloc_pinned")
        memory = HostMemory(self, nbytes, pinned=True)
        self.peak_pinned = max(self.peak_pinned, self._used(pinned=True))
        return memory

    def _used(self, *, pinned: bool) -> int:
        return sum(memory.nbytes for memory in self.allocations if memory.pinned is pinned)

    def stream(self) -> HostStream:
        """Return a new stream."""
        self._call("stream")
        return HostStream()

    def record(self, stream: HostStream) -> HostEvent:
        """Return an event for what is queued now."""
        self._call("record")
        return HostEvent(stream, len(stream.work))

    def wait(self, stream: HostStream, event: HostEvent) -> None:
        """Queue that an event happens."""
        self._call("wait")
        stream.work.append(event.happen)

    def synchronize(self, event: HostEvent) -> None:
        """Let an event happen."""
        self._call("synchronize")
        event.happen()

    def drain(self, stream: HostStream) -> None:
        """Run all that is queued on a stream."""
        self._call("drain")
        stream.run(len(stream.work))

    def to_device(self, address: int, source: ByteArray, stream: HostStream) -> None:
        """Queue a copy, of what the source holds when it runs."""
        self._call("to_device")
        stream.work.append(lambda: ctypes.memmove(address, source.ctypes.data, source.nbytes))

    def to_host(self, target: ByteArray, address: int, stream: HostStream) -> None:
        """Queue a copy."""
        self._call("to_host")
        stream.work.append(lambda: ctypes.memmove(target.ctypes.data, address, target.nbytes))

    def file_obstacle(self, folder: str) -> str:
        """Return that nothing is in the way."""
        self._call("file_obstacle")
        return ""

    def read_files(self, parts: Sequence[FilePart]) -> list[int]:
        """Read at once: cuFile, too, knows nothing of streams."""
        self._call("read_files")
        found = []
        for part in parts:
            data = os.pread(part.descriptor, part.nbytes, part.offset)
            ctypes.memmove(part.address, data, len(data))
            found.append(len(data))
        return found

    def write_file(self, part: FilePart) -> int:
        """Write at once."""
        self._call("write_file")
        data = (ctypes.c_uint8 * part.nbytes).from_address(part.address)
        return os.pwrite(part.descriptor, data, part.offset)

    def launch(
        self, kernel: str, tiles: int, arguments: tuple[int, ...], stream: HostStream
    ) -> None:
        """Queue a kernel."""
        self._call(f"launch {kernel}")
        stream.work.append(lambda: hostkernels.launch(self._kernels, kernel, arguments))

    def decode_temp_bytes(self, format: Format, count: int, largest: int, total: int) -> int:
        """Return what nvCOMP is known to ask for."""
        self._call("decode_temp_bytes")
        return 3 * total + 6936 * max(count, total >> 17) if format is Format.ZSTD else 0

    def decode(self, format: Format, batch: Batch, stream: HostStream) -> None:
        """Queue the CPU's decoder for every stream of a batch."""
        self._call(f"decode {format.name}")
        stream.work.append(lambda: hostcodecs.decode(format, batch, poison=POISON))

    def encode_bound(self, format: Format, largest: int) -> int:
        """Return a bound as loose as nvCOMP's loosest."""
        self._call("encode_bound")
        return 2 * largest + 1024

    def encode_temp_bytes(self, format: Format, count: int, largest: int, total: int) -> int:
        """Return some memory: what nvCOMP asks for is not known without a GPU."""
        self._call("encode_temp_bytes")
        return 64 * count + total // 8

    def encode(self, format: Format, batch: Batch, tuning: Tuning, stream: HostStream) -> None:
        """Queue the CPU's encoder for every stream of a batch."""
        self._call(f"encode {format.name}")
        stream.work.append(lambda: hostcodecs.encode(format, batch, poison=POISON))
