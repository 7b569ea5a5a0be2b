"""Records: numpy's structured types, nested, with sub-arrays and mixed byte order."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from blazarr.dtypes.base import JSON, DataType
from blazarr.dtypes.fill import is_legacy_zero, mismatch, read_base64, unwrap, write_base64
from blazarr.errors import MetadataError, UnsupportedError, ZarrUserWarning

V3_NAMES = frozenset(["struct", "structured"])


@dataclass(frozen=True)
class Field:
    """One member of a record; `shape` is that of a sub-array."""

    name: str
    type: DataType
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class Struct(DataType):
    """A record with named fields, packed in their order."""

    fields: tuple[Field, ...] = ()

    @property
    def name(self) -> str:
        """The v3 name."""
        return "struct"

    @property
    def native(self) -> np.dtype[Any]:
        """The dtype of decoded chunks: fields keep their own byte order."""
        return self.numpy

    def to_v3(self) -> JSON:
        """Give the ``data_type`` member of a v3 document."""
        return {
            "name": self.name,
            "configuration": {"fields": [_field_to_v3(field) for field in self.fields]},
        }

    def to_v2(self) -> JSON:
        """Give the ``dtype`` member of a v2 document."""
        return [_field_to_v2(field) for field in self.fields]

    def fill_from_json(self, value: JSON, path: str = "fill_value", *, zarr_format: int = 3) -> Any:
        """Read an object of fields, base64, or the 0 that zarr-python 2 wrote for zeros."""
        if is_legacy_zero(value):
            return self.default_fill()
        if isinstance(value, dict):
            return self._from_object(value, path, zarr_format)
        data = read_base64(value, path)
        if len(data) != self.numpy.itemsize:
            raise mismatch(path, f"{self.numpy.itemsize} bytes as base64", value)
        # v3 documents say nothing of byte order, so their bytes are little-endian.
        stored = self.numpy if zarr_format == 2 else self.numpy.newbyteorder("<")
        return np.frombuffer(data, dtype=stored).astype(self.numpy)[0]

    def _from_object(self, value: dict[str, Any], path: str, zarr_format: int) -> Any:
        unknown = value.keys() - {field.name for field in self.fields}
        if unknown:
            raise mismatch(path, f"only the fields {list(self.numpy.names or ())}", sorted(unknown))
        record = np.zeros((), dtype=self.numpy)
        for field in self.fields:
            where = f"{path}.{field.name}"
            if field.name not in value:
                record[field.name] = field.type.default_fill()
            elif field.shape:
                record[field.name] = _read_items(field, value[field.name], where, zarr_format)
            else:
                record[field.name] = field.type.fill_from_json(
                    value[field.name], where, zarr_format=zarr_format
                )
        return record[()]

    def fill_to_json(self, fill: Any, *, zarr_format: int = 3) -> JSON:
        """Give an object of fields in format 3, base64 in format 2."""
        if zarr_format == 2:
            return write_base64(self.fill_bytes(fill))
        record = np.array(fill, dtype=self.numpy)
        return {
            field.name: field.type.fill_to_json(record[field.name][()], zarr_format=zarr_format)
            for field in self.fields
        }

    def to_fill(self, value: object) -> Any:
        """Make a fill value of a record, a tuple, an object of fields, bytes or 0."""
        value = unwrap(value)
        if is_legacy_zero(value):
            return self.default_fill()
        if isinstance(value, dict):
            return self.fill_from_json(value)
        if isinstance(value, bytes) and len(value) == self.numpy.itemsize:
            return np.frombuffer(value, dtype=self.numpy)[0]
        try:
            source = tuple(value) if isinstance(value, list) else value
            return np.array(source, dtype=self.numpy)[()]
        except (TypeError, ValueError):
            raise mismatch("fill_value", f"a record of {self.numpy}", value) from None

    def default_fill(self) -> Any:
        """Give zeros."""
        return np.zeros((), dtype=self.numpy)[()]


def _read_items(field: Field, value: JSON, path: str, zarr_format: int) -> Any:
    """Read a sub-array's value: one item for all, or nested lists of them."""
    if not isinstance(value, list):
        return field.type.fill_from_json(value, path, zarr_format=zarr_format)
    items = np.empty(len(value), dtype=object)
    for position, item in enumerate(value):
        items[position] = _read_items(field, item, f"{path}[{position}]", zarr_format)
    return np.array(items.tolist(), dtype=field.type.numpy)


