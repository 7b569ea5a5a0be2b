"""blazarr as a contender in tables that time Zarr libraries side by side.

A table makes a `Contender` and hands it cases: objects with `op`, `shape`, `dtype`, `chunks`, `shards`, `codec`
(none, zstd, zstd-crc, gzip, blosc-lz4, blosc-zstd) and `fmt` (2 or 3). `run.py` here does so, and so can any program
that loads this file by its path. The metadata written is exactly the peers': fill value 0, no checksum unasked.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import blazarr
from blazarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, ZstdCodec

sys.path.insert(0, str(Path(__file__).parent))
from cases import selection

V3_COMPRESSORS: dict[str, Any] = {
    "none": None,
    "zstd": ZstdCodec(level=3),
    "zstd-crc": [ZstdCodec(level=3), Crc32cCodec()],
    "gzip": GzipCodec(level=5),
    "blosc-lz4": BloscCodec(cname="lz4", clevel=5, shuffle="shuffle"),
    "blosc-zstd": BloscCodec(cname="zstd", clevel=5, shuffle="bitshuffle"),
}
V2_COMPRESSOR = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}


class Contender:
    """Opens, reads and writes with blazarr's public interface."""

    def open(self, path: Any, case: Any) -> Any:
        return blazarr.open_array(path, mode="r")

    def read(self, array: Any, case: Any) -> Any:
        if case.op == "read-points":
            return array.vindex[selection(case)]
        if case.op == "read-ortho":
            return array.oindex[selection(case)]
        return array[selection(case)]

    def read_into(self, array: Any, case: Any, out: np.ndarray) -> None:
        array.get_basic_selection(selection(case), out=out)

    def write(self, path: Any, case: Any, data: np.ndarray) -> None:
        array = blazarr.create_array(
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
