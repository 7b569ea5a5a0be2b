"""How much memory a wave of a write needs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from blazarr.cuda.device import Device, Words
from blazarr.cuda.encoding import MOST_ENCODED, EncodeProgram
from blazarr.cuda.slots import AXIS_COLUMNS, ROW_COLUMNS, Demand, Sizes, aligned

# Of the arrays that name a stream: four numbers for its encoder, then four to pack it; a length and
# a status come back.
_STREAM_BYTES = 8 * 8
_STREAM_RESULTS = 8 + 4
# Arrays over the rows of a wave besides the table, and for each filter; a mark and a checksum.
_ROW_ARRAYS = 16
_FILTER_ARRAYS = 7
_ROW_RESULTS = 4 + 8


def stream_counts(program: EncodeProgram, lengths: Words) -> Words:
    """Return how many streams chunks of these lengths have."""
    counts: Words = -(-lengths // program.block) if program.block else np.ones_like(lengths)
    return counts


def write_sizes(
    device: Device,
    program: EncodeProgram,
    demand: Demand,
    size: int,
    *,
    beside: Callable[[int], Sizes] | None = None,
) -> Sizes:
    """Return the parts of a wave of a write that holds `size` decoded bytes.

    Parameters
    ----------
    device, program, demand, size
        What writes, how, and what.
    beside
        The wave of a read that is made of what the chunks hold now; None for none.
    """
    rows = demand.rows_in(size)
    format, block = program.format, program.block
    streams = rows + (size // block if block else 0)
    encoded = temp = 0
    if format is not None:
        longest = min(program.stream_bytes(demand.largest), MOST_ENCODED[format])
        encoded = streams * int(aligned(device.encode_bound(format, longest)))
        temp = device.encode_temp_bytes(format, streams, longest, size)
    arrays = _ROW_ARRAYS + _FILTER_ARRAYS * (len(program.filters) + 1)
    read = beside(size) if beside else None
    row_bytes = 8 * (ROW_COLUMNS + AXIS_COLUMNS * demand.rank + arrays)
    return Sizes(
        staging=int(aligned(size + size // 128 + streams * 64 + 4096)),
        decoded=size,
        sides=2 if program.moves else 1,
        temp=int(aligned(temp)),
        sums=int(aligned(size // 32 + rows * 32)),
        table=int(aligned((streams + rows) * _STREAM_BYTES + rows * row_bytes + 8192)),
        results=int(aligned(streams * _STREAM_RESULTS + rows * _ROW_RESULTS + 1024)),
        chunks=size,
        rows=rows,
        streams=streams,
        encoded=encoded,
        beside=read.total if read else 0,
        pinned_beside=read.pinned if read else 0,
    )
