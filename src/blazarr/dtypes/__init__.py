"""Zarr data types, their numpy dtypes and their fill values."""

from __future__ import annotations

from blazarr.dtypes.base import DataType
from blazarr.dtypes.registry import parse_data_type, register_data_type

__all__ = ["DataType", "parse_data_type", "register_data_type"]