def _field_to_v3(field: Field) -> JSON:
    if field.shape:
        raise UnsupportedError(
            f"field {field.name!r} is a sub-array of shape {field.shape}, which format 3 can't "
            "describe; give the array another dimension, or use zarr_format=2"
        )
    return {"name": field.name, "data_type": field.type.to_v3()}


def _field_to_v2(field: Field) -> JSON:
    described = [field.name, field.type.to_v2()]
    return [*described, list(field.shape)] if field.shape else described


def _build(fields: list[Field], path: str) -> Struct:
    if not fields:
        raise MetadataError(f"{path}: a record needs at least one field", path=path)
    for field in fields:
        if field.type.variable:
            raise UnsupportedError(
                f"{path}: field {field.name!r} is of variable length, which records can't hold; "
                "use a fixed-length type",
                path=path,
            )
    try:
        layout = [(field.name, field.type.numpy, field.shape) for field in fields]
        return Struct(np.dtype(layout), tuple(fields))
    except (TypeError, ValueError) as error:
        raise MetadataError(f"{path}: not a record type: {error}", path=path) from None


def from_v3(
    configuration: dict[str, Any], path: str, parse: Callable[[JSON, str], DataType]
) -> DataType:
    """Parse the configuration of ``struct``, or of its early form ``structured``."""
    where = f"{path}.configuration.fields"
    fields = configuration.get("fields")
    if not isinstance(fields, list):
        raise mismatch(where, "a list of fields", fields)
    return _build(
        [_field_from_v3(field, f"{where}[{i}]", parse) for i, field in enumerate(fields)], where
    )


def _field_from_v3(field: JSON, path: str, parse: Callable[[JSON, str], DataType]) -> Field:
    if isinstance(field, dict) and isinstance(field.get("name"), str) and "data_type" in field:
        return Field(field["name"], parse(field["data_type"], f"{path}.data_type"))
    if isinstance(field, list) and len(field) == 2 and isinstance(field[0], str):
        return Field(field[0], parse(field[1], f"{path}[1]"))
    raise mismatch(path, 'a field {"name": ..., "data_type": ...}', field)


def from_v2(document: list[Any], path: str, parse: Callable[[JSON, str], DataType]) -> DataType:
    """Parse a list of ``[name, type]`` or ``[name, type, shape]``."""
    return _build(
        [_field_from_v2(field, f"{path}[{i}]", parse) for i, field in enumerate(document)], path
    )


def _field_from_v2(field: JSON, path: str, parse: Callable[[JSON, str], DataType]) -> Field:
    if not (isinstance(field, list) and len(field) in (2, 3) and isinstance(field[0], str)):
        raise mismatch(path, "[name, type] or [name, type, shape]", field)
    shape = field[2] if len(field) == 3 else []
    shape = [shape] if isinstance(shape, int) else shape
    if not isinstance(shape, list) or not all(_is_extent(extent) for extent in shape):
        raise mismatch(f"{path}[2]", "a shape", shape)
    return Field(field[0], parse(field[1], f"{path}[1]"), tuple(shape))


def _is_extent(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def from_numpy(dtype: np.dtype[Any], parse: Callable[[object], DataType]) -> DataType | None:
    """Give the data type of a structured dtype; gaps between fields are not stored."""
    if dtype.names is None or dtype.fields is None:
        return None
    fields = []
    for name in dtype.names:
        member, _offset, *title = dtype.fields[name]
        if title:
            raise UnsupportedError(
                f"field {name!r} has a title, which Zarr can't keep; leave it out", argument="dtype"
            )
        base, shape = member.subdtype or (member, ())
        fields.append(Field(name, parse(base), tuple(shape)))
    packed = _build(fields, "dtype")
    if packed.numpy.itemsize != dtype.itemsize:
        warnings.warn(
            "the record type has gaps between its fields, which are not stored: "
            "values are kept, offsets and item size change",
            ZarrUserWarning,
            stacklevel=4,
        )
    return packed
