"""Reads to an NVIDIA GPU, in under four minutes: blazarr beside its peers and the machine's limits.

``python benchmarks/gpu.py [FOLDER [FILE]]`` writes arrays below FOLDER (a temporary one by default),
reads each in every way that is installed here, and prints one JSON line a row; all of it is also
written to FILE after every row. Peers: czarr
with the nvCOMP it works with (5.3, so in an environment of its own), kvikio's zarr store. Limits:
a pinned copy to the device, a copy on the device, nvCOMP's own batched decode without anything
around it. What is not installed is named and left out.
"""

from __future__ import annotations

import functools
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import blazarr
from blazarr.cuda import Options, info
from blazarr.cuda.array import CudaArray
from blazarr.cuda.device import Batch, Format
from blazarr.cuda.gpu import CudaDevice

TOTAL = 512 << 20
CHUNKS = (1 << 20, 8 << 20, 64 << 20)
SECONDS = 200
REPEATS = 3

BLOSC = {"clevel": 1, "typesize": 2, "blocksize": 0}
CODECS: dict[str, Any] = {
    "none": [],
    "zstd": [{"name": "zstd", "configuration": {"level": 1, "checksum": False}}],
    "blosc-zstd-bit": [
        {"name": "blosc", "configuration": BLOSC | {"cname": "zstd", "shuffle": "bitshuffle"}}
    ],
    "blosc-lz4-byte": [
        {"name": "blosc", "configuration": BLOSC | {"cname": "lz4", "shuffle": "shuffle"}}
    ],
    "lz4": [{"name": "numcodecs.lz4", "configuration": {"acceleration": 1}}],
    "gzip": [{"name": "gzip", "configuration": {"level": 1}}],
}


@dataclass(frozen=True)
class Row:
    """One measurement: the best of the repeats."""

    codec: str
    chunk: int
    way: str
    ratio: float
    gib_per_second: float


def data() -> np.ndarray:
    """A smooth image with noise, in 16 bits."""
    count = TOTAL // 2
    rng = np.random.default_rng(0)
    values = np.linspace(0, 2000 * np.pi, count)
    return (1000 + 500 * np.sin(values) + rng.normal(0, 8, count)).astype("u2").reshape(-1, 1024)


def rate(read: Callable[[], Any]) -> float:
    """GiB of decoded data a second; `read` ends when its result is on the device."""
    read()
    best = min(_seconds(read) for _ in range(REPEATS))
    return TOTAL / best / (1 << 30)


def _seconds(read: Callable[[], Any]) -> float:
    start = time.perf_counter()
    read()
    return time.perf_counter() - start


def writers(array: Any, values: np.ndarray) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The ways to write an array from the device."""
    import cupy

    everything = CudaArray(array, "cuda", Options(crossover=0, least_streams=0))
    there = cupy.asarray(values)
    yield "blazarr writes, all on the GPU", lambda: everything.write(..., there)

    def through_the_cpu() -> None:
        array[...] = cupy.asnumpy(there)

    yield "a copy and the CPU engine write", through_the_cpu


def readers(path: Path, array: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The ways to read an array that are installed here."""
    import cupy

    handle = CudaArray(array)
    yield "blazarr", handle.read
    everything = CudaArray(array, "cuda", Options(crossover=0, least_streams=0))
    yield "blazarr, all on the GPU", everything.read

    def through_the_cpu() -> None:
        cupy.asarray(array[...])
        cupy.cuda.Device().synchronize()

    yield "CPU engine and a copy", through_the_cpu
    yield from _zarr_python(path)
    yield from _czarr(path)
    yield from _kvikio(path)


