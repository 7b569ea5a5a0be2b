"""What the smallest calls cost: import, open, and reads of a few elements through a warm handle.

Prints the least and the median of many calls. A read of a small part cannot be faster than the decoding of the chunk it
lies in, so that is printed beside it: zstd alone, on the same bytes.

    python benchmarks/small.py [--calls 1000]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import blazarr
from blazarr.codecs import ZstdCodec

sys.path.insert(0, str(Path(__file__).parent))
from cases import smooth_field

IMPORTS = 9
INNER = (2, 128, 128)
SHARD = (16, 512, 512)


def microseconds(action: Callable[[], Any], calls: int) -> list[float]:
    """Return the times of `calls` calls, sorted."""
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        action()
        times.append(1e6 * (time.perf_counter() - start))
    return sorted(times)


def import_milliseconds(statement: str) -> float:
    """Return the least processor time that a new interpreter takes for an import."""
    program = f"import time; s = time.process_time(); {statement}; print(time.process_time() - s)"
    command = [sys.executable, "-c", program]
    # Without compiled modules it would be Python's compiler that is timed.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    times = [float(subprocess.check_output(command, env=environment)) for _ in range(IMPORTS)]
    return 1e3 * min(times)


def decoding(inner: np.ndarray, calls: int) -> list[float]:
    """Return the times of zstd alone, for one inner chunk."""
    import numcodecs

    codec, out = numcodecs.Zstd(level=3), np.empty_like(inner)
    encoded = codec.encode(np.ascontiguousarray(inner))
    return microseconds(lambda: codec.decode(encoded, out), calls)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=1000)
    calls = parser.parse_args().calls
    memory = Path("/dev/shm")
    data = smooth_field((32, 1024, 1024), "uint16")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as root:
        path = Path(root) / "array"
        array = blazarr.create_array(
            path,
            shape=data.shape,
            dtype=data.dtype,
            chunks=INNER,
            shards=SHARD,
            compressors=ZstdCodec(level=3),
        )
        array[...] = data
        array = blazarr.open_array(path, mode="r")
        rows: dict[str, Callable[[], Any]] = {
            "open": lambda: blazarr.open_array(path, mode="r"),
            "one element of a shard": lambda: array[17, 205, 305],
            "10 x 10 of a shard": lambda: array[17, 200:210, 300:310],
        }
        print(f"{'microseconds':26}{'least':>10}{'median':>10}")
        for name, action in rows.items():
            times = microseconds(action, calls)
            print(f"{name:26}{times[0]:10.1f}{statistics.median(times):10.1f}")
        times = decoding(data[16:18, 128:256, 256:384], calls)
        print(f"{'zstd, one inner chunk':26}{times[0]:10.1f}{statistics.median(times):10.1f}")
    numpy = import_milliseconds("import numpy")
    # The name brings numpy and the rest in; the bare import leaves them for later.
    bare, ours = (
        import_milliseconds(f"import blazarr{rest}") for rest in ("", "; blazarr.open_array")
    )
    print(f"import, ms: numpy {numpy:.0f}, blazarr {bare:.0f}, and with open_array {ours:.0f}")


if __name__ == "__main__":
    main()
