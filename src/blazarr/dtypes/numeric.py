"""Booleans, integers, floats and complex numbers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from blazarr.dtypes.base import JSON, DataType
from blazarr.dtypes.fill import mismatch, read_bounded, read_float, unwrap, write_float


class Numeric(DataType):
    """What the plain numpy types share: the v3 name is numpy's own."""

    @property
    def name(self) -> str:
        """The v3 name."""
        return self.numpy.name

    def to_fill(self, value: object) -> Any:
        """Make a fill value of what a user gave; True counts as 1."""
        value = unwrap(value)
        return self.fill_from_json(int(value) if isinstance(value, bool | np.bool_) else value)


class Bool(Numeric):
    """True or false, one byte."""

    def fill_from_json(self, value: JSON, path: str = "fill_value", *, zarr_format: int = 3) -> Any:
        """Read a boolean; 0 and 1 are accepted for older writers' sake."""
        if not isinstance(value, bool | int | float | np.generic) or value not in (0, 1):
            raise mismatch(path, "true or false", value)
        return np.bool_(value)

    def fill_to_json(self, fill: Any, *, zarr_format: int = 3) -> JSON:
        """Give ``true`` or ``false``."""
        return bool(fill)


class Integer(Numeric):
    """Signed and unsigned integers."""

    def fill_from_json(self, value: JSON, path: str = "fill_value", *, zarr_format: int = 3) -> Any:
        """Read an integer within the type's range."""
        low, high = _bounds(self.numpy.kind, self.numpy.itemsize * 8)
        return self.numpy.type(read_bounded(value, low, high, path))

    def fill_to_json(self, fill: Any, *, zarr_format: int = 3) -> JSON:
        """Give an integer."""
        return int(fill)


@cache
def _bounds(kind: str, bits: int) -> tuple[int, int]:
    return (0, 2**bits - 1) if kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


class Float(Numeric):
    """IEEE 754 floats of 16, 32 and 64 bits."""

    def fill_from_json(self, value: JSON, path: str = "fill_value", *, zarr_format: int = 3) -> Any:
        """Read a number, a special name or a bit pattern."""
        return read_float(value, self.native, path)

    def fill_to_json(self, fill: Any, *, zarr_format: int = 3) -> JSON:
        """Give a number, a special name or a bit pattern."""
        return write_float(fill, self.native, zarr_format=zarr_format)


class Complex(Numeric):
    """Complex numbers: two floats."""

    @property
    def part(self) -> np.dtype[Any]:
        """The float type of the real and the imaginary part."""
        return np.dtype(f"f{self.numpy.itemsize // 2}")

    def fill_from_json(self, value: JSON, path: str = "fill_value", *, zarr_format: int = 3) -> Any:
        """Read a pair of floats, or one number, which is the real part."""
        if isinstance(value, complex | np.complexfloating):
            return self.numpy.type(value)
        if not isinstance(value, list | tuple):
            value = [value, 0.0]
        if len(value) != 2:
            raise mismatch(path, "a pair [real, imaginary]", value)
        parts = [
            read_float(part, self.part, f"{path}[{position}]")
            for position, part in enumerate(value)
        ]
        return np.array(parts, dtype=self.part).view(self.native)[0]

    def fill_to_json(self, fill: Any, *, zarr_format: int = 3) -> JSON:
        """Give a pair of floats."""
        parts = np.array([fill], dtype=self.native).view(self.part)
        return [write_float(part, self.part, zarr_format=zarr_format) for part in parts]


_KINDS: dict[str, type[Numeric]] = {
    "b": Bool,
    "i": Integer,
    "u": Integer,
    "f": Float,
    "c": Complex,
}
_NAMES = frozenset(
    ["bool", "float16", "float32", "float64", "complex64", "complex128"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)

# The names that the extension registry gives to the two complex types.
_ALIASES = {"complex_float32": "complex64", "complex_float64": "complex128"}

V3_NAMES = _NAMES | _ALIASES.keys()


def from_v3(name: str) -> DataType:
    """Give the data type of one of `V3_NAMES`."""
    dtype = np.dtype(_ALIASES.get(name, name))
    return _KINDS[dtype.kind](dtype)


def from_numpy(dtype: np.dtype[Any]) -> DataType | None:
    """Give the data type of a plain numpy dtype."""
    if dtype.kind not in _KINDS or dtype.name not in _NAMES:
        return None
    # By way of the name: numpy has several types for one size (``long``, ``longlong``).
    return _KINDS[dtype.kind](np.dtype(dtype.str))
