"""How a device reads and writes: memory, and what is better left to the CPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from blazarr.errors import UnsupportedError


@dataclass(frozen=True)
class Options:
    """Settings of reads and writes on a device.

    Attributes
    ----------
    memory
        The most bytes of device memory that one read or write uses besides its result or value.
    pinned
        The most bytes of the host's pinned memory that it uses.
    crossover
        Compressed chunks that decode to fewer bytes are decoded and encoded on the CPU.
    least_streams
        With fewer streams than these at once a codec of long streams is slower than the CPU:
        applies to zstd, gzip and zlib, whose chunks are one stream each.
    strict
        Decode chunks on the CPU unless a checksum of their encoded bytes was verified first:
        damaged bytes can end a process's use of CUDA.
    io
        How files come to the device: ``"auto"`` reads chunks without a codec straight from their
        files (cuFile, by kvikio) where that is really direct, ``"cufile"`` wherever kvikio does
        it, ``"host"`` never. All others go through pinned memory.
    threads
        Threads that read, write, decode and encode on the host; None for the process's number.
    """

    memory: int = 1 << 30
    pinned: int = 1 << 30
    crossover: int = 256 << 10
    least_streams: int = 32
    strict: bool = False
    io: Literal["auto", "cufile", "host"] = "auto"
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.io not in {"auto", "cufile", "host"}:
            raise UnsupportedError(
                f"io={self.io!r} is not known; ask for 'auto', 'cufile' or 'host'", argument="io"
            )
