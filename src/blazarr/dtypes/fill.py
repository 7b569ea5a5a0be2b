"""The encodings of fill values that the two specifications allow, and those found in the wild."""

from __future__ import annotations

import base64
import binascii
import operator
from typing import Any

import numpy as np

from blazarr.errors import MetadataError

SPECIAL_FLOATS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def shorten(value: object, length: int = 60) -> str:
    """Show a value from outside without flooding the message."""
    # A slice first: the repr of a huge value would cost more than the error is worth.
    head = value[: length + 1] if isinstance(value, str | bytes | list | tuple) else value
    text = repr(head)
    return text if len(text) <= length else f"{text[: length - 3]}..."


def mismatch(path: str, wanted: str, value: object) -> MetadataError:
    """Make the error for a fill value that does not suit its data type."""
    return MetadataError(f"{path}: expected {wanted}, found {shorten(value)}", path=path)


def unwrap(value: object) -> object:
    """Take the item out of a 0-d array."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def read_integer(value: object, path: str) -> int:
    """Read an integer that may be written as an integral float or as a decimal string."""
    if isinstance(value, bool | np.bool_):
        raise mismatch(path, "an integer", value)
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return int(value)
    if isinstance(value, str):
        return _integer_from_text(value, path)
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise mismatch(path, "an integer", value) from None


def _integer_from_text(text: str, path: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise mismatch(path, "an integer", text) from None


def read_bounded(value: object, low: int, high: int, path: str) -> int:
    """Read an integer that must lie between `low` and `high`."""
    number = read_integer(value, path)
    if not low <= number <= high:
        raise mismatch(path, f"an integer from {low} to {high}", number)
    return number


def read_float(value: object, dtype: np.dtype[Any], path: str) -> Any:
    """Read a float: a number, a special name, a decimal string, or ``0x`` and the exact bits."""
    if isinstance(value, str):
        return _float_from_text(value, dtype, path)
    if isinstance(value, bool | np.bool_ | bytes | bytearray):
        raise mismatch(path, "a number, 'NaN', 'Infinity', '-Infinity' or a hex string", value)
    if isinstance(value, np.generic) and value.dtype == dtype:
        return value
    try:
        # A value beyond the type's range becomes infinite, as it does for other readers.
        with np.errstate(over="ignore"):
            return dtype.type(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        wanted = "a number, 'NaN', 'Infinity', '-Infinity' or a hex string"
        raise mismatch(path, wanted, value) from None


def _float_from_text(text: str, dtype: np.dtype[Any], path: str) -> Any:
    if text.startswith("0x"):
        return read_bits(text, dtype, path)
    try:
        number = SPECIAL_FLOATS[text] if text in SPECIAL_FLOATS else float(text)
    except ValueError:
        wanted = "a number, 'NaN', 'Infinity', '-Infinity' or a hex string"
        raise mismatch(path, wanted, text) from None
    with np.errstate(over="ignore"):
        return dtype.type(number)


def read_bits(text: str, dtype: np.dtype[Any], path: str) -> Any:
    """Read a hex string that gives an item's bits, most significant first."""
    digits = 2 * dtype.itemsize
    wanted = f"'0x' and {digits} hexadecimal digits"
    if len(text) != digits + 2:
        raise mismatch(path, wanted, text)
    try:
        bits = int(text, 16)
    except ValueError:
        raise mismatch(path, wanted, text) from None
    # Never by way of a Python float, which would lose the payload of a NaN.
    return np.array(bits, dtype=f"u{dtype.itemsize}").view(dtype)[()]


def write_float(value: Any, dtype: np.dtype[Any], *, zarr_format: int) -> float | str:
    """Give the JSON form of a float; format 3 keeps a NaN's bits."""
    if np.isnan(value):
        return _nan_to_json(value, dtype, zarr_format)
    if np.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(value)


def _nan_to_json(value: Any, dtype: np.dtype[Any], zarr_format: int) -> str:
    unsigned = np.dtype(f"u{dtype.itemsize}")
    bits = int(np.array(value, dtype=dtype).view(unsigned))
    plain = int(np.array(np.nan, dtype=dtype).view(unsigned))
    if zarr_format == 2 or bits == plain:
        return "NaN"
    return f"0x{bits:0{2 * dtype.itemsize}x}"


def read_base64(value: object, path: str) -> bytes:
    """Read bytes from base64."""
    if not isinstance(value, str):
        raise mismatch(path, "a base64 string", value)
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise mismatch(path, "a base64 string", value) from None


def read_byte_list(value: list[Any], path: str) -> bytes:
    """Read bytes from a list of integers."""
    return bytes(
        read_bounded(byte, 0, 255, f"{path}[{position}]") for position, byte in enumerate(value)
    )


def write_base64(value: bytes) -> str:
    """Give the base64 form of bytes."""
    return base64.b64encode(value).decode("ascii")


def is_legacy_zero(value: object) -> bool:
    """Tell the 0 that zarr-python 2 wrote as the fill value of strings and records."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value == 0
