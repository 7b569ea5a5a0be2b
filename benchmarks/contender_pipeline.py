"""zarr-python with blazarr's codec pipeline as a contender in tables, and what a pipeline can reach at best.

A table makes a `Contender`, as it does of `contender.py`. Run as a program, this times reads through the pipeline and
through one that does nothing, turn by turn: the difference is all that blazarr adds to zarr-python's own work.

    python benchmarks/contender_pipeline.py [--mib 128] [--repeats 5]
"""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import zarr
from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, ZstdCodec
from zarr.core.buffer import default_buffer_prototype
from zarr.registry import register_pipeline

from blazarr.compat.zarr_python import BlazarrCodecPipeline

sys.path.insert(0, str(Path(__file__).parent))
from cases import Case, cases, selection, smooth_field

V3_COMPRESSORS: dict[str, Any] = {
    "none": None,
    "zstd": ZstdCodec(level=3),
    "zstd-crc": [ZstdCodec(level=3), Crc32cCodec()],
    "gzip": GzipCodec(level=5),
    "blosc-lz4": BloscCodec(cname="lz4", clevel=5, shuffle="shuffle"),
    "blosc-zstd": BloscCodec(cname="zstd", clevel=5, shuffle="bitshuffle"),
}
V2_COMPRESSOR = numcodecs.Blosc(cname="lz4", clevel=5, shuffle=numcodecs.Blosc.SHUFFLE)


class Contender:
    """Opens, reads and writes with zarr-python, through a pipeline."""

    pipeline = BlazarrCodecPipeline

    def __init__(self) -> None:
        name = f"{self.pipeline.__module__}.{self.pipeline.__qualname__}"
        self.options = {"codec_pipeline.path": name, "threading.max_workers": os.cpu_count()}

    def open(self, path: Any, case: Any) -> Any:
        with zarr.config.set(self.options):
            return zarr.open_array(path, mode="r")

    def read(self, array: Any, case: Any) -> Any:
        with zarr.config.set(self.options):
            if case.op == "read-points":
                return array.vindex[selection(case)]
            if case.op == "read-ortho":
                return array.oindex[selection(case)]
            return array[selection(case)]

    def read_into(self, array: Any, case: Any, out: np.ndarray) -> None:
        buffer = default_buffer_prototype().nd_buffer.from_ndarray_like(out)
        with zarr.config.set(self.options):
            array.get_basic_selection(selection(case), out=buffer)

    def write(self, path: Any, case: Any, data: np.ndarray) -> None:
        with zarr.config.set(self.options):
            array = zarr.create_array(
                path,
                shape=case.shape,
                dtype=case.dtype,
                chunks=case.chunks,
                shards=case.shards,
                compressors=V2_COMPRESSOR if case.fmt == 2 else V3_COMPRESSORS[case.codec],
                fill_value=0,
                zarr_format=case.fmt,
                overwrite=True,
            )
            array[selection(case)] = data


class Nothing(BlazarrCodecPipeline):
    """A pipeline that reads and writes nothing."""

    __module__ = "contender_pipeline"

    async def read(self, batch_info: Any, out: Any, drop_axes: tuple[int, ...] = ()) -> Any:
        return ({"status": "present"},) * len(batch_info)

    async def write(self, batch_info: Any, value: Any, drop_axes: tuple[int, ...] = ()) -> None:
        pass


register_pipeline(Nothing)


class Floor(Contender):
    """What zarr-python costs around any pipeline."""

    pipeline = Nothing


def time_case(case: Case, path: Path, repeats: int) -> tuple[float, float]:
    """Return the seconds of a read through the pipeline, and through the one that does nothing."""
    from run import CALLS, seconds

    turns: dict[type, list[float]] = {Contender: [], Floor: []}
    for _ in range(repeats + 1):
        for kind, times in turns.items():
            library = kind()
            array = library.open(path, case)
            library.read(array, case)
            took, _ = seconds(lambda: library.read(array, case), CALLS.get(case.op, 1))  # noqa: B023
            times.append(took)
    real, floor = (statistics.median(times[1:]) for times in turns.values())
    return real, floor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{'case':34}{'pipeline':>12}{'nothing':>12}{'between':>12}   (ms)")
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as root:
        written: dict[str, Path] = {}
        for case in cases(options.mib):
            if not case.op.startswith("read") or case.op == "read-into":
                continue
            if case.layout not in written:
                path = written[case.layout] = Path(root) / str(len(written))
                full = Case("write-full", case.layout, case.shape)
                Contender().write(path, full, smooth_field(case.shape, case.dtype))
            real, floor = time_case(case, written[case.layout], options.repeats)
            row = "".join(f"{1e3 * value:12.2f}" for value in (real, floor, real - floor))
            print(f"{case.name:34}{row}", flush=True)


if __name__ == "__main__":
    main()