def _zarr_python(path: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    try:
        import zarr
    except ImportError:
        print("zarr-python is not installed here")
        return

    def read() -> None:
        with blazarr.configure_gpu(Options(crossover=0, least_streams=0)):
            zarr.open_array(zarr.storage.LocalStore(path, read_only=True), mode="r")[...]

    yield "blazarr under zarr-python", read


def _czarr(path: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    try:
        import czarr
    except ImportError:
        print("czarr is not installed here")
        return
    yield "czarr", lambda: czarr.core.Array.open(str(path))[...]


def _kvikio(path: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    try:
        import cupy
        import kvikio.zarr
        import zarr
    except ImportError:
        print("kvikio's zarr store is not installed here")
        return

    def read() -> None:
        with zarr.config.enable_gpu():
            zarr.open_array(kvikio.zarr.GDSStore(root=str(path)), mode="r")[...]
        cupy.cuda.Device().synchronize()

    yield "kvikio GDSStore", read


def limits() -> Iterator[tuple[str, float]]:
    """What the machine does at best."""
    import cupy

    pinned = cupy.cuda.alloc_pinned_memory(TOTAL)
    host = np.frombuffer(pinned, np.uint8, TOTAL)
    there, other = cupy.empty(TOTAL, np.uint8), cupy.empty(TOTAL, np.uint8)
    device = cupy.cuda.Device()

    def copy_to_device() -> None:
        there.set(host)
        device.synchronize()

    def copy_on_device() -> None:
        other[...] = there
        device.synchronize()

    yield "pinned copy to the device", rate(copy_to_device)
    yield "copy on the device", rate(copy_on_device)


class TimedDevice(CudaDevice):
    """A GPU that waits around each batch, to know how long nvCOMP alone takes."""

    seconds = 0.0

    def decode(self, format: Format, batch: Batch, stream: Any) -> None:
        self.drain(stream)
        start = time.perf_counter()
        super().decode(format, batch, stream)
        self.drain(stream)
        self.seconds += time.perf_counter() - start


def bare_decode(array: Any) -> float | None:
    """GiB a second of nvCOMP's batches alone; None where the device decodes nothing."""
    timed = TimedDevice(0)
    handle = CudaArray(array, timed, Options(crossover=0, least_streams=0))
    handle.read()
    timed.seconds = 0.0
    handle.read()
    return TOTAL / timed.seconds / (1 << 30) if timed.seconds else None


def main() -> None:
    print(info())
    started = time.perf_counter()
    notes = Notes(Path(sys.argv[2]) if len(sys.argv) > 2 else None)
    notes.guarded("limits of the machine", lambda: measure_limits(notes))
    values = data()
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as folder:
        print(info(folder).reading)
        for codec, chunk in ((codec, chunk) for chunk in CHUNKS for codec in CODECS):
            name = f"{codec} with chunks of {chunk} bytes"
            if time.perf_counter() - started > SECONDS:
                notes.add(f"no time for {name}")
                continue
            path = Path(folder) / f"{codec}-{chunk}"
            notes.guarded(name, functools.partial(measure, notes, path, codec, chunk, values))


class Notes:
    """What was measured, kept in a file as well: a run that is cut off has said what it knows."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._lines: list[Any] = []

    def add(self, line: Any) -> None:
        """Note a row, or something about them."""
        print(line if isinstance(line, str) else json.dumps(line), flush=True)
        self._lines.append(line)
        if self._file is not None:
            self._file.write_text(json.dumps(self._lines, indent=1))

    def guarded(self, name: str, work: Callable[[], Any]) -> Any:
        """Do something; return its result, or None where it failed, which is noted."""
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - what fails is a result too, and hides no other
            self.add(f"FAILED: {name}: {type(error).__name__}: {error}")
            return None


def measure_limits(notes: Notes) -> None:
    """Note what the machine does at best."""
    for name, value in limits():
        notes.add(f"limit: {name}: {value:.2f} GiB/s")


def measure(notes: Notes, path: Path, codec: str, chunk: int, values: np.ndarray) -> None:
    """Write an array, then read and write it in every way."""
    array = blazarr.create_array(
        path,
        shape=values.shape,
        chunks=(max(1, chunk // 2048), 1024),
        dtype=values.dtype,
        compressors=CODECS[codec],
    )
    array[...] = values
    stored = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    ways = itertools.chain(readers(path, array), writers(array, values))
    for way, work in ways:
        found = notes.guarded(f"{codec} {chunk} {way}", functools.partial(rate, work))
        if found is not None:
            notes.add(asdict(Row(codec, chunk, way, TOTAL / stored, found)))
    bare = bare_decode(array)
    if bare is not None:
        notes.add(f"limit: {codec} {chunk}: nvCOMP's batched decode alone {bare:.2f} GiB/s")


if __name__ == "__main__":
    main()
