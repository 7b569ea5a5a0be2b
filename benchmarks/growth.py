"""How the cost of a full read grows: with chunks, array sizes, dimensions and threads.

Prints the figures, writes them to `results/growth.json` and draws `docs/design/growth.svg`. Sizes for which the machine
has not one and a half times the memory (a result, and a store half as large) are left out.

    python benchmarks/growth.py [--repeats 5]
"""

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

import blazarr
from blazarr.codecs import ZstdCodec

mpl.use("svg")
from matplotlib import pyplot as plt

RESULTS = Path(__file__).parent / "results" / "growth.json"
PICTURE = Path(__file__).parents[1] / "docs" / "design" / "growth.svg"
MIB = 1 << 20
SMALL_CHUNK = 256
THREADS = 64

Points = list[tuple[float, float]]


def seconds(action: Callable[[], Any], repeats: int) -> float:
    """Return the median time of `repeats` calls, after one that warms up."""
    action()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def read_seconds(array: Any, repeats: int) -> float:
    return seconds(lambda: array[...], repeats)


def noise(size: int) -> np.ndarray:
    """Make bytes that compress about twice."""
    return np.random.default_rng(1).integers(0, 16, size, dtype="u1")


def by_chunks(repeats: int) -> Iterator[tuple[float, float]]:
    """Microseconds a chunk, for numbers of chunks of 256 bytes in memory."""
    for count in (100, 1_000, 10_000, 100_000, 1_000_000):
        shape = (count * SMALL_CHUNK,)
        array = blazarr.create_array(
            {}, shape=shape, dtype="u1", chunks=(SMALL_CHUNK,), compressors=None
        )
        array[...] = noise(shape[0])
        yield count, 1e6 * read_seconds(array, repeats) / count


def available_mib() -> int:
    """Return the memory that the system could give, in MiB."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) >> 10
    raise RuntimeError("the system does not tell how much memory is available")


def by_size(folder: Path, repeats: int) -> Iterator[tuple[float, float]]:
    """Milliseconds a GiB, for arrays of MiB in chunks of 1 MiB."""
    for mib in (1, 4, 16, 64, 256, 1024, 4096, 8192):
        available = available_mib()
        if 1.5 * mib + 1024 > available:
            print(f"left out: {mib} MiB of {available} MiB available")
            continue
        path = folder / f"size-{mib}"
        array = blazarr.create_array(
            path,
            shape=(mib * MIB,),
            dtype="u1",
            chunks=(MIB,),
            compressors=ZstdCodec(level=1),
        )
        part = noise(min(mib, 64) * MIB)
        for start in range(0, mib * MIB, part.size):
            array[start : start + part.size] = part
        yield mib, 1e3 * read_seconds(array, repeats if mib < 1024 else 2) * 1024 / mib
        shutil.rmtree(path)


def by_rank(folder: Path, repeats: int) -> Iterator[tuple[float, float]]:
    """Milliseconds for 64 MiB in chunks of 1 MiB, by the number of dimensions."""
    for rank in range(1, 9):
        chunks, shape = [1] * rank, [1] * rank
        for bit in range(26):
            shape[bit % rank] *= 2
            if bit < 20:
                chunks[bit % rank] *= 2
        array = blazarr.create_array(
            folder / f"rank-{rank}",
            shape=shape,
            dtype="u1",
            chunks=chunks,
            compressors=ZstdCodec(level=1),
        )
        array[...] = noise(64 * MIB).reshape(shape)
        yield rank, 1e3 * read_seconds(array, repeats)


def by_threads(folder: Path, repeats: int) -> dict[str, float]:
    """Milliseconds for 128 MiB in chunks of 1 MiB, by one thread and by two, turn by turn."""
    array = blazarr.create_array(
        folder / "threads",
        shape=(128 * MIB,),
        dtype="u1",
        chunks=(MIB,),
        compressors=ZstdCodec(level=1),
    )
    array[...] = noise(128 * MIB)
    out = np.ones(array.shape, "u1")
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(repeats + 1):
        for threads, found in times.items():
            with blazarr.config.set({"threading.max_workers": threads}):
                start = time.perf_counter()
                array.get_basic_selection(slice(None), out=out)
                found.append(time.perf_counter() - start)
    one, two = (statistics.median(found[1:]) for found in times.values())
    # What no second thread can shorten: the call itself, and the plan (a table is more than a read makes of it).
    alone = seconds(lambda: array[0:0], 99) + seconds(lambda: array.plan(...), 99)
    serial = alone / one
    return {
        "one": 1e3 * one,
        "two": 1e3 * two,
        "serial": serial,
        "speedup_2": one / two,
        "speedup_64": 1 / (serial + (1 - serial) / THREADS),
    }


def draw(report: dict[str, Any]) -> None:
    """Draw one panel for each series."""
    panels = (
        ("chunks", "chunks of 256 bytes", "µs a chunk", True),
        ("sizes", "MiB, chunks of 1 MiB", "ms a GiB", True),
        ("ranks", "dimensions, 64 MiB", "ms", False),
    )
    figure, axes = plt.subplots(1, 4, figsize=(13, 3), layout="constrained")
    for place, (name, label, unit, logarithmic) in zip(axes, panels, strict=False):
        place.plot(*zip(*report[name], strict=True), "o-", color="#4c78a8")
        place.set_xlabel(label)
        place.set_ylabel(unit)
        place.set_ylim(bottom=0)
        if logarithmic:
            place.set_xscale("log")
    serial = report["threads"]["serial"]
    threads = np.arange(1, THREADS + 1)
    axes[3].plot(threads, 1 / (serial + (1 - serial) / threads), color="#4c78a8")
    axes[3].plot(threads, threads, color="#8c8c8c", linewidth=0.8)
    axes[3].plot([2], [report["threads"]["speedup_2"]], "o", color="#4c78a8")
    axes[3].set_xlabel("threads (2 measured, the rest computed)")
    axes[3].set_ylabel("times faster")
    for place in axes:
        place.grid(alpha=0.3)
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    """Measure, print, write and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as root:
        report: dict[str, Any] = {}
        series: dict[str, Callable[[], Points]] = {
            "chunks": lambda: list(by_chunks(repeats)),
            "sizes": lambda: list(by_size(Path(root), repeats)),
            "ranks": lambda: list(by_rank(Path(root), repeats)),
        }
        for name, measure in series.items():
            report[name] = measure()
            print(name, *(f"{x:g}: {y:.3g}" for x, y in report[name]), sep="  ", flush=True)
        report["threads"] = by_threads(Path(root), 3 * repeats)
        print("threads", report["threads"])
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    draw(report)


if __name__ == "__main__":
    main()
