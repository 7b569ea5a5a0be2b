"""nvCOMP's low-level batched C interface through ctypes: one table of symbols for 5 and one for 6.

NVIDIA's library is looked up among installed wheels (``nvidia-libnvcomp-cu12`` or ``-cu13``);
nothing of it is part of this package.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from collections.abc import Iterator, Mapping
from ctypes import POINTER, byref, c_size_t, c_uint32, c_void_p
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from blazarr.cuda.device import Batch, Format, Tuning
from blazarr.cuda.nvcomp_options import Options, decode_options, encode_options
from blazarr.errors import InternalError, UnsupportedError

# The names in the library's symbols.
CODECS: Mapping[Format, str] = {
    Format.ZSTD: "Zstd",
    Format.LZ4: "LZ4",
    Format.GZIP: "Gzip",
    Format.DEFLATE: "Deflate",
    Format.SNAPPY: "Snappy",
    Format.GDEFLATE: "Gdeflate",
    Format.ANS: "ANS",
    Format.BITCOMP: "Bitcomp",
    Format.CASCADED: "Cascaded",
}
# The most bytes that one stream may decode to.
MOST_DECODED: Mapping[Format, int] = {
    Format.ZSTD: (1 << 31) - 1,
    Format.LZ4: (1 << 32) - 1,
    Format.GZIP: (1 << 32) - 1,
    Format.DEFLATE: (1 << 32) - 1,
    Format.SNAPPY: (1 << 31) - 1,
    Format.GDEFLATE: 1 << 32,
    Format.ANS: 1 << 25,
    Format.BITCOMP: 1 << 25,
    Format.CASCADED: 1 << 24,
}
# What this package arranges for the beginning of streams, and of what they decode to; the rest may
# begin anywhere.
ALIGNED: Mapping[Format, int] = {
    Format.DEFLATE: 4,
    Format.GDEFLATE: 4,
    Format.ANS: 16,
    Format.BITCOMP: 16,
    Format.CASCADED: 16,
}

# The suffixes of calls that 6 renamed.
SUFFIXES: Mapping[int, str] = {5: "Async", 6: ""}

WHEEL = "libnvcomp/lib64/libnvcomp.so."


class Alignments(ctypes.Structure):
    """What input, output and scratch have to be multiples of."""

    _fields_ = (("input", c_size_t), ("output", c_size_t), ("temp", c_size_t))


class Properties(ctypes.Structure):
    """Versions: of nvCOMP as 6000 for 6.0.0, and of the CUDA runtime in it."""

    _fields_ = (("version", c_uint32), ("cudart", c_uint32))


@dataclass(frozen=True)
class Calls:
    """The functions of one codec in one direction; `bound` is the encoder's alone."""

    alignments: Any
    temp_size: Any
    run: Any
    bound: Any = None


