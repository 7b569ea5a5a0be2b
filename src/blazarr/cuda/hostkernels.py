"""The kernels compiled for the host, so that they run and are tested without a GPU."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from blazarr.errors import UnsupportedError

FOLDER = Path(__file__).parent / "kernels"

# How a launch is split on the host: few threads, as each is a call, but more than one of each kind.
BLOCKS = 2
THREADS = 2


def compiler() -> str | None:
    """Return the C++ compiler at hand, or None."""
    return os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")


def build(target: Path, *flags: str) -> Path:
    """Compile the kernels for the host into a shared library.

    Parameters
    ----------
    target
        The library to write.
    flags
        Further flags of the compiler, such as sanitizers.
    """
    program = compiler()
    if program is None:
        raise UnsupportedError(
            "the host device compiles its kernels, but there is no C++ compiler; install g++"
        )
    command = [program, "-std=c++17", "-O2", "-shared", "-fPIC", "-DBLAZARR_HOST", "-x", "c++"]
    command += [*flags, str(FOLDER / "kernels.cu"), "-o", str(target)]
    subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return target


@functools.cache
def library() -> ctypes.CDLL:
    """Return the kernels, compiled once for each state of their sources."""
    digest = hashlib.sha256(b"".join(p.read_bytes() for p in sorted(FOLDER.iterdir())))
    folder = Path(tempfile.gettempdir()) / f"blazarr-kernels-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    target = folder / f"{digest.hexdigest()[:24]}.so"
    if not target.exists():
        # Another process may be building the same.
        draft = build(folder / f"{target.stem}.{os.getpid()}.so")
        draft.replace(target)
    return ctypes.CDLL(str(target))


def launch(kernels: ctypes.CDLL, kernel: str, arguments: tuple[int, ...]) -> None:
    """Run every thread of a launch, one after another."""
    function = getattr(kernels, kernel)
    function.restype = None
    values = [ctypes.c_int64(value) for value in arguments]
    index = kernels.blazarr_index
    index.argtypes = [ctypes.c_uint64] * 4
    for block in range(BLOCKS):
        for thread in range(THREADS):
            index(block, BLOCKS, thread, THREADS)
            function(*values)
