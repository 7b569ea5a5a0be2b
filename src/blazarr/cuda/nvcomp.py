"""nvCOMP's low-level batched C interface through ctypes: one table of symbols for 5 and one for 6.

NVIDIA's library is looked up among installed wheels (``nvidia-libnvcomp-cu12`` or ``-cu13``);
nothing of it is part of this package.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from collections.abc import Iterator, Mapping
from ctypes import POINTER, byref, c_int, c_size_t, c_uint32, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blazarr.cuda.device import Batch, Format
from blazarr.errors import InternalError, UnsupportedError

# The names in the library's symbols.
CODECS: Mapping[Format, str] = {
    Format.ZSTD: "Zstd",
    Format.LZ4: "LZ4",
    Format.GZIP: "Gzip",
    Format.DEFLATE: "Deflate",
    Format.SNAPPY: "Snappy",
}
# The most bytes that one stream may decode to.
MOST_DECODED: Mapping[Format, int] = {
    Format.ZSTD: (1 << 31) - 1,
    Format.LZ4: (1 << 32) - 1,
    Format.GZIP: (1 << 32) - 1,
    Format.DEFLATE: (1 << 32) - 1,
    Format.SNAPPY: (1 << 31) - 1,
}
# What this package arranges for the beginning of streams; the rest may begin anywhere.
ALIGNED: Mapping[Format, int] = {Format.DEFLATE: 4}

# The suffixes of calls that 6 renamed.
SUFFIXES: Mapping[int, str] = {5: "Async", 6: ""}

# The CUDA kernels, never the decompression engine of newer chips: it reports damage as success.
BACKEND_CUDA = 2

WHEEL = "libnvcomp/lib64/libnvcomp.so."


class DecodeOptions(ctypes.Structure):
    """Options of every decoder: 64 bytes, of which the first number is the backend."""

    _fields_ = (("backend", c_int), ("reserved", ctypes.c_char * 60))


class Alignments(ctypes.Structure):
    """What input, output and scratch have to be multiples of."""

    _fields_ = (("input", c_size_t), ("output", c_size_t), ("temp", c_size_t))


class Properties(ctypes.Structure):
    """Versions: of nvCOMP as 6000 for 6.0.0, and of the CUDA runtime in it."""

    _fields_ = (("version", c_uint32), ("cudart", c_uint32))


@dataclass(frozen=True)
class Calls:
    """The functions of one codec."""

    alignments: Any
    temp_size: Any
    decompress: Any


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
        self._calls = {format: self._calls_of(name) for format, name in CODECS.items()}
        self._options = DecodeOptions(backend=BACKEND_CUDA)

    def _calls_of(self, codec: str) -> Calls:
        prefix = f"nvcompBatched{codec}Decompress"
        suffix = SUFFIXES[self.version[0]]
        calls = Calls(
            getattr(self._library, f"{prefix}GetRequiredAlignments"),
            getattr(self._library, f"{prefix}GetTempSize{suffix}"),
            getattr(self._library, f"{prefix}Async"),
        )
        options, size = DecodeOptions, c_size_t
        calls.alignments.argtypes = [options, POINTER(Alignments)]
        calls.temp_size.argtypes = [size, size, options, POINTER(c_size_t), size]
        if self.version[0] >= 6:
            calls.temp_size.argtypes.append(c_void_p)
        pointers = [c_void_p] * 4
        last = [options, c_void_p, c_void_p]
        calls.decompress.argtypes = [*pointers, size, c_void_p, size, c_void_p, *last]
        return calls

    def alignments(self, format: Format) -> Alignments:
        """Return what a decoder asks of addresses."""
        found = Alignments()
        _check(self._calls[format].alignments(self._options, byref(found)), "tell its alignments")
        return found

    def temp_bytes(self, format: Format, count: int, largest: int, total: int) -> int:
        """Return the scratch that a batch needs."""
        if not count:
            return 0
        size = c_size_t()
        stream = [None] if self.version[0] >= 6 else []
        call = self._calls[format].temp_size
        status = call(count, largest, self._options, byref(size), total, *stream)
        _check(status, f"size the scratch of {count} {format.name} streams")
        return size.value

    def decode(self, format: Format, batch: Batch, stream: int) -> None:
        """Queue a batch on a CUDA stream."""
        status = self._calls[format].decompress(
            batch.sources,
            batch.lengths,
            batch.capacities,
            batch.made,
            batch.count,
            batch.temp,
            batch.temp_bytes,
            batch.targets,
            self._options,
            batch.statuses,
            stream,
        )
        _check(status, f"decode {batch.count} {format.name} streams")


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
