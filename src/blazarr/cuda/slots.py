"""The memory of a wave: one block on the device, one on the host, cut into parts once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from blazarr.cuda.device import (
    ByteArray,
    Device,
    Event,
    Format,
    Memory,
    PinnedMemory,
    Stream,
    Words,
)
from blazarr.cuda.options import Options
from blazarr.cuda.program import Filter, Program, Unscale
from blazarr.errors import LimitError

ALIGNMENT = 256
# Rows of one wave: more than these need not be in flight.
MOST_ROWS = 16_384
# Waves in flight: one is read and copied while another is decoded.
SLOTS = 2
# Below this many bytes a read is one wave: there is nothing to overlap.
ONE_WAVE = 32 << 20
WAVES = 4

ROW_COLUMNS = 8
AXIS_COLUMNS = 5
# Of the arrays that name a stream: four numbers for its decoder and four for its checksum in, a
# length, a status and the checksum out.
_STREAM_BYTES = (4 + 4) * 8
_STREAM_RESULTS = 8 + 4 + 8
# Arrays over the rows of a wave besides the table: for placing and checks, and for each filter.
_ROW_ARRAYS = 8
_FILTER_ARRAYS = 7


def aligned(nbytes: Any) -> Any:
    """Round up to a multiple of `ALIGNMENT`; of numbers and of arrays of them."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True)
class Sizes:
    """Bytes of each part of a wave's memory, and how much it may hold.

    Attributes
    ----------
    staging
        Encoded bytes.
    decoded
        Decoded bytes; there are `sides` such parts, for filters that can't work in place.
    encoded
        What encoders make, on a write.
    temp
        Scratch of the codecs.
    sums
        Sums of runs and pieces.
    table, results
        What goes to the device besides bytes, and what comes back.
    chunks, rows, streams
        The most of one wave: decoded bytes, chunks, and streams in them.
    """

    staging: int
    decoded: int
    sides: int
    temp: int
    sums: int
    table: int
    results: int
    chunks: int
    rows: int
    streams: int
    encoded: int = 0
    # What else is taken while the wave is made: on the device, and of pinned memory.
    beside: int = 0
    pinned_beside: int = 0

    @property
    def total(self) -> int:
        """Bytes on the device."""
        parts = (self.staging, self.encoded, self.temp, self.sums, self.table, self.results)
        return self.sides * self.decoded + sum(parts)

    @property
    def pinned(self) -> int:
        """Bytes of pinned memory."""
        return self.staging + self.table + self.results


