"""A smoke test for a machine with an NVIDIA GPU, in under two minutes: reads beside the CPU's.

``python tests/gpu/smoke.py`` needs blazarr with one of its extras cu12 and cu13, and no network.
Where compute-sanitizer is on the path, a second, smaller round runs under it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import Any

import numpy as np

import blazarr
from blazarr.cuda import Options, info
from blazarr.cuda.array import CudaArray

UNDER_SANITIZER = "BLAZARR_SMOKE_SANITIZED"
SMALL = UNDER_SANITIZER in os.environ

BLOSC = {"clevel": 5, "typesize": 4, "blocksize": 0}
COMPRESSORS: dict[str, Any] = {
    "none": None,
    "zstd": {"name": "zstd", "configuration": {"level": 1, "checksum": False}},
    "zstd checked": {"name": "zstd", "configuration": {"level": 1, "checksum": True}},
    "gzip": {"name": "gzip", "configuration": {"level": 1}},
    "zlib": {"name": "numcodecs.zlib", "configuration": {"level": 1}},
    "lz4": {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}},
    **{
        f"blosc {cname} {shuffle}": {
            "name": "blosc",
            "configuration": BLOSC | {"cname": cname, "shuffle": shuffle},
        }
        for cname in ("lz4", "zstd", "zlib")
        for shuffle in ("noshuffle", "shuffle", "bitshuffle")
    },
}
KEYS = [
    ...,
    np.s_[3:400:7, 600:2:-3],
    np.s_[5],
    np.s_[7, 8],
    (np.array([380, 3, 3, 50]), slice(None, None, 2)),
    (np.array([380, 3, 3, 50]), np.array([1, 2, 3, 619])),
]
BUDGETS = (64 << 20, 8 << 20)


def arrays(shape: tuple[int, int]) -> Any:
    """Arrays of every compressor, plain and in shards, with their content."""
    rng = np.random.default_rng(0)
    data = (np.cumsum(rng.integers(-3, 4, shape[0] * shape[1])) + 1000).astype("i4").reshape(shape)
    for name, compressor in COMPRESSORS.items():
        for shards in (None, (256, 512)):
            for crc in (False, True):
                codecs = [compressor] if compressor else []
                array = blazarr.create_array(
                    {},
                    shape=shape,
                    chunks=(128, 256),
                    shards=shards,
                    dtype="i4",
                    fill_value=7,
                    compressors=[*codecs, *([{"name": "crc32c"}] if crc else [])],
                )
                array[:300] = data[:300]
                yield f"{name}, shards {shards}, crc32c {crc}", array


def check(name: str, array: Any) -> list[str]:
    """Read selections on the GPU; return what differed from the CPU."""
    wrong = []
    for memory in BUDGETS[: 1 if SMALL else 2]:
        handle = CudaArray(array, "cuda", Options(memory=memory, crossover=0, least_streams=0))
        for key in KEYS[:2] if SMALL else KEYS:
            pending = handle.read_async(key)
            found = pending.result().get()
            if not np.array_equal(found, array[key]):
                wrong.append(f"{name}: {key} with {memory} bytes is wrong")
            if pending.report.retried:
                wrong.append(f"{name}: {key}: {pending.report.retried} chunks needed the CPU")
    return wrong


def main() -> int:
    print(info())
    start, passed, failed = time.perf_counter(), 0, 0
    for name, array in arrays((420, 640)):
        wrong = check(name, array)
        passed, failed = passed + (not wrong), failed + bool(wrong)
        print("\n".join(wrong) if wrong else f"ok: {name}")
    print(f"{time.perf_counter() - start:.1f} s")
    sanitizer = shutil.which("compute-sanitizer")
    if sanitizer and not SMALL:
        command = [sanitizer, "--error-exitcode", "1", sys.executable, __file__]
        clean = subprocess.run(command, env=os.environ | {UNDER_SANITIZER: "1"}, check=False)
        passed, failed = passed + (not clean.returncode), failed + bool(clean.returncode)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