class Nvcomp:
    """One nvCOMP library.

    Parameters
    ----------
    path
        The library.
    """

    def __init__(self, path: str | Path) -> None:
        self._library = ctypes.CDLL(str(path))
        properties = Properties()
        _check(self._library.nvcompGetProperties(byref(properties)), "tell its version")
        self.version = divmod(properties.version, 1000)[0], properties.version % 1000 // 100
        if self.version[0] not in SUFFIXES:
            raise UnsupportedError(
                f"nvCOMP {self.version[0]}.{self.version[1]} is not known to this version of "
                "blazarr; install 5.2, 5.3 or 6.0",
                package="nvidia-libnvcomp",
            )
        self._decoders = {format: self._decoder(name) for format, name in CODECS.items()}
        self._encoders = {format: self._encoder(name) for format, name in CODECS.items()}

    def _decoder(self, codec: str) -> Calls:
        calls = self._calls_of(f"nvcompBatched{codec}Decompress")
        pointers = [c_void_p] * 4
        last = [Options, c_void_p, c_void_p]
        calls.run.argtypes = [*pointers, c_size_t, c_void_p, c_size_t, c_void_p, *last]
        return calls

    def _encoder(self, codec: str) -> Calls:
        prefix = f"nvcompBatched{codec}Compress"
        bound = getattr(self._library, f"{prefix}GetMaxOutputChunkSize")
        calls = replace(self._calls_of(prefix), bound=bound)
        bound.argtypes = [c_size_t, Options, POINTER(c_size_t)]
        first = [c_void_p, c_void_p, c_size_t, c_size_t, c_void_p, c_size_t]
        calls.run.argtypes = [*first, c_void_p, c_void_p, Options, c_void_p, c_void_p]
        return calls

    def _calls_of(self, prefix: str) -> Calls:
        suffix = SUFFIXES[self.version[0]]
        calls = Calls(
            getattr(self._library, f"{prefix}GetRequiredAlignments"),
            getattr(self._library, f"{prefix}GetTempSize{suffix}"),
            getattr(self._library, f"{prefix}Async"),
        )
        calls.alignments.argtypes = [Options, POINTER(Alignments)]
        calls.temp_size.argtypes = [c_size_t, c_size_t, Options, POINTER(c_size_t), c_size_t]
        if self.version[0] >= 6:
            calls.temp_size.argtypes.append(c_void_p)
        return calls

    def alignments(self, format: Format, *, encoding: bool = False) -> Alignments:
        """Return what a codec asks of addresses."""
        found, (calls, options) = Alignments(), self._of(format, encoding=encoding)
        _check(calls.alignments(options, byref(found)), "tell its alignments")
        return found

    def _of(self, format: Format, *, encoding: bool) -> tuple[Calls, Options]:
        if encoding:
            return self._encoders[format], encode_options(self.version[0], format, Tuning())
        return self._decoders[format], decode_options(self.version[0], format)

    def temp_bytes(
        self, format: Format, count: int, largest: int, total: int, *, encoding: bool = False
    ) -> int:
        """Return the scratch that a batch needs."""
        if not count:
            return 0
        size = c_size_t()
        stream = [None] if self.version[0] >= 6 else []
        calls, options = self._of(format, encoding=encoding)
        status = calls.temp_size(count, largest, options, byref(size), total, *stream)
        _check(status, f"size the scratch of {count} {format.name} streams of {largest} bytes")
        return size.value

    def bound(self, format: Format, largest: int) -> int:
        """Return the most bytes that an encoder makes of so many."""
        size, (calls, options) = c_size_t(), self._of(format, encoding=True)
        status = calls.bound(largest, options, byref(size))
        _check(status, f"bound what it makes of {largest} bytes as {format.name}")
        return size.value

    def decode(self, format: Format, batch: Batch, stream: int) -> None:
        """Queue a batch on a CUDA stream."""
        status = self._decoders[format].run(
            batch.sources,
            batch.lengths,
            batch.capacities,
            batch.made,
            batch.count,
            batch.temp,
            batch.temp_bytes,
            batch.targets,
            decode_options(self.version[0], format),
            batch.statuses,
            stream,
        )
        _check(status, f"decode {batch.count} {format.name} streams")

    def encode(self, format: Format, batch: Batch, tuning: Tuning, stream: int) -> None:
        """Queue a batch that is to be encoded."""
        status = self._encoders[format].run(
            batch.sources,
            batch.lengths,
            batch.largest,
            batch.count,
            batch.temp,
            batch.temp_bytes,
            batch.targets,
            batch.made,
            encode_options(self.version[0], format, tuning),
            batch.statuses,
            stream,
        )
        _check(status, f"encode {batch.count} {format.name} streams")


def _check(status: int, doing: str) -> None:
    if status:
        raise InternalError(f"nvCOMP could not {doing}: status {status}")


def found() -> Iterator[Path]:
    """Yield the libraries of installed wheels, the newest first."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for major in sorted(SUFFIXES, reverse=True):
            path = Path(folder) / f"{WHEEL}{major}"
            if path.exists():
                yield path


@functools.cache
def installed() -> Nvcomp:
    """Return the nvCOMP of an installed wheel, or the system's."""
    for path in found():
        return Nvcomp(path)
    for major in sorted(SUFFIXES, reverse=True):
        try:
            return Nvcomp(f"libnvcomp.so.{major}")
        except OSError:
            continue
    raise UnsupportedError(
        "decoding on a GPU needs nvCOMP, which is not installed; install 'blazarr[cu13]' or "
        "'blazarr[cu12]'",
        package="nvidia-libnvcomp",
    )
