"""A smoke test for a machine with an NVIDIA GPU, in under two minutes: reads and writes beside the CPU's.

``python tests/gpu/smoke.py [FILE]`` needs blazarr with one of its extras cu12 and cu13, and no
network. What passed and what failed is written to FILE as JSON, too, after every check.
Where compute-sanitizer is on the path, a second, smaller round runs under it. Without a GPU it runs
over the host device in ``tests/unit/cuda/test_scripts.py``.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import blazarr
from blazarr.cuda import Options, info
from blazarr.cuda.array import CudaArray

UNDER_SANITIZER = "BLAZARR_SMOKE_SANITIZED"
SECONDS = 80

BLOSC = {"clevel": 5, "typesize": 4, "blocksize": 0}
SHUFFLE = {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}}
# What the CPU reads, too.
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
    "gdeflate": [{"name": "blazarr.gdeflate"}],
    **{
        f"blosc {cname} {shuffle}": [
            {"name": "blosc", "configuration": BLOSC | {"cname": cname, "shuffle": shuffle}}
        ]
        for cname in ("lz4", "zstd")
        for shuffle in ("noshuffle", "shuffle", "bitshuffle")
    },
}
ONLY_READ: dict[str, list[Any]] = {
    "none": [],
    "blosc zlib shuffle": [
        {"name": "blosc", "configuration": BLOSC | {"cname": "zlib", "shuffle": "shuffle"}}
    ],
}
# What no CPU decodes.
DEVICE_ONLY = {name: [{"name": f"blazarr.{name}"}] for name in ("ans", "bitcomp", "cascaded")}
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


def writes(made: Any, data: np.ndarray, *, on_cpu: bool) -> list[str]:
    """Write from the GPU, all and parts; return what differs when it is read back."""
    import cupy

    target, expected = handle(made), data.copy()
    report = target.write(..., cupy.asarray(data))
    wrong = [f"{report.retried} chunks were encoded by the CPU"] if report.retried else []
    for key in (np.s_[100:300, 5:], np.s_[::-3, 7]):
        value = expected[key] + 1
        target[key] = cupy.asarray(value)
        expected[key] = value
    if on_cpu and not np.array_equal(made[...], expected):
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


def streams(made: Any, data: np.ndarray) -> list[str]:
    """Read on two streams at once, and hand results to another library; return what differs."""
    import cupy

    both = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
    pending = [handle(made).read_async(np.s_[n::2], stream=both[n]) for n in range(2)]
    wrong = [
        f"stream {n}"
        for n, read in enumerate(pending)
        if not np.array_equal(read.result().get(), data[n::2])
    ]
    try:
        import torch
    except ImportError:
        print("torch is not installed here: DLPack was not tried with it")
        return wrong
    tensor = torch.from_dlpack(handle(made).read())
    return wrong + ([] if np.array_equal(tensor.cpu().numpy(), data) else ["torch"])


def through_files(data: np.ndarray) -> list[str]:
    """Read and write files by cuFile, direct or not, where kvikio is installed; return what differs."""
    import cupy

    if importlib.util.find_spec("kvikio") is None:
        print("kvikio is not installed here: files were not read by it")
        return []
    with tempfile.TemporaryDirectory() as folder:
        made = blazarr.create_array(
            folder, shape=SHAPE, chunks=CHUNKS, dtype="i4", compressors=None, filters=None
        )
        target = CudaArray(made, "cuda", Options(crossover=0, io="cufile"))
        target[...] = cupy.asarray(data)
        wrong = [] if np.array_equal(made[...], data) else ["the CPU reads something else"]
        found = target[::-1, 3:].get()
        return wrong + ([] if np.array_equal(found, data[::-1, 3:]) else ["read"])


def through_zarr(data: np.ndarray) -> list[str]:
    """Read and write through zarr-python, where it is installed."""
    import cupy

    try:
        import zarr
    except ImportError:
        print("zarr-python is not installed here")
        return []
    store = zarr.storage.MemoryStore()
    zarr.create_array(store, shape=SHAPE, chunks=CHUNKS, dtype="i4")[...] = data
    with blazarr.configure_gpu(Options(crossover=0, least_streams=0)):
        array = zarr.open_array(store, mode="r+")
        found = array[3:, ::2]
        array[5:] = cupy.asarray(data[5:] + 1)
    wrong = [] if np.array_equal(found.get(), data[3:, ::2]) else ["read"]
    expected = np.concatenate([data[:5], data[5:] + 1])
    same = np.array_equal(zarr.open_array(store, mode="r")[...], expected)
    return wrong if same else [*wrong, "write"]


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
            made, on_cpu = array(codecs, sharded=sharded), name in PORTABLE
            yield (
                f"write {name}, shards {sharded}",
                lambda made=made, on_cpu=on_cpu: writes(made, data, on_cpu=on_cpu),
            )
    made = array(PORTABLE["zstd"], sharded=False)
    made[...] = data
    yield "cast", lambda: casts(made, data)
    yield "streams", lambda: streams(made, data)
    yield "files", lambda: through_files(data)
    yield "zarr-python", lambda: through_zarr(data)


def run(*, small: bool, record: Path | None = None) -> tuple[int, int]:
    """Run the checks; return how many passed and failed. Those that there is no time for are named."""
    start, passed, failed = time.perf_counter(), 0, 0
    results: dict[str, Any] = {}
    for name, check in checks(small=small):
        if time.perf_counter() - start > SECONDS:
            print(f"no time for {name}")
            results[name] = "no time"
            continue
        try:
            wrong = check()
        except Exception as error:  # noqa: BLE001 - one failure says nothing of the next check
            wrong = [f"{type(error).__name__}: {error}"]
        passed, failed = passed + (not wrong), failed + bool(wrong)
        print("\n".join(f"FAILED: {name}: {what}" for what in wrong) or f"ok: {name}", flush=True)
        results[name] = wrong
        if record is not None:
            record.write_text(json.dumps({"info": str(info()), "checks": results}, indent=1))
    print(f"{time.perf_counter() - start:.1f} s")
    return passed, failed


def main() -> int:
    """Run everything; return 0 where nothing failed."""
    print(info())
    small = UNDER_SANITIZER in os.environ
    record = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    passed, failed = run(small=small, record=record)
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
