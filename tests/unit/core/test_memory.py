"""A read or write needs what it was promised to need: the result, and a chunk or two for each thread."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peaks of memory are Linux's to tell"
)

MIB = 1 << 20
THREADS = 2
SLACK = 32 * MIB
RESULT = 64 * MIB

# A process of its own for each: what one call leaves behind must not hide what another needs.
PROGRAM = """
import sys
import numpy as np
import blazarr
from blazarr.codecs import BloscCodec, GzipCodec, ZstdCodec

action, codec, chunks, shards, folder = sys.argv[1], sys.argv[2], eval(sys.argv[3]), eval(sys.argv[4]), sys.argv[5]
blazarr.config.set({"threading.max_workers": 2})

def told(field):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024

def grown(action):
    before = told("VmRSS")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    action()
    return told("VmHWM") - before

if action == "read":
    array = blazarr.open_array(folder, mode="r")
    print(grown(lambda: array[...]))
else:
    codecs = {"none": None, "zstd": ZstdCodec(level=1), "gzip": GzipCodec(level=1), "blosc": BloscCodec(cname="lz4")}
    array = blazarr.create_array(
        folder, shape=(32, 1024, 1024), dtype="u2", chunks=chunks, shards=shards, compressors=codecs[codec],
    )
    ramp = np.arange(1024 * 1024, dtype="u2").reshape(1024, 1024)
    value = np.stack([ramp * (k + 1) for k in range(32)])
    print(grown(lambda: array.set_basic_selection(..., value)))
"""


def run(action: str, codec: str, chunks: tuple, shards: tuple | None, folder: Path) -> int:
    """Bytes that `action` on a whole array of 64 MiB adds to what the process holds, at the peak."""
    command = [sys.executable, "-c", PROGRAM, action, codec, repr(chunks), repr(shards)]
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("codec", ["none", "zstd", "gzip", "blosc"])
def test_chunks_of_8_mib(codec: str, tmp_path: Path) -> None:
    scratch = THREADS * 2 * 8 * MIB + SLACK
    assert run("write", codec, (8, 512, 1024), None, tmp_path / "a") <= scratch
    read = run("read", codec, (8, 512, 1024), None, tmp_path / "a")
    # A result that isn't seen would make any bound hold.
    assert RESULT * 9 // 10 < read <= RESULT + scratch


def test_shards_of_16_mib(tmp_path: Path) -> None:
    scratch = THREADS * 2 * 16 * MIB + SLACK
    assert run("write", "zstd", (2, 256, 512), (16, 512, 1024), tmp_path / "a") <= scratch
    assert run("read", "zstd", (2, 256, 512), (16, 512, 1024), tmp_path / "a") <= RESULT + scratch
