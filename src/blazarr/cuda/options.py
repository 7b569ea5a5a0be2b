"""How a device reads: memory, and what is better left to the CPU."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Settings of reads on a device.

    Attributes
    ----------
    memory
        The most bytes of device memory that one read uses besides its result.
    crossover
        Compressed chunks that decode to fewer bytes are decoded on the CPU.
    least_streams
        With fewer streams than these at once a decoder of long streams is slower than the CPU:
        applies to zstd, gzip and zlib, whose chunks are one stream each.
    strict
        Decode chunks on the CPU unless a checksum of their encoded bytes was verified first:
        damaged bytes can end a process's use of CUDA.
    threads
        Threads that read and decode on the host; None for the process's number.
    """

    memory: int = 1 << 30
    crossover: int = 256 << 10
    least_streams: int = 32
    strict: bool = False
    threads: int | None = None
