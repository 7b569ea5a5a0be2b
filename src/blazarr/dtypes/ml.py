"""Small floats and integers of machine learning, by way of the optional package ml_dtypes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from blazarr.dtypes.base import JSON, DataType
from blazarr.dtypes.fill import read_bits, read_bounded, read_float, unwrap
from blazarr.errors import UnsupportedError

_FLOATS = frozenset(
    [
        "bfloat16",
        "float4_e2m1fn",
        "float6_e2m3fn",
        "float6_e3m2fn",
        "float8_e3m4",
        "float8_e4m3",
        "float8_e4m3b11fnuz",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
    ]
)
_INTEGERS = frozenset(["int2", "int4", "uint2", "uint4"])

V3_NAMES = _FLOATS | _INTEGERS


class MlType(DataType):
    """One of `V3_NAMES`; an item takes at least a byte."""

    @property
    def name(self) -> str:
        """The v3 name."""
        return self.numpy.name

    def to_v2(self) -> JSON:
        """Give the name, as TensorStore does: numpy's own code for it says nothing."""
        return self.name

    def fill_from_json(self, value: JSON, path: str = "fill_value", *, zarr_format: int = 3) -> Any:
        """Read a number, a special name or a bit pattern."""
        if self.name in _INTEGERS:
            low, high = _bounds(self.name)
            return self.native.type(read_bounded(value, low, high, path))
        if isinstance(value, str) and value.startswith("0x"):
            return read_bits(value, self.native, path)
        # Through float64, since only numpy's own floats can be made from text.
        return self.native.type(read_float(value, np.dtype("f8"), path))

    def fill_to_json(self, fill: Any, *, zarr_format: int = 3) -> JSON:
        """Give a number where it is finite, else a special name."""
        if self.name in _INTEGERS:
            return int(fill)
        number = float(fill)
        if np.isnan(number):
            return "NaN"
        if np.isinf(number):
            return "Infinity" if number > 0 else "-Infinity"
        return number

    def to_fill(self, value: object) -> Any:
        """Make a fill value of what a user gave."""
        value = unwrap(value)
        if isinstance(value, np.generic) and value.dtype == self.native:
            return value
        if isinstance(value, bool | np.generic):
            value = value.item() if isinstance(value, np.generic) else int(value)
        return self.fill_from_json(value)

    def default_fill(self) -> Any:
        """Give 0, or the smallest number of a type that has no 0."""
        return self.native.type(0)


def _bounds(name: str) -> tuple[int, int]:
    bits = int(name[-1])
    return (0, 2**bits - 1) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


@cache
def from_v3(name: str) -> DataType:
    """Give the data type of one of `V3_NAMES`."""
    try:
        import ml_dtypes
    except ImportError:
        raise UnsupportedError(
            f"data type {name!r} needs the package ml_dtypes: pip install ml_dtypes",
            package="ml_dtypes",
        ) from None
    scalar = getattr(ml_dtypes, name, None)
    if scalar is None:
        raise UnsupportedError(
            f"data type {name!r} needs a newer ml_dtypes: pip install -U ml_dtypes",
            package="ml_dtypes",
        )
    return MlType(np.dtype(scalar))


def from_numpy(dtype: np.dtype[Any]) -> DataType | None:
    """Give the data type of an ml_dtypes dtype."""
    return MlType(dtype) if dtype.name in V3_NAMES else None
