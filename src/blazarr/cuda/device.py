"""What the wave executor asks of a device: some twenty calls, of CUDA or of its stand-in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

ByteArray = npt.NDArray[np.uint8]
Words = npt.NDArray[np.int64]

# Opaque to the executor.
Stream = Any
Event = Any


class Format(IntEnum):
    """The format of one compressed stream; the numbers are the core's."""

    STORED = 0
    ZSTD = 1
    LZ4 = 2
    GZIP = 3
    DEFLATE = 4
    SNAPPY = 5
    GDEFLATE = 6
    ANS = 7
    BITCOMP = 8
    CASCADED = 9


class Memory(Protocol):
    """Memory of a device."""

    @property
    def address(self) -> int:
        """Where it begins."""

    @property
    def nbytes(self) -> int:
        """How long it is."""

    def free(self) -> None:
        """Give it back; work on it that is still queued must have been waited for."""


class PinnedMemory(Protocol):
    """Memory of the host from and to which a device copies on its own."""

    @property
    def array(self) -> ByteArray:
        """Its bytes."""

    def free(self) -> None:
        """Give it back, as `Memory.free`."""


@dataclass(frozen=True)
class FilePart:
    """A part of an open file, and the memory of the device that it goes to or comes from.

    Attributes
    ----------
    descriptor
        The file's number in this process.
    offset
        Where in the file it begins.
    address, nbytes
        The memory.
    """

    descriptor: int
    offset: int
    address: int
    nbytes: int


@dataclass(frozen=True)
class Batch:
    """Streams of one format that are decoded, or encoded, together: addresses of arrays on the device.

    Attributes
    ----------
    count
        How many.
    largest
        Bytes of the longest of them, decoded.
    total
        Bytes of all of them, decoded.
    sources, lengths
        Where each input begins, and its length.
    targets, capacities
        Where its output goes; for decoders the length that is due, for encoders the room there is.
    made, statuses
        What the device writes: the output's true length (64 bits), and 0 or a fault (32 bits).
    temp, temp_bytes
        Memory that the codec may use.
    """

    count: int
    largest: int
    total: int
    sources: int
    lengths: int
    targets: int
    capacities: int
    made: int
    statuses: int
    temp: int
    temp_bytes: int


@dataclass(frozen=True)
class Tuning:
    """What a compressor is told of its input; decoders need none of it.

    Attributes
    ----------
    data_type
        numpy's name of the elements' type; ``uint8`` for anything.
    algorithm
        The compressor's number for a way to work; None for its default.
    """

    data_type: str = "uint8"
    algorithm: int | None = None


class Device(Protocol):
    """A device. Calls that take a stream queue work on it and return at once."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def formats(self) -> frozenset[Format]:
        """What `decode` can decode."""

    def alloc(self, nbytes: int) -> Memory:
        """Return new memory of the device."""

    def alloc_pinned(self, nbytes: int) -> PinnedMemory:
        """Return new memory of the host that can be copied without a stop."""

    def stream(self) -> Stream:
        """Return a new stream."""

    def record(self, stream: Stream) -> Event:
        """Return an event that happens when what is queued on a stream now is done."""

    def wait(self, stream: Stream, event: Event) -> None:
        """Let what is queued on a stream from now on wait for an event."""

    def synchronize(self, event: Event) -> None:
        """Wait for an event."""

    def drain(self, stream: Stream) -> None:
        """Wait for all that is queued on a stream."""

    def to_device(self, address: int, source: ByteArray, stream: Stream) -> None:
        """Copy pinned bytes to the device."""

    def to_host(self, target: ByteArray, address: int, stream: Stream) -> None:
        """Copy from the device to pinned bytes."""

    def file_obstacle(self, folder: str) -> str:
        """Return what keeps files of a folder from being read straight to the device; empty for nothing."""

    def read_files(self, parts: Sequence[FilePart]) -> list[int]:
        """Read parts of files, and wait; return how many bytes of each there were."""

    def write_file(self, part: FilePart) -> int:
        """Write a part of a file, and wait; return how many bytes were written."""

    def launch(self, kernel: str, tiles: int, arguments: tuple[int, ...], stream: Stream) -> None:
        """Run a kernel over a number of tiles; arguments are addresses and integers."""

    def decode_temp_bytes(self, format: Format, count: int, largest: int, total: int) -> int:
        """Return how much memory `decode` needs for a batch."""

    def decode(self, format: Format, batch: Batch, stream: Stream) -> None:
        """Decode a batch of streams."""

    @property
    def encodes(self) -> frozenset[Format]:
        """What `encode` can encode."""

    def encode_bound(self, format: Format, largest: int) -> int:
        """Return the most bytes that `encode` makes of so many."""

    def encode_temp_bytes(self, format: Format, count: int, largest: int, total: int) -> int:
        """Return how much memory `encode` needs for a batch."""

    def encode(self, format: Format, batch: Batch, tuning: Tuning, stream: Stream) -> None:
        """Encode a batch of streams, each from memory aligned to 16 bytes into such memory."""
