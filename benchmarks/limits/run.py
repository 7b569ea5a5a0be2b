"""Full reads beside a program that does nothing but open, read, decode and place (lean.rs), turn by turn.

`make limits` builds that program and runs this. Both read the same store into a result of the same kind, fresh (as a
read that returns an array does) or warm. What is printed is blazarr's time over the program's, the median of turns;
0.97 means that blazarr was faster than the plain loop. Below the table: what a copy in memory takes, by as many
threads, into fresh and into warm memory.

    python benchmarks/limits/run.py LIBRARY [--mib 64] [--repeats 7] [--match 1M] [--dtype uint16]
"""

import argparse
import ctypes
import dataclasses
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import blazarr

sys.path.insert(0, str(Path(__file__).parents[1]))
from cases import LAYOUTS, Case, smooth_field
from contender import Contender

THREADS = 2
FILES = 4
CODECS = {"none": 0, "zstd": 1, "blosc-lz4": 2, "gzip": 3}
Three = ctypes.c_size_t * 3


class Job(ctypes.Structure):
    """What lean.rs reads: the fields of its `Job`."""

    _fields_ = (
        ("shape", Three),
        ("chunks", Three),
        ("stored", Three),
        ("item", ctypes.c_size_t),
        ("codec", ctypes.c_int),
        ("threads", ctypes.c_size_t),
    )


@dataclasses.dataclass(frozen=True)
class Lean:
    """The program, as a library."""

    library: ctypes.CDLL

    def read(self, path: Path, case: Case, out: np.ndarray, codec: int | None = None) -> None:
        job = Job(
            Three(*case.shape),
            Three(*case.chunks),
            Three(*(case.shards or case.chunks)),
            out.itemsize,
            CODECS[case.codec] if codec is None else codec,
            THREADS,
        )
        folder = str(path).encode()
        if self.library.lean_read(folder, ctypes.byref(job), ctypes.c_void_p(out.ctypes.data)):
            raise RuntimeError(case.name)

    def copy(self, source: np.ndarray, out: np.ndarray) -> None:
        pointers = (ctypes.c_void_p(array.ctypes.data) for array in (source, out))
        self.library.lean_copy(*pointers, ctypes.c_size_t(out.nbytes), ctypes.c_size_t(THREADS))


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def turns(actions: dict[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Let all actions take turns; the first turn warms up."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for turn in range(repeats + 1):
        for name, action in actions.items():
            taken = seconds(action)
            if turn:
                times[name].append(taken)
    return times


def ratio(ours: list[float], theirs: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def measure(lean: Lean, case: Case, path: Path, data: np.ndarray, repeats: int) -> str:
    """Compare one layout; a row of the table."""
    array = blazarr.open_array(path, mode="r")
    warm = np.ones(case.shape, case.dtype)
    everything = (slice(None),) * 3
    lean.read(path, case, warm)
    if not (np.array_equal(warm, data) and np.array_equal(array[...], data)):
        raise RuntimeError(f"wrong values: {case.name}")
    times = turns(
        {
            "fresh": lambda: array[...],
            "lean fresh": lambda: lean.read(path, case, np.empty(case.shape, case.dtype)),
            "warm": lambda: array.get_basic_selection(everything, out=warm),
            "lean warm": lambda: lean.read(path, case, warm),
            "files": lambda: lean.read(path, case, warm, FILES),
        },
        repeats,
    )
    milliseconds = "".join(f"{1e3 * statistics.median(values):10.2f}" for values in times.values())
    fresh = ratio(times["fresh"], times["lean fresh"])
    warmed = ratio(times["warm"], times["lean warm"])
    return f"{case.layout:22}{milliseconds}{fresh:10.2f}{warmed:10.2f}"


def copies(lean: Lean, data: np.ndarray, repeats: int) -> str:
    warm = np.ones_like(data)
    times = turns(
        {
            "fresh": lambda: lean.copy(data, np.empty_like(data)),
            "warm": lambda: lean.copy(data, warm),
        },
        repeats,
    )
    fresh, into_warm = (1e3 * statistics.median(values) for values in times.values())
    return f"{'a copy in memory':22}{'':10}{fresh:10.2f}{'':10}{into_warm:10.2f}"


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", type=Path, help="lean.rs, built")
    parser.add_argument("--mib", type=int, default=64, help="size of the array (default 64)")
    parser.add_argument("--repeats", type=int, default=7, help="turns (default 7)")
    parser.add_argument("--match", default="", help="only layouts whose name contains this")
    parser.add_argument("--dtype", default="uint16")
    return parser.parse_args()


def main() -> None:
    """Print the table."""
    options = parse_options()
    lean = Lean(ctypes.CDLL(str(options.library.absolute())))
    heads = ("fresh", "lean", "warm", "lean", "files", "fresh/", "warm/")
    print(f"{'milliseconds, median':22}" + "".join(f"{head:>10}" for head in heads))
    planes = max(16, options.mib // 2 // 16 * 16)
    data = smooth_field((planes, 1024, 1024), options.dtype)
    memory = Path("/dev/shm")
    for layout in LAYOUTS:
        if options.match not in layout:
            continue
        case = Case("write-full", layout, data.shape, options.dtype)
        with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as root:
            path = Path(root) / "array"
            Contender().write(path, case, data)
            print(measure(lean, case, path, data, options.repeats), flush=True)
            shutil.rmtree(path)
    print(copies(lean, data, options.repeats))


if __name__ == "__main__":
    main()
