"""Write a 3-D microscopy stack with blazarr, then read it with blazarr and with zarr-python, side by side.

    python examples/demo.py [--planes 128] [--folder demo-data]

The stack is made up but looks real: nuclei as soft ellipsoids on a slanted background, photon noise, a camera's
offset; 128 planes of 1024 x 1024 uint16 are 256 MiB. It is written sharded and compressed. The two libraries take
turns at each task, so a ratio of medians holds although the machine is noisy. Every value read is compared with
what was written; a wrong one ends the run with exit code 1.
"""

import argparse
import dataclasses
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import zarr

import blazarr

PLANE = (1024, 1024)
CHUNK = (16, 128, 128)
SHARD = (64, 512, 512)
REPEATS = 5
WRITE_REPEATS = 2
MIB = 1 << 20

LIBRARIES: dict[str, ModuleType] = {"blazarr": blazarr, "zarr-python": zarr}


class WrongValuesError(Exception):
    """A library returned something else than what was written."""


# ---------------------------------------------------------------- the stack


def microscopy_stack(planes: int, seed: int = 1) -> np.ndarray:
    """Make a stack of `planes` planes: nuclei, background, photon noise."""
    rng = np.random.default_rng(seed)
    photons = np.empty((planes, *PLANE), "f4")
    photons[:] = background(planes)
    for _ in range(10 * planes):
        add_nucleus(photons, rng)
    return expose(photons, rng)


def background(planes: int) -> np.ndarray:
    """Scattered light: brighter towards one corner, fading with depth."""
    z = np.linspace(1, 0.6, planes, dtype="f4")[:, None, None]
    y, x = (np.linspace(0, 1, size, dtype="f4") for size in PLANE)
    return 60 * z * (1 + 0.7 * y[:, None] + 0.4 * x)


def add_nucleus(photons: np.ndarray, rng: np.random.Generator) -> None:
    """Add one soft ellipsoid at a random place, clipped to the stack."""
    radii = rng.uniform((2, 6, 6), (6, 15, 15))
    centre = rng.uniform(0, photons.shape)
    profiles, box = [], []
    for middle, radius, size in zip(centre, radii, photons.shape, strict=True):
        start, stop = max(0, int(middle - 3 * radius)), min(size, int(middle + 3 * radius) + 1)
        profiles.append(np.exp(-(((np.arange(start, stop) - middle) / radius) ** 2)).astype("f4"))
        box.append(slice(start, stop))
    z, y, x = profiles
    photons[tuple(box)] += rng.uniform(200, 1500) * z[:, None, None] * (y[:, None] * x)


