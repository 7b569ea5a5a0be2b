"""A smoke test for a machine with an NVIDIA GPU, in under two minutes: reads and writes beside the CPU's.

``python tests/gpu/smoke.py`` needs blazarr with one of its extras cu12 and cu13, and no network.
Where compute-sanitizer is on the path, a second, smaller round runs under it. Without a GPU it runs
over the host device in ``tests/unit/cuda/test_scripts.py``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import blazarr
from blazarr.cuda import Options, info
from blazarr.cuda.array import CudaArray

UNDER_SANITIZER = "BLAZARR_SMOKE_SANITIZED"
SECONDS = 80

BLOSC = {"clevel": 5, "typesize": 4, "blocksize": 0}
SHUFFLE = {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}}
# What every library reads.
PORTABLE: dict[str, list[Any]] = {
    "zstd": [{"name": "zstd", "configuration": {"level": 1, "checksum": False}}],
    "shuffle zstd checked": [
        SHUFFLE,
        {"name": "zstd", "configuration": {"level": 1, "checksum": True}},
    ],
    "gzip": [{"name": "gzip", "configuration": {"level": 1}}],
    "shuffle zlib": [SHUFFLE, {"name": "numcodecs.zlib", "configuration": {"level": 1}}],
    "lz4 crc32c": [
        {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}},
        {"name": "crc32c"},
    ],
    "snappy": [{"name": "blazarr.snappy"}],
    "deflate": [{"name": "blazarr.deflate"}],
}
ONLY_READ: dict[str, list[Any]] = {
    "none": [],
    **{
        f"blosc {cname} {shuffle}": [
            {"name": "blosc", "configuration": BLOSC | {"cname": cname, "shuffle": shuffle}}
        ]
        for cname in ("lz4", "zstd", "zlib")
        for shuffle in ("noshuffle", "shuffle", "bitshuffle")
    },
}
# What no CPU decodes.
DEVICE_ONLY = {
    name: [{"name": f"blazarr.{name}"}] for name in ("gdeflate", "ans", "bitcomp", "cascaded")
}
KEYS = [
    ...,
    np.s_[3:400:7, 600:2:-3],
    np.s_[5],
    np.s_[7, 8],
    (np.array([380, 3, 3, 50]), slice(None, None, 2)),
    (np.array([380, 3, 3, 50]), np.array([1, 2, 3, 619])),
]
SHAPE, CHUNKS, SHARDS = (420, 640), (128, 256), (256, 512)

Check = tuple[str, Callable[[], list[str]]]


def content() -> np.ndarray:
    """Numbers that compress somewhat."""
    rng = np.random.default_rng(0)
    return (np.cumsum(rng.integers(-3, 4, SHAPE[0] * SHAPE[1])) + 1000).astype("i4").reshape(SHAPE)


def array(codecs: list[Any], *, sharded: bool) -> Any:
    """An empty array."""
    return blazarr.create_array(
        {},
        shape=SHAPE,
        chunks=CHUNKS,
        shards=SHARDS if sharded else None,
        dtype="i4",
        fill_value=7,
        compressors=codecs,
    )


def handle(made: Any, memory: int = 64 << 20) -> CudaArray:
    """A handle that does everything on the GPU, however small."""
    return CudaArray(made, "cuda", Options(memory=memory, crossover=0, least_streams=0))


def reads(made: Any, expected: np.ndarray, keys: list[Any]) -> list[str]:
    """Read selections on the GPU; return what differs."""
    wrong = []
    for memory in (64 << 20, 8 << 20):
        for key in keys:
            pending = handle(made, memory).read_async(key)
            found = pending.result().get()
            if not np.array_equal(found, expected[key]):
                wrong.append(f"{key} with {memory} bytes is wrong")
            if pending.report.retried:
                wrong.append(f"{key}: {pending.report.retried} chunks needed the CPU")
    return wrong


def writes(made: Any, data: np.ndarray, *, whole: bool) -> list[str]:
    """Write from the GPU; return what differs when it is read back."""
    import cupy

    target, expected = handle(made), data.copy()
    report = target.write(..., cupy.asarray(data))
    wrong = [f"{report.retried} chunks were encoded by the CPU"] if report.retried else []
    if not whole:
        for key in (np.s_[100:300, 5:], np.s_[::-3, 7]):
            value = expected[key] + 1
            target[key] = cupy.asarray(value)
            expected[key] = value
        if not np.array_equal(made[...], expected):
            wrong.append("the CPU reads something else")
    return wrong + reads(made, expected, KEYS[:2])


def casts(made: Any, data: np.ndarray) -> list[str]:
    """Read as other types; return what differs."""
    kinds = ("f2", "f4", "f8", "u1", "i8", "?")
    with np.errstate(over="ignore"):
        return [
            f"as {dtype}"
            for dtype in kinds
            if not np.array_equal(handle(made).read(dtype=dtype).get(), data.astype(dtype))
        ]


def through_zarr(data: np.ndarray) -> list[str]:
    """Read through zarr-python, where it is installed."""
    try:
        import zarr
    except ImportError:
        return []
    store = zarr.storage.MemoryStore()
    zarr.create_array(store, shape=SHAPE, chunks=CHUNKS, dtype="i4")[...] = data
    with blazarr.configure_gpu(Options(crossover=0, least_streams=0)):
        found = zarr.open_array(store, mode="r")[3:, ::2]
    return (
        [] if np.array_equal(found.get(), data[3:, ::2]) else ["zarr-python reads something else"]
    )


def checks(*, small: bool) -> Iterator[Check]:
    """What is checked, by name."""
    data = content()
    keys = KEYS[:2] if small else KEYS
    expected = data.copy()
    expected[300:] = 7
    for name, codecs in (PORTABLE | ONLY_READ).items():
        for sharded in (False, True):
            made = array(codecs, sharded=sharded)
            made[:300] = data[:300]
            yield (
                f"read {name}, shards {sharded}",
                lambda made=made: reads(made, expected, keys),
            )
    for name, codecs in (PORTABLE | DEVICE_ONLY).items():
        for sharded in (False, True):
            made, whole = array(codecs, sharded=sharded), name in DEVICE_ONLY
            yield (
                f"write {name}, shards {sharded}",
                lambda made=made, whole=whole: writes(made, data, whole=whole),
            )
    made = array(PORTABLE["zstd"], sharded=False)
    made[...] = data
    yield "cast", lambda: casts(made, data)
    yield "zarr-python", lambda: through_zarr(data)


def run(*, small: bool) -> tuple[int, int]:
    """Run the checks; return how many passed and failed. Those that there is no time for are named."""
    start, passed, failed = time.perf_counter(), 0, 0
    for name, check in checks(small=small):
        if time.perf_counter() - start > SECONDS:
            print(f"no time for {name}")
            continue
        try:
            wrong = check()
        except Exception as error:  # noqa: BLE001 - one failure says nothing of the next check
            wrong = [f"{type(error).__name__}: {error}"]
        passed, failed = passed + (not wrong), failed + bool(wrong)
        print("\n".join(f"FAILED: {name}: {what}" for what in wrong) or f"ok: {name}", flush=True)
    print(f"{time.perf_counter() - start:.1f} s")
    return passed, failed


def main() -> int:
    """Run everything; return 0 where nothing failed."""
    print(info())
    small = UNDER_SANITIZER in os.environ
    passed, failed = run(small=small)
    sanitizer = shutil.which("compute-sanitizer")
    if sanitizer and not small:
        command = [sanitizer, "--error-exitcode", "1", sys.executable, __file__]
        clean = subprocess.run(command, env=os.environ | {UNDER_SANITIZER: "1"}, check=False)
        passed, failed = passed + (not clean.returncode), failed + bool(clean.returncode)
    elif not small:
        print("compute-sanitizer is not on the path: that round was left out")
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
