"""Rechunk a big array within a budget of memory, killed on the way, beside other tools.

    python benchmarks/rechunk.py FOLDER [--gib 4] [--max-memory 768MiB] [--rechunker PYTHON] [--peers]

Planes of 2048 x 2048 uint16 in zstd become columns through all planes in blosc: every target chunk needs a part of every
source chunk. Peak memory is the resident memory of the process and its children, added up ten times a second; what they
share is counted for each. Every result is compared with the source, element by element, by a process of its own.
FOLDER gets up to four times the array's size, and is emptied of it. `--rechunker` names the interpreter of an environment
with rechunker, which needs zarr-python 2.
"""

import argparse
import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil
from cases import smooth_field

import blazarr

PLANE = (2048, 2048)
COLUMN = 64
MIB = 1 << 20

BLAZARR = """
import sys, blazarr
def tell(event):
    print(event.done, event.total, flush=True)
blazarr.rechunk(sys.argv[1], sys.argv[2], (-1, {column}, {column}), max_memory=sys.argv[3],
                compressors={codec}, progress=tell)
"""
CODEC = '{"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle"}}'

DASK_CLUSTER = """
import os, signal, sys, blazarr, blazarr.distributed
from distributed import Client, LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        killed = []
        def tell(event):
            if event.done > event.total // 3 and not killed:
                killed.append(min(client.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)
        blazarr.distributed.rechunk(sys.argv[1], sys.argv[2], (-1, {column}, {column}), dask=client,
                                    max_memory=sys.argv[3], compressors={codec}, progress=tell)
        print("killed", killed)
"""

DASK_ZARR = """
import sys, dask, dask.array as da, zarr
dask.config.set(scheduler="threads", num_workers=len(__import__("os").sched_getaffinity(0)))
dask.config.set({{"array.rechunk.method": "tasks"}})
source = da.from_zarr(sys.argv[1])
target = zarr.create_array(sys.argv[2], shape=source.shape, dtype=source.dtype, chunks=(source.shape[0], {column}, {column}),
                           compressors=zarr.codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle"))
da.store(source.rechunk((-1, {column}, {column})), target, lock=False)
"""

RECHUNKER = """
import sys, dask, zarr, numcodecs, rechunker
dask.config.set(scheduler="threads", num_workers=len(__import__("os").sched_getaffinity(0)))
source = zarr.open(sys.argv[1], mode="r")
threads = len(__import__("os").sched_getaffinity(0))
budget = int(sys.argv[3]) // threads
plan = rechunker.rechunk(source, (source.shape[0], {column}, {column}), budget, sys.argv[2], temp_store=sys.argv[2] + ".tmp",
                         target_options=dict(compressor=numcodecs.Blosc("lz4", 5, 1)))
plan.execute()
"""


def make_source(path, planes, zarr_format):
    """Write the source, a few planes at a time."""
    array = blazarr.create_array(
        path,
        shape=(planes, *PLANE),
        chunks=(1, *PLANE),
        dtype="uint16",
        zarr_format=zarr_format,
        compressors={"id": "zstd", "level": 1} if zarr_format == 2 else "auto",
    )
    block = smooth_field((16, *PLANE), "uint16")
    for start in range(0, planes, 16):
        array[start : start + 16] = block[: planes - start] + np.uint16(start)


