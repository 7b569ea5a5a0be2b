"""Bytes: null-terminated, raw of fixed length, and of any length."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from blazarr.dtypes.base import JSON, DataType
from blazarr.dtypes.fill import (
    is_legacy_zero,
    mismatch,
    read_base64,
    read_bounded,
    read_byte_list,
    unwrap,
    write_base64,
)
from blazarr.dtypes.text import MAX_BYTES
from blazarr.errors import MetadataError

_CORE_NAME = re.compile(r"r([1-9][0-9]*)", re.ASCII)


def _read_bytes(value: JSON, path: str) -> bytes:
    """Read base64, the core specification's list of bytes, or zarr-python 2's zero."""
    if is_legacy_zero(value):
        return b""
    return read_byte_list(value, path) if isinstance(value, list) else read_base64(value, path)


def _as_bytes(value: object) -> bytes:
    """Take the bytes of what a user gave as a fill value."""
    value = unwrap(value)
    if is_legacy_zero(value):
        return b""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes | bytearray | memoryview | np.void):
        return bytes(value)
    raise mismatch("fill_value", "bytes", value)


class FixedBytes(DataType):
    """numpy's ``S``: bytes of fixed length; zeros at the end are padding."""

    @property
    def name(self) -> str:
        """The v3 name."""
        return "null_terminated_bytes"

    def to_v3(self) -> JSON:
        """Give the ``data_type`` member of a v3 document."""
        return {"name": self.name, "configuration": {"length_bytes": self.numpy.itemsize}}

    def fill_from_json(self, value: JSON, path: str = "fill_value", *, zarr_format: int = 3) -> Any:
        """Read base64, or the 0 that zarr-python 2 wrote for no bytes."""
        data = _read_bytes(value, path)
        if len(data) > self.numpy.itemsize:
            raise mismatch(path, f"at most {self.numpy.itemsize} bytes as base64", value)
        return np.bytes_(data)

    def fill_to_json(self, fill: Any, *, zarr_format: int = 3) -> JSON:
        """Give base64."""
        return write_base64(bytes(fill))

    def to_fill(self, value: object) -> Any:
        """Make a fill value of what a user gave, cut to the item's length."""
        return np.bytes_(_as_bytes(value)[: self.numpy.itemsize])

    def default_fill(self) -> Any:
        """Give no bytes."""
        return np.bytes_(b"")


@dataclass(frozen=True)
class Raw(DataType):
    """numpy's ``V`` without fields: bytes of fixed length.

    `core` tells the two v3 spellings apart: the core specification's ``r16`` from
    zarr-python's ``raw_bytes``, which also differ in how they write the fill value.
    """

    core: bool = False

    @property
    def name(self) -> str:
        """The v3 name."""
        return f"r{self.numpy.itemsize * 8}" if self.core else "raw_bytes"

    def to_v3(self) -> JSON:
        """Give the ``data_type`` member of a v3 document."""
        if self.core:
            return self.name
        return {"name": self.name, "configuration": {"length_bytes": self.numpy.itemsize}}

    def fill_from_json(self, value: JSON, path: str = "fill_value", *, zarr_format: int = 3) -> Any:
        """Read base64 or a list of bytes, of the item's length; 0 means all zeros."""
        data = _read_bytes(value, path)
        if is_legacy_zero(value):
            data = bytes(self.numpy.itemsize)
        if len(data) != self.numpy.itemsize:
            raise mismatch(path, f"{self.numpy.itemsize} bytes", value)
        return self._from_bytes(data)

    def _from_bytes(self, data: bytes) -> Any:
        return np.frombuffer(data, dtype=self.numpy)[0]

    def fill_to_json(self, fill: Any, *, zarr_format: int = 3) -> JSON:
        """Give a list of bytes for ``r*`` in format 3, else base64."""
        data = self.fill_bytes(fill)
        return list(data) if self.core and zarr_format == 3 else write_base64(data)

    def to_fill(self, value: object) -> Any:
        """Make a fill value of what a user gave, padded with zeros."""
        data = _as_bytes(value)
        if len(data) > self.numpy.itemsize:
            raise mismatch("fill_value", f"at most {self.numpy.itemsize} bytes", value)
        return self._from_bytes(data.ljust(self.numpy.itemsize, b"\0"))

    def default_fill(self) -> Any:
        """Give zeros."""
        return self._from_bytes(bytes(self.numpy.itemsize))

    def fill_bytes(self, fill: Any) -> bytes:
        """Give the bytes."""
        return bytes(fill).ljust(self.numpy.itemsize, b"\0")


class Bytes(DataType):
    """Bytes of any length; Python's `bytes` in object arrays in memory."""

    variable: ClassVar[bool] = True
    object_codec: ClassVar[str | None] = "vlen-bytes"

    @property
    def name(self) -> str:
        """The v3 name."""
        return "variable_length_bytes"

    def to_v2(self) -> JSON:
        """Give ``|O``; the filter says the rest."""
        return "|O"

    def fill_from_json(self, value: JSON, path: str = "fill_value", *, zarr_format: int = 3) -> Any:
        """Read base64 or a list of bytes; 0 means no bytes."""
        return _read_bytes(value, path)

    def fill_to_json(self, fill: Any, *, zarr_format: int = 3) -> JSON:
        """Give base64."""
        return write_base64(bytes(fill))

    def to_fill(self, value: object) -> Any:
        """Make a fill value of what a user gave."""
        return _as_bytes(value)

    def default_fill(self) -> Any:
        """Give no bytes."""
        return b""

    def fill_bytes(self, fill: Any) -> bytes:
        """Give the bytes."""
        return bytes(fill)


BYTES = Bytes(np.dtype(object))

V3_NAMES = frozenset(["null_terminated_bytes", "raw_bytes", "variable_length_bytes", "bytes"])


def from_v3(name: str, configuration: dict[str, Any], path: str) -> DataType:
    """Parse one of `V3_NAMES`."""
    if name in ("variable_length_bytes", "bytes"):
        return BYTES
    where = f"{path}.configuration.length_bytes"
    size = read_bounded(configuration.get("length_bytes"), 1, MAX_BYTES, where)
    if name == "raw_bytes":
        return Raw(np.dtype(f"V{size}"))
    return FixedBytes(np.dtype(f"S{size}"))


def from_core_name(name: str, path: str) -> DataType | None:
    """Parse the core specification's ``r<bits>``; None for any other name."""
    match = _CORE_NAME.fullmatch(name)
    if match is None:
        return None
    if len(name) > 12 or (bits := int(match[1])) % 8 or bits // 8 > MAX_BYTES:
        raise MetadataError(
            f"{path}: raw types have a multiple of 8 bits (r8, r16, ...), found {name[:40]!r}",
            path=path,
        )
    return Raw(np.dtype(f"V{bits // 8}"), core=True)


def from_numpy(dtype: np.dtype[Any]) -> DataType | None:
    """Give the data type of ``S``, or of ``V`` without fields."""
    if dtype.kind == "S" and dtype.itemsize:
        return FixedBytes(dtype)
    if dtype.type is np.void and dtype.names is None and dtype.subdtype is None and dtype.itemsize:
        return Raw(np.dtype(f"V{dtype.itemsize}"))
    return None