def expose(photons: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Count photons plane by plane: Poisson noise (its normal limit), gain 2, the camera's offset."""
    stack = np.empty(photons.shape, "u2")
    pixels = PLANE[0] * PLANE[1]
    noise = rng.standard_normal(3 * pixels, "f4")
    for plane, mean in zip(stack, photons, strict=True):
        start = rng.integers(2 * pixels)  # a window of the same noise, elsewhere for each plane
        counts = mean + np.sqrt(mean) * noise[start : start + pixels].reshape(PLANE)
        plane[:] = 100 + 2 * np.maximum(counts, 0)
    return stack


# ---------------------------------------------------------------- tasks


@dataclasses.dataclass(frozen=True)
class Task:
    """One thing to do with an open array, and what must come out."""

    name: str
    read: Callable[[Any], np.ndarray]
    expected: np.ndarray


def tasks(stack: np.ndarray) -> list[Task]:
    """List what is read: all, planes along and across the stack, a box, points."""
    planes, height, _ = stack.shape
    box = (slice(planes // 4, planes // 2), slice(300, 620), slice(410, 730))
    points = tuple(np.random.default_rng(2).integers(0, size, 2_000) for size in stack.shape)
    return [
        Task("read the whole stack", lambda a: a[:], stack),
        Task("read one z plane", lambda a: a[planes // 2], stack[planes // 2]),
        Task("read an x-z slice", lambda a: a[:, height // 2, :], stack[:, height // 2, :]),
        Task("read a sub-volume", lambda a: a[box], stack[box]),
        Task("read 2,000 points", lambda a: a.vindex[points], stack[points]),
    ]


def write(library: ModuleType, folder: Path, stack: np.ndarray) -> None:
    """Write the stack, sharded and compressed."""
    array = library.create_array(
        store=folder,
        shape=stack.shape,
        dtype=stack.dtype,
        chunks=CHUNK,
        shards=SHARD,
        compressors=library.codecs.BloscCodec(cname="zstd", clevel=3, shuffle="bitshuffle"),
        dimension_names=("z", "y", "x"),
        overwrite=True,
    )
    array[:] = stack


# ---------------------------------------------------------------- the comparison


def seconds(action: Callable[[], Any]) -> tuple[float, Any]:
    """Run an action; return how long it took, and its result."""
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def compare_writes(stack: np.ndarray, folders: dict[str, Path]) -> dict[str, float]:
    """Let the libraries write in turns, each into its own folder; return medians."""
    times: dict[str, list[float]] = {name: [] for name in LIBRARIES}
    for _ in range(WRITE_REPEATS):
        for name, library in LIBRARIES.items():
            shutil.rmtree(folders[name], ignore_errors=True)
            times[name].append(seconds(lambda: write(library, folders[name], stack))[0])  # noqa: B023
    return {name: statistics.median(values) for name, values in times.items()}


def compare_reads(task: Task, folder: Path) -> dict[str, float]:
    """Let the libraries read in turns from one store; check every value; return medians."""
    arrays = {name: library.open_array(folder, mode="r") for name, library in LIBRARIES.items()}
    times: dict[str, list[float]] = {name: [] for name in LIBRARIES}
    for _ in range(REPEATS):
        for name, array in arrays.items():
            taken, result = seconds(lambda: task.read(array))  # noqa: B023
            if not np.array_equal(result, task.expected):
                raise WrongValuesError(f"{name} returned wrong values: {task.name}")
            times[name].append(taken)
    return {name: statistics.median(values) for name, values in times.items()}


def row(label: str, medians: dict[str, float]) -> str:
    """One line of the table."""
    ours, theirs = medians["blazarr"], medians["zarr-python"]
    return f"{label:24}{ours * 1e3:>12.1f}{theirs * 1e3:>14.1f}{theirs / ours:>11.1f}"


def stored_bytes(folder: Path) -> int:
    """Bytes of all files of a store."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> int:
    """Make, write, read, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--planes", type=int, default=128, help="planes of 1024 x 1024 (default 128)"
    )
    parser.add_argument(
        "--folder", type=Path, default=Path("demo-data"), help="where the data goes"
    )
    options = parser.parse_args()

    taken, stack = seconds(lambda: microscopy_stack(options.planes))
    print(
        f"made a stack {stack.shape} of {stack.dtype}, {stack.nbytes / MIB:.0f} MiB, in {taken:.1f} s"
    )
    print(f"chunks {CHUNK} in shards {SHARD}, blosc(zstd, bitshuffle)\n")

    options.folder.mkdir(parents=True, exist_ok=True)
    folders = {name: options.folder / f"stack-{name}.zarr" for name in LIBRARIES}
    print(f"{'median milliseconds':24}{'blazarr':>12}{'zarr-python':>14}{'x faster':>11}")
    print(row("write the whole stack", compare_writes(stack, folders)), flush=True)
    try:
        for task in tasks(stack):
            print(row(task.name, compare_reads(task, folders["blazarr"])), flush=True)
    except WrongValuesError as error:
        print(f"FAILED: {error}", file=sys.stderr)
        return 1

    size = stored_bytes(folders["blazarr"])
    print(f"\nall values equal; both read what blazarr wrote: {folders['blazarr'].resolve()}")
    print(f"{size / MIB:.0f} MiB on disk, {stack.nbytes / size:.2f} times smaller than in memory")
    print(f"zarr-python {zarr.__version__}, blazarr {blazarr.__version__}, numpy {np.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
