"""What came of a wave of a write: packed, copied to the host, and handed to the core."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from blazarr import _core
from blazarr.cuda.device import Device, FilePart, Stream, Words
from blazarr.cuda.filtering import Launcher, Queue
from blazarr.cuda.slots import Slot
from blazarr.errors import StoreError

# Where parts begin in packed memory.
PACKED = 16


class Kind(IntEnum):
    """What comes back of a row; the numbers are the core's."""

    EMPTY = 0
    ELEMENTS = 1
    STREAMS = 2
    # Nothing comes back: the device writes the chunk's file itself.
    FILE = 3


@dataclass(frozen=True)
class Round:
    """Rows that are copied together, and their parts: where each is, and where it goes."""

    rows: Words
    counts: Words
    address: Words
    length: Words
    place: Words


@dataclass(frozen=True)
class Parts:
    """What is copied to the host: parts of rows, in the order of the rows.

    Attributes
    ----------
    kinds
        What comes back of each row.
    failed
        Which rows do not.
    checks
        For each row the checksum of its content.
    row, address, length
        For each part its row, where it is, and how long.
    files
        Address and length of the rows that the device writes itself, in their order.
    """

    kinds: Words
    failed: npt.NDArray[np.bool_]
    checks: Words
    row: Words
    address: Words
    length: Words
    files: Sequence[tuple[int, int]]

    def rounds(self, capacity: int) -> Iterator[Round]:
        """Yield all rows that did not fail, as many at a time as fit."""
        rows = np.flatnonzero(~self.failed & (self.kinds != Kind.FILE))
        counts = np.bincount(self.row, minlength=len(self.kinds))[rows]
        parts = np.concatenate([[0], np.cumsum(counts)])
        places = np.concatenate([[0], np.cumsum(-(-self.length // PACKED) * PACKED)])
        ends, first = places[parts], 0
        while first < len(rows):
            last = int(np.searchsorted(ends, ends[first] + capacity, side="right")) - 1
            assert last > first, "a chunk is longer than what was planned for it"
            cut = slice(int(parts[first]), int(parts[last]))
            yield Round(
                rows[first:last],
                counts[first:last],
                self.address[cut],
                self.length[cut],
                places[cut] - ends[first],
            )
            first = last


@dataclass(frozen=True)
class Collector:
    """The way of rows from one slot of memory to the core."""

    device: Device
    slot: Slot
    stream: Stream
    chunks: _core.WaveChunks
    threads: int | None

    def collect(self, parts: Parts, numbers: Words) -> list[int]:
        """Copy the rows, whose numbers are given; return those that the core refused."""
        refused = self._write_files(parts, numbers)
        for round_ in parts.rounds(self.slot.sizes.staging):
            if len(round_.length):
                self._copy(round_)
            refused += self._absorb(parts, round_, numbers)
        return refused

    def _write_files(self, parts: Parts, numbers: Words) -> list[int]:
        """Let the device write files; return the rows whose store has none."""
        return [
            int(number)
            for number, part in zip(numbers[parts.kinds == Kind.FILE], parts.files, strict=True)
            if not self.chunks.replace_file(int(number), functools.partial(self._write_file, part))
        ]

    def _write_file(self, part: tuple[int, int], descriptor: int) -> None:
        address, nbytes = part
        try:
            written = self.device.write_file(FilePart(descriptor, 0, address, nbytes))
        finally:
            os.close(descriptor)
        if written != nbytes:
            raise StoreError(f"only {written} of {nbytes} bytes of a chunk's file were written")

    def _copy(self, round_: Round) -> None:
        slot, device, stream = self.slot, self.device, self.stream
        table, queue = slot.table, Queue(device, stream)
        source = table.words(round_.address)
        to, lengths = table.words(slot.memory.address + round_.place), table.words(round_.length)
        Launcher(queue, table, slot.sums).over("copy", round_.length, source, to, lengths)
        slot.send(device, table.used, stream)
        queue.run()
        used = int(round_.place[-1] + round_.length[-1])
        device.to_host(slot.staging[:used], slot.memory.address, stream)
        device.synchronize(device.record(stream))

    def _absorb(self, parts: Parts, round_: Round, numbers: Words) -> list[int]:
        pairs = zip(round_.place.tolist(), round_.length.tolist(), strict=True)
        return self.chunks.absorb(
            numbers[round_.rows].tolist(),
            bytes(parts.kinds[round_.rows].astype(np.uint8)),
            round_.counts.tolist(),
            (parts.checks[round_.rows] & 0xFFFFFFFF).tolist(),
            list(pairs),
            self.slot.staging,
            threads=self.threads,
        )