@dataclass(frozen=True)
class Demand:
    """What rows ask for.

    Attributes
    ----------
    largest, total
        Aligned bytes of the largest chunk and of all, while they are decoded.
    smallest
        Aligned bytes of the smallest chunk.
    rows, rank
        How many rows there are, and axes of each.
    tables
        Bytes of tables of indices, which stay on the device throughout.
    """

    largest: int
    smallest: int
    total: int
    rows: int
    rank: int
    tables: int

    @classmethod
    def of(cls, spread: Words, rank: int, tables: int) -> Demand:
        """What chunks of these aligned lengths ask for."""
        least, most, total = int(spread.min()), int(spread.max()), int(spread.sum())
        return cls(most, max(1, least), total, len(spread), rank, tables)

    def rows_in(self, size: int) -> int:
        """Return the most rows of a wave that holds `size` decoded bytes."""
        return min(self.rows, MOST_ROWS, max(1, size // self.smallest))


def spread_of(filters: Sequence[Filter], decoded: Words) -> Words:
    """Return the aligned bytes that chunks hold at most on their way through filters."""
    factor = max([1.0, *(f.size / f.wide for f in filters if isinstance(f, Unscale))])
    spread: Words = aligned((decoded * factor).astype(np.int64))
    return spread


def fit(sizes_of: Callable[[int], Sizes], demand: Demand, options: Options) -> tuple[Sizes, int]:
    """Return the largest waves that fit a budget, and how many of them are in flight.

    Parameters
    ----------
    sizes_of
        The parts of a wave that holds so many decoded bytes.
    demand
        What the rows ask for.
    options
        The budgets.

    Raises
    ------
    LimitError
        If not even a wave of one chunk fits.
    """
    wanted = demand.total if demand.total <= ONE_WAVE else -(-demand.total // WAVES)
    size = int(aligned(max(demand.largest, wanted)))
    while True:
        slots = 1 if size >= demand.total else SLOTS
        sizes = sizes_of(size)
        if _over(sizes, slots, demand, options) is None:
            return sizes, slots
        if size <= demand.largest:
            break
        # Rounded down, so that it shrinks until it is the largest chunk.
        size = max(demand.largest, size * 7 // 8 // ALIGNMENT * ALIGNMENT)
    over = _over(sizes, 1, demand, options)
    if over is None:
        return sizes, 1
    name, least, limit = over
    raise LimitError(
        f"a chunk of {demand.largest} bytes needs {least} bytes of {name} memory, more than the "
        f"{limit} that the options allow; raise `{name}`, or use the CPU",
        size=least,
        limit=limit,
        argument=name,
    )


def _over(
    sizes: Sizes, slots: int, demand: Demand, options: Options
) -> tuple[str, int, int] | None:
    """The budget that so many waves exceed, what they need and what there is."""
    needs = {
        "memory": slots * sizes.total + sizes.beside + demand.tables,
        # The tables go through pinned memory before the waves have theirs.
        "pinned": max(slots * sizes.pinned + sizes.pinned_beside, demand.tables),
    }
    for name, need in needs.items():
        if need > getattr(options, name):
            return name, need, getattr(options, name)
    return None


def read_sizes(device: Device, program: Program, demand: Demand, size: int) -> Sizes:
    """Return the parts of a wave of a read that holds `size` decoded bytes."""
    rows = demand.rows_in(size)
    # Compressors whose scratch grows with the number of streams get fewer.
    per_stream = 16_384 if Format.ZSTD in program.formats else 4096
    streams = rows + size // per_stream + 16
    decoded = size if program.frame or program.filters else 0
    temps = [device.decode_temp_bytes(format, streams, size, decoded) for format in program.formats]
    arrays = _ROW_ARRAYS + _FILTER_ARRAYS * (len(program.filters) + 1)
    row_bytes = 8 * (ROW_COLUMNS + AXIS_COLUMNS * demand.rank + arrays)
    return Sizes(
        # Containers of blocks are up to a 128th longer than their content.
        staging=int(aligned(size + size // 128 + rows * 64 + 4096)),
        decoded=decoded,
        sides=(2 if program.filters else 1) if decoded else 0,
        temp=int(aligned(max(temps, default=0))),
        sums=int(aligned(size // 32 + (rows + streams) * 32)) if decoded else 0,
        table=int(aligned(streams * _STREAM_BYTES + rows * row_bytes + 8192)),
        results=int(aligned(streams * _STREAM_RESULTS + 1024)),
        chunks=size,
        rows=rows,
        streams=streams,
    )


class Packer:
    """Arrays packed one after another into pinned memory, with their addresses on the device."""

    def __init__(self, memory: ByteArray, address: int) -> None:
        self._memory = memory
        self._address = address
        self.used = 0

    def room(self, nbytes: int) -> tuple[ByteArray, int]:
        """Return bytes to fill, and their address on the device."""
        start = -(-self.used // 16) * 16
        self.used = start + nbytes
        assert self.used <= len(self._memory), "a wave's tables are larger than was planned"
        return self._memory[start : self.used], self._address + start

    def put(self, array: npt.NDArray[Any]) -> int:
        """Copy an array; return its address on the device."""
        room, address = self.room(array.nbytes)
        room[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return address

    def words(self, values: Sequence[int] | npt.NDArray[Any]) -> int:
        """Copy 64-bit integers."""
        return self.put(np.asarray(values, np.int64))


class Slot:
    """The memory of one wave."""

    def __init__(self, device: Device, sizes: Sizes) -> None:
        self.sizes = sizes
        self.event: Event = None
        self.memory: Memory = device.alloc(sizes.total)
        try:
            self.pinned: PinnedMemory = device.alloc_pinned(sizes.pinned)
        except BaseException:
            self.memory.free()
            raise

    def free(self) -> None:
        """Give everything back."""
        self.memory.free()
        self.pinned.free()

    @property
    def staging(self) -> ByteArray:
        """The staging part on the host; on the device the block begins with it."""
        return self.pinned.array[: self.sizes.staging]

    def side(self, number: int) -> int:
        """Return the address of one of the parts for decoded bytes."""
        return self.memory.address + self.sizes.staging + number * self.sizes.decoded

    @property
    def encoded(self) -> int:
        """Address of what encoders make."""
        return self.side(self.sizes.sides)

    @property
    def temp(self) -> int:
        """Address of the codecs' scratch."""
        return self.encoded + self.sizes.encoded

    @property
    def sums(self) -> int:
        """Address of the sums."""
        return self.temp + self.sizes.temp

    @property
    def table(self) -> Packer:
        """A new packer over what goes to the device."""
        start = self.sizes.staging
        memory = self.pinned.array[start : start + self.sizes.table]
        return Packer(memory, self.sums + self.sizes.sums)

    @property
    def results(self) -> Packer:
        """A new packer over what comes back."""
        start = self.sizes.staging + self.sizes.table
        memory = self.pinned.array[start : start + self.sizes.results]
        return Packer(memory, self.sums + self.sizes.sums + self.sizes.table)

    def send(self, device: Device, used: int, stream: Stream) -> None:
        """Queue the copy of the table's first bytes to the device."""
        start = self.sizes.staging
        device.to_device(
            self.sums + self.sizes.sums, self.pinned.array[start : start + used], stream
        )

    def fetch(self, device: Device, used: int, stream: Stream) -> None:
        """Queue the copy of the results' first bytes to the host."""
        if not used:
            return
        start = self.sizes.staging + self.sizes.table
        address = self.sums + self.sizes.sums + self.sizes.table
        device.to_host(self.pinned.array[start : start + used], address, stream)
