"""Checksums of decoded chunks, computed by the device and compared on the host."""

from __future__ import annotations

import functools
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from blazarr.cuda.device import Words
from blazarr.cuda.filtering import Launcher

# Bytes that one thread sums up; the kernels' PIECE.
PIECE = 4096

CRC32 = 0xEDB88320
CRC32C = 0x82F63B78


class Check(IntEnum):
    """Kinds of checksums; the numbers are the core's."""

    NONE = 0
    XXH64 = 1
    CRC32 = 2
    ADLER32 = 3


@functools.cache
def remainders(polynomial: int) -> npt.NDArray[np.uint32]:
    """Return the remainders of single bytes by a reflected polynomial."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ np.uint32(polynomial), table >> 1)
    return table


@functools.cache
def after_piece(polynomial: int) -> npt.NDArray[np.uint32]:
    """Return what each bit of a remainder becomes after `PIECE` zeros."""
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    table = remainders(polynomial)
    for _ in range(PIECE):
        bits = bits >> 8 ^ table[bits & 0xFF]
    return bits


def launch(run: Launcher, kind: int, data: Words, lengths: Words, results: int) -> None:
    """Queue the checksums of chunks; `results` is the address of 64 bits for each."""
    rows = len(data)
    starts, sizes = run.table.words(data), run.table.words(lengths)
    if kind == Check.XXH64:
        run.queue.launch("xxh64", rows, starts, sizes, rows, results)
        return
    pieces = -(-lengths // PIECE)
    sums = run.table.words(run.sums + 4 * (np.cumsum(pieces) - pieces))
    if kind == Check.ADLER32:
        run.over("adler_pieces", pieces, starts, sizes, sums)
        run.queue.launch("adler_join_rows", rows, sizes, sums, rows, results)
        return
    table = run.table.put(remainders(CRC32))
    matrix = run.table.put(after_piece(CRC32))
    run.over("crc_pieces", pieces, starts, sizes, sums, after=(table,))
    run.queue.launch("crc_join", rows, sizes, sums, rows, table, matrix, results)
