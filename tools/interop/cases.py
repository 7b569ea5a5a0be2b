"""What is exchanged: data types, codecs and formats, each an array with known values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import blazarr

SHAPE, CHUNKS, SHARDS = (13, 11), (4, 3), (8, 6)

NUMBERS = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
# In format 3 the byte order is the codec's, in format 2 the data type's.
OTHERS = (
    ">u2", ">f8", "<U4", "S4", "V3", "<M8[s]", "<m8[ms]", "string", "bytes", "struct", "bfloat16",
)  # fmt: skip
DTYPES = (*NUMBERS, *OTHERS)

_BLOSC = {"clevel": 5, "typesize": 4, "blocksize": 0}
_BIG = {"name": "bytes", "configuration": {"endian": "big"}}
_ZSTD = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}

# By format: arguments of `blazarr.create_array`.
CODECS: dict[int, dict[str, dict[str, Any]]] = {
    3: {
        "none": {"compressors": None},
        "zstd": {"compressors": [_ZSTD]},
        "zstd, checksum": {
            "compressors": [{"name": "zstd", "configuration": {"level": 3, "checksum": True}}]
        },
        "gzip": {"compressors": [{"name": "gzip", "configuration": {"level": 5}}]},
        "blosc lz4": {
            "compressors": [
                {"name": "blosc", "configuration": _BLOSC | {"cname": "lz4", "shuffle": "shuffle"}}
            ]
        },
        "blosc zstd": {
            "compressors": [
                {
                    "name": "blosc",
                    "configuration": _BLOSC | {"cname": "zstd", "shuffle": "bitshuffle"},
                }
            ]
        },
        "crc32c": {"compressors": [{"name": "crc32c"}]},
        "transpose": {
            "compressors": None,
            "filters": [{"name": "transpose", "configuration": {"order": [1, 0]}}],
        },
        "big endian": {"compressors": None, "serializer": _BIG},
        "sharded": {"compressors": None, "shards": SHARDS},
        "sharded zstd": {"compressors": [_ZSTD], "shards": SHARDS},
    },
    2: {
        "none": {"compressors": None},
        "zstd": {"compressors": {"id": "zstd", "level": 3}},
        "gzip": {"compressors": {"id": "gzip", "level": 5}},
        "zlib": {"compressors": {"id": "zlib", "level": 5}},
        "lz4": {"compressors": {"id": "lz4", "acceleration": 1}},
        "blosc lz4": {
            "compressors": {
                "id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0,
            }
        },
        "order F": {"compressors": None, "order": "F"},
        "dots to slashes": {
            "compressors": None,
            "chunk_key_encoding": {"name": "v2", "separator": "/"},
        },
    },
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One array."""

    zarr_format: int
    codec: str
    dtype: str

    @property
    def name(self) -> str:
        """The case in a few words."""
        return f"v{self.zarr_format} {self.codec} {self.dtype}"

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return "".join(c if c.isalnum() else "-" for c in self.name)

    def values(self) -> npt.NDArray[Any]:
        """Return the values that the array has."""
        return values(self.dtype)

    def create(self, place: Path | dict[str, bytes]) -> blazarr.Array:
        """Create the array, without its values."""
        return blazarr.create_array(
            place,
            shape=SHAPE,
            chunks=CHUNKS,
            dtype=DECLARED.get(self.dtype, self.dtype),
            zarr_format=self.zarr_format,
            **CODECS[self.zarr_format][self.codec],
        )


# What `dtype=` is, where it is not what the values have.
DECLARED = {"bytes": "variable_length_bytes", "struct": np.dtype([("a", "<i4"), ("b", "<f8")])}


def values(dtype: str) -> npt.NDArray[Any]:
    """Return values of a data type, the same ones each time; some chunks hold only zeros."""
    numbers = np.random.default_rng(5).integers(0, 100, SHAPE)
    numbers[:8, :6] = 0
    if dtype == "bool":
        return numbers > 50
    if dtype == "string":
        return numbers.astype("U3").astype(np.dtypes.StringDType())
    if dtype == "bytes":
        return np.array([[str(n).encode() for n in row] for row in numbers], dtype=object)
    if dtype == "struct":
        records = np.zeros(SHAPE, DECLARED["struct"])
        records["a"], records["b"] = numbers, numbers / 4
        return records
    if dtype == "V3":
        return numbers.astype("<u4").view("V4").astype("V3")
    if dtype == "bfloat16":
        import ml_dtypes

        return numbers.astype(ml_dtypes.bfloat16)
    return numbers.astype(dtype)


def cases(formats: tuple[int, ...] = (3, 2), dtypes: tuple[str, ...] = DTYPES) -> list[Case]:
    """Return all of the cases that the formats have."""
    return [
        Case(zarr_format, codec, dtype)
        for zarr_format in formats
        for codec in CODECS[zarr_format]
        for dtype in dtypes
        if exists(zarr_format, codec, dtype)
    ]


def exists(zarr_format: int, codec: str, dtype: str) -> bool:
    """Whether there is such a thing: format 3 has no byte order in its data types."""
    text = dtype in {"string", "bytes"}
    if zarr_format == 3:
        return not dtype.startswith(">") and not (text and codec == "big endian")
    return dtype != "bfloat16"
