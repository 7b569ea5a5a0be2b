"""NVRTC through ctypes: the kernels compiled for an architecture, with or without a GPU at hand.

cupy's own compilation appends ``-ftz=true``, which would flush small floats to zero in filters.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p
from dataclasses import dataclass
from pathlib import Path

from blazarr.errors import InternalError, UnsupportedError

FOLDER = Path(__file__).parent / "kernels"
MAIN = "kernels.cu"

# No contraction: results are the CPU's to the last bit.
OPTIONS = ("--std=c++17", "--fmad=false", "-ftz=false", "-prec-div=true", "-default-device")

# Where NVIDIA's wheels put the library, below the namespace package `nvidia`.
PLACES = ("cu13/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.12")


@dataclass(frozen=True)
class Image:
    """Compiled kernels: what a driver loads."""

    data: bytes
    kind: str


class Nvrtc:
    """One NVRTC library.

    Parameters
    ----------
    path
        The library.
    """

    def __init__(self, path: str | Path) -> None:
        # It looks its companion up by name only.
        for companion in Path(path).parent.glob("libnvrtc-builtins.so.*"):
            ctypes.CDLL(str(companion))
        self._library = ctypes.CDLL(str(path))
        self._library.nvrtcGetErrorString.restype = c_char_p

    def _check(self, result: int, doing: str, log: str = "") -> None:
        if result:
            said = self._library.nvrtcGetErrorString(result).decode()
            raise InternalError(f"NVRTC could not {doing}: {said}\n{log}".rstrip())

    @property
    def version(self) -> tuple[int, int]:
        """Its release of CUDA."""
        major, minor = c_int(), c_int()
        self._check(self._library.nvrtcVersion(byref(major), byref(minor)), "tell its version")
        return major.value, minor.value

    @property
    def architectures(self) -> tuple[int, ...]:
        """Compute capabilities that it knows, as in ``90``."""
        count = c_int()
        self._check(self._library.nvrtcGetNumSupportedArchs(byref(count)), "count architectures")
        known = (c_int * count.value)()
        self._check(self._library.nvrtcGetSupportedArchs(known), "list architectures")
        return tuple(known)

    def compile(self, capability: int) -> Image:
        """Compile the kernels for a compute capability.

        A capability that this release does not know yet gets the newest older virtual one, which
        the driver finishes.
        """
        known = self.architectures
        if capability in known:
            return Image(self._run(f"sm_{capability}", "CUBIN"), "cubin")
        older = [number for number in known if number < capability]
        if not older:
            raise UnsupportedError(
                f"this NVRTC (CUDA {self.version}) compiles for {known[0]} and newer, not for "
                f"compute capability {capability}"
            )
        return Image(self._run(f"compute_{older[-1]}", "PTX"), "ptx")

    def _run(self, architecture: str, kind: str) -> bytes:
        sources = {path.name: path.read_bytes() for path in sorted(FOLDER.glob("*.cu*"))}
        headers = [name for name in sources if name != MAIN]
        program = c_void_p()
        names = (c_char_p * len(headers))(*(name.encode() for name in headers))
        texts = (c_char_p * len(headers))(*(sources[name] for name in headers))
        made = self._library.nvrtcCreateProgram(
            byref(program), sources[MAIN], MAIN.encode(), len(headers), texts, names
        )
        self._check(made, "read the kernels")
        try:
            flags = [f"--gpu-architecture={architecture}", *OPTIONS]
            given = (c_char_p * len(flags))(*(flag.encode() for flag in flags))
            done = self._library.nvrtcCompileProgram(program, len(flags), given)
            self._check(done, f"compile for {architecture}", self._text(program, "ProgramLog"))
            return self._bytes(program, kind)
        finally:
            self._library.nvrtcDestroyProgram(byref(program))

    def _bytes(self, program: c_void_p, what: str) -> bytes:
        size = c_size_t()
        ask = getattr(self._library, f"nvrtcGet{what}Size")
        ask.argtypes = [c_void_p, POINTER(c_size_t)]
        self._check(ask(program, byref(size)), f"give its {what}")
        data = ctypes.create_string_buffer(size.value)
        self._check(getattr(self._library, f"nvrtcGet{what}")(program, data), f"give its {what}")
        return data.raw

    def _text(self, program: c_void_p, what: str) -> str:
        return self._bytes(program, what).rstrip(b"\0").decode(errors="replace")


def found() -> Iterator[Path]:
    """Yield the NVRTC libraries of installed wheels, the newest first."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for place in PLACES:
            if (Path(folder) / place).exists():
                yield Path(folder) / place


@functools.cache
def installed(major: int) -> Nvrtc:
    """Return the NVRTC for a major release of CUDA: of a wheel, or the system's."""
    for path in found():
        if path.name.endswith(f".{major}"):
            return Nvrtc(path)
    try:
        return Nvrtc(f"libnvrtc.so.{major}")
    except OSError as error:
        package = "nvidia-cuda-nvrtc" if major > 12 else "nvidia-cuda-nvrtc-cu12"
        raise UnsupportedError(
            f"the kernels are compiled by NVRTC {major}, which is not installed; install "
            f"'blazarr[cu{major}]' or {package}",
            package=package,
        ) from error
