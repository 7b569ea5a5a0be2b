"""zarr-python's names for data types: each makes the `blazarr.dtypes.DataType` it stands for.

``dtype=`` takes these as it takes names and numpy dtypes. Byte order matters in format 2 only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from blazarr.dtypes import DataType, parse_data_type

__all__ = [
    "Bool",
    "Complex64",
    "Complex128",
    "DateTime64",
    "FixedLengthUTF32",
    "Float16",
    "Float32",
    "Float64",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "NullTerminatedBytes",
    "RawBytes",
    "Struct",
    "Structured",
    "TimeDelta64",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "VariableLengthBytes",
    "VariableLengthUTF8",
    "ZDType",
    "parse_dtype",
]

Endianness: TypeAlias = Literal["little", "big"]

ZDType: TypeAlias = DataType

_ORDERS = {"little": "<", "big": ">"}


def parse_dtype(dtype_spec: Any, *, zarr_format: Literal[2, 3]) -> DataType:
    """Return the data type for anything that names one.

    Parameters
    ----------
    dtype_spec
        A name, a numpy dtype, the member of a document, or a `DataType`.
    zarr_format
        Format of the document that the type is for.
    """
    if zarr_format == 2 and isinstance(dtype_spec, dict) and "object_codec_id" in dtype_spec:
        return DataType.from_v2(dtype_spec["name"], [{"id": dtype_spec["object_codec_id"]}])
    return parse_data_type(dtype_spec)


def _ordered(code: str, *, endianness: Endianness = "little") -> DataType:
    return parse_data_type(np.dtype(_ORDERS[endianness] + code))


def _time(
    code: str, *, endianness: Endianness = "little", scale_factor: int = 1, unit: str = "generic"
) -> DataType:
    scaled = "" if unit == "generic" else f"[{scale_factor}{unit}]"
    return parse_data_type(np.dtype(f"{_ORDERS[endianness]}{code}8{scaled}"))


def _sized(code: str, *, length: int) -> DataType:
    return parse_data_type(np.dtype(f"{code}{length}"))


def FixedLengthUTF32(*, length: int, endianness: Endianness = "little") -> DataType:  # noqa: N802
    """Text of a fixed number of code points."""
    return parse_data_type(np.dtype(f"{_ORDERS[endianness]}U{length}"))


def Struct(*, fields: Iterable[tuple[str, DataType]]) -> DataType:  # noqa: N802
    """Records of named fields."""
    return parse_data_type(np.dtype([(name, field.numpy) for name, field in fields]))


Bool: Callable[[], DataType] = partial(parse_data_type, "bool")
Int8: Callable[[], DataType] = partial(parse_data_type, "int8")
UInt8: Callable[[], DataType] = partial(parse_data_type, "uint8")
Int16: Callable[..., DataType] = partial(_ordered, "i2")
Int32: Callable[..., DataType] = partial(_ordered, "i4")
Int64: Callable[..., DataType] = partial(_ordered, "i8")
UInt16: Callable[..., DataType] = partial(_ordered, "u2")
UInt32: Callable[..., DataType] = partial(_ordered, "u4")
UInt64: Callable[..., DataType] = partial(_ordered, "u8")
Float16: Callable[..., DataType] = partial(_ordered, "f2")
Float32: Callable[..., DataType] = partial(_ordered, "f4")
Float64: Callable[..., DataType] = partial(_ordered, "f8")
Complex64: Callable[..., DataType] = partial(_ordered, "c8")
Complex128: Callable[..., DataType] = partial(_ordered, "c16")
DateTime64: Callable[..., DataType] = partial(_time, "M")
TimeDelta64: Callable[..., DataType] = partial(_time, "m")
NullTerminatedBytes: Callable[..., DataType] = partial(_sized, "S")
RawBytes: Callable[..., DataType] = partial(_sized, "V")
Structured = Struct
VariableLengthBytes: Callable[[], DataType] = partial(parse_data_type, "variable_length_bytes")
VariableLengthUTF8: Callable[[], DataType] = partial(parse_data_type, "string")