class Watched:
    """A process whose memory, with that of its children, is watched."""

    def __init__(self, script, *arguments, python=sys.executable):
        code = script.format(column=COLUMN, codec=CODEC)
        command = [python, "-c", code, *map(str, arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.peak = 0
        self.share = 0.0
        threading.Thread(target=self.read, daemon=True).start()

    def run(self, until=1.1):
        """Wait for its end, or for a share of its work; then kill it. Return seconds."""
        began = time.perf_counter()
        while self.process.poll() is None:
            self.peak = max(self.peak, memory(self.process.pid))
            if self.share > until:
                self.process.send_signal(signal.SIGKILL)
                self.process.wait()
                return time.perf_counter() - began
            time.sleep(0.1)
        if self.process.returncode:
            sys.exit(f"it failed with {self.process.returncode}")
        return time.perf_counter() - began

    def read(self):
        """Take in what it has printed of progress."""
        for line in self.process.stdout:
            words = line.split()
            if len(words) == 2 and all(word.isdigit() for word in words):
                self.share = int(words[0]) / int(words[1])
            else:
                print("   ", line, end="")


def memory(pid):
    """Return the resident memory of a process and all below it."""
    total = 0
    try:
        top = psutil.Process(pid)
        for process in [top, *top.children(recursive=True)]:
            try:
                total += process.memory_info().rss
            except psutil.NoSuchProcess:
                continue
    except psutil.NoSuchProcess:
        pass
    return total


def compare(source, target):
    """Exit unless two arrays are equal, element by element."""
    one, other = blazarr.open_array(source, mode="r"), blazarr.open_array(target, mode="r")
    side = 256
    for y in range(0, PLANE[0], side):
        part = np.s_[:, y : y + side, :]
        for k in range(0, one.shape[0], 128):
            here = (slice(k, k + 128), *part[1:])
            if not np.array_equal(one[here], other[here]):
                sys.exit(f"{target} differs from {source} in {here}")


def report(name, seconds, peak, note=""):
    print(
        json.dumps(
            {"case": name, "seconds": round(seconds, 1), "peak_mib": peak // MIB, "note": note}
        ),
        flush=True,
    )


def killed_twice(source, target, budget):
    """Run it, kill it at a third and at two thirds, and let it end."""
    seconds, peak, shares = 0.0, 0, []
    for until in (0.33, 0.66, 1.1):
        watched = Watched(BLAZARR, source, target, budget)
        seconds += watched.run(until)
        peak = max(peak, watched.peak)
        shares.append(round(watched.share, 2))
    compare(source, target)
    report("blazarr, killed twice and resumed", seconds, peak, f"killed at {shares[:2]}; equal")


def straight(name, script, source, target, budget, *, python=sys.executable):
    """Run something to its end."""
    watched = Watched(script, source, target, budget, python=python)
    seconds = watched.run()
    compare(source, target)
    report(name, seconds, watched.peak, "equal")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gib", type=float, default=4)
    parser.add_argument("--max-memory", default="768MiB")
    parser.add_argument("--rechunker", help="interpreter of an environment with rechunker")
    parser.add_argument(
        "--only", nargs="*", default=["killed", "straight", "cluster", "dask", "rechunker"]
    )
    options = parser.parse_args()
    folder = options.folder / "rechunk-benchmark"
    folder.mkdir(parents=True)
    planes = int(options.gib * 1024 * MIB // (2 * PLANE[0] * PLANE[1]))
    source, target = folder / "source.zarr", folder / "target.zarr"
    cases = {
        "killed": lambda: killed_twice(source, target, options.max_memory),
        "straight": lambda: straight("blazarr", BLAZARR, source, target, options.max_memory),
        "cluster": lambda: straight(
            "blazarr, Dask cluster of 2, one killed", DASK_CLUSTER, source, target, "384MiB"
        ),
        "dask": lambda: straight("dask + zarr-python", DASK_ZARR, source, target, ""),
    }
    try:
        make_source(source, planes, 3)
        print(f"{planes} planes, {planes * 8} MiB; budget {options.max_memory}", flush=True)
        for name, case in cases.items():
            if name in options.only:
                case()
                shutil.rmtree(target)
        if options.rechunker and "rechunker" in options.only:
            shutil.rmtree(source)
            make_source(source, planes, 2)
            budget = blazarr.conversion.sizes.parse_size(options.max_memory, "max_memory")
            straight("rechunker", RECHUNKER, source, target, budget, python=options.rechunker)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
