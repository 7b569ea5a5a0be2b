"""What blazarr writes is read by zarr-python and TensorStore with equal values, and the reverse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blazarr

zarr = pytest.importorskip("zarr")
tensorstore = pytest.importorskip("tensorstore")

pytestmark = pytest.mark.filterwarnings("ignore")

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128", ">u2", ">f8",
]  # fmt: skip
SHAPE, CHUNKS, SHARDS = (13, 11), (4, 3), (8, 6)

# Codec by format, as both libraries' create_array takes it, and whether TensorStore has it.
BLOSC = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}
BLOSC_ZSTD = BLOSC | {"cname": "zstd", "shuffle": "bitshuffle"}
V3: dict[str, list[dict[str, Any]]] = {
    "none": [],
    "zstd": [{"name": "zstd", "configuration": {"level": 3, "checksum": False}}],
    "zstd-checksum": [{"name": "zstd", "configuration": {"level": 3, "checksum": True}}],
    "gzip": [{"name": "gzip", "configuration": {"level": 5}}],
    "blosc-lz4": [{"name": "blosc", "configuration": BLOSC}],
    "blosc-zstd": [{"name": "blosc", "configuration": BLOSC_ZSTD}],
    "crc32c": [{"name": "crc32c"}],
}
V2: dict[str, Any] = {
    "none": None,
    "zstd": {"id": "zstd", "level": 3},
    "gzip": {"id": "gzip", "level": 5},
    "zlib": {"id": "zlib", "level": 5},
    "blosc-lz4": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0},
    "lz4": {"id": "lz4", "acceleration": 1},
}
NOT_IN_TENSORSTORE = {"lz4"}

CASES = [
    *((3, codec, shards) for codec in V3 for shards in (None, SHARDS)),
    *((2, codec, None) for codec in V2),
]


def values(dtype: str) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(5)
    numbers = rng.integers(0, 100, SHAPE)
    return (numbers > 50 if dtype == "bool" else numbers + 0).astype(dtype)


def compressors(library: Any, zarr_format: int, codec: str) -> Any:
    if zarr_format == 3 or V2[codec] is None:
        return V3[codec] if zarr_format == 3 else None
    if library is blazarr:
        return V2[codec]
    import numcodecs

    return numcodecs.get_codec(V2[codec])


def write(library: Any, path: Path, case: tuple[int, str, Any], data: Any) -> None:
    zarr_format, codec, shards = case
    array = library.create_array(
        str(path),
        shape=SHAPE,
        chunks=CHUNKS,
        shards=shards,
        dtype=data.dtype,
        compressors=compressors(library, zarr_format, codec),
        zarr_format=zarr_format,
        fill_value=0,
    )
    array[...] = data


def read_with_tensorstore(path: Path, zarr_format: int) -> Any:
    driver = "zarr3" if zarr_format == 3 else "zarr"
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": str(path)}}
    return tensorstore.open(spec, open=True, read=True).result().read().result()


def write_with_tensorstore(path: Path, case: tuple[int, str, Any], data: Any) -> None:
    """Rewrites the values of an array that exists, so that TensorStore encodes them."""
    driver = "zarr3" if case[0] == 3 else "zarr"
    spec = {
        "driver": driver,
        "kvstore": {"driver": "file", "path": str(path), "file_io_sync": False},
    }
    target = tensorstore.open(spec, open=True, read=True, write=True).result()
    target[...].write(data).result()


def same(array: Any, want: np.ndarray[Any, Any], what: str) -> None:
    np.testing.assert_array_equal(array[...], want, what)


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: "-".join(map(str, case[:2])) + ("-sharded" if case[2] else "")
)
def test_values_cross_every_border(tmp_path: Path, case: tuple[int, str, Any]) -> None:
    zarr_format, codec, _ = case
    for number, dtype in enumerate(DTYPES):
        data = values(dtype)
        ours, theirs = tmp_path / f"ours-{number}", tmp_path / f"theirs-{number}"
        write(blazarr, ours, case, data)
        write(zarr, theirs, case, data)
        same(zarr.open_array(str(ours), mode="r"), data, f"zarr-python reads ours {dtype}")
        same(blazarr.open_array(theirs, mode="r"), data, f"blazarr reads zarr-python's {dtype}")
        if codec in NOT_IN_TENSORSTORE:
            continue
        same(read_with_tensorstore(ours, zarr_format), data, f"TensorStore reads ours {dtype}")
        changed = data[::-1].copy()
        write_with_tensorstore(theirs, case, changed)
        same(blazarr.open_array(theirs, mode="r"), changed, f"blazarr reads TensorStore's {dtype}")
