"""From names, typestrs and numpy dtypes to data types."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from blazarr.config import config
from blazarr.dtypes import ml, numeric, objects, optional, raw, struct, text, time
from blazarr.dtypes.base import JSON, DataType
from blazarr.dtypes.fill import shorten
from blazarr.errors import DataTypeValidationError, LimitError, UnsupportedError

_TYPESTR = re.compile(r"([<>|])([biufcSUVmM])([0-9]*)(\[[0-9]{0,10}(?:[YMWDhms]|[munpfa]s)\])?")

# A data type's own parser takes the configuration and its JSON path.
_registered: dict[str, Callable[[dict[str, Any], str], DataType]] = {}


def register_data_type(name: str, parse: Callable[[dict[str, Any], str], DataType]) -> None:
    """Teach blazarr a v3 data type.

    Parameters
    ----------
    name
        The v3 name.
    parse
        Makes the data type of its configuration (empty where the document has none) and of
        the JSON path to name in errors.
    """
    if name in _KNOWN:
        raise DataTypeValidationError(f"data type {name!r} is built in", argument="name")
    _registered[name] = parse
    _parse_v3_name.cache_clear()


def parse_v3(document: JSON, path: str = "data_type") -> DataType:
    """Parse the ``data_type`` member of a v3 document."""
    if isinstance(document, str):
        return _within_limits(_parse_v3_name(document, path), path)
    if not isinstance(document, dict) or not isinstance(document.get("name"), str):
        raise _invalid(document, path, 'a name or {"name": ..., "configuration": {...}}')
    configuration = document.get("configuration", {})
    if not isinstance(configuration, dict):
        raise _invalid(configuration, f"{path}.configuration", "an object")
    return _within_limits(_build_v3(document["name"], configuration, path), path)


def _within_limits(data_type: DataType, path: str) -> DataType:
    size, limit = data_type.itemsize, config.limits.item_bytes
    if size > limit:
        raise LimitError(
            f"{path}: items of {size} bytes, more than {limit}; raise limits.item_bytes if the "
            "document is to be trusted",
            path=path,
            size=size,
            limit=limit,
        )
    return data_type


@lru_cache(maxsize=256)
def _parse_v3_name(name: str, path: str) -> DataType:
    return _build_v3(name, {}, path)


def _build_v3(name: str, configuration: dict[str, Any], path: str) -> DataType:
    found: DataType
    if name in numeric.V3_NAMES:
        return numeric.from_v3(name)
    if name in ml.V3_NAMES:
        return ml.from_v3(name)
    for room in (text, time, raw):
        if name in room.V3_NAMES:
            found = room.from_v3(name, configuration, path)
            return found
    for nesting in (struct, optional):
        if name in nesting.V3_NAMES:
            found = nesting.from_v3(configuration, path, parse_v3)
            return found
    if name in _registered:
        return _registered[name](configuration, path)
    if (core := raw.from_core_name(name, path)) is not None:
        return core
    raise UnsupportedError(
        f"{path}: data type {shorten(name)} is not known; "
        "blazarr.dtypes.register_data_type can add it",
        path=path,
    )


_KNOWN = frozenset().union(
    *(room.V3_NAMES for room in (numeric, text, time, raw, struct, optional, ml))
)


def parse_v2(document: JSON, filters: JSON = None, path: str = "dtype") -> DataType:
    """Parse the ``dtype`` member of a v2 document."""
    if isinstance(document, list):
        record = struct.from_v2(document, path, lambda item, where: parse_v2(item, None, where))
        return _within_limits(record, path)
    if not isinstance(document, str):
        raise _invalid(document, path, "a typestr such as '<f4', or a list of fields")
    if document in ("|O", "<O", ">O"):
        return objects.from_v2(filters, path)
    return _within_limits(_parse_typestr(document, path), path)


@lru_cache(maxsize=256)
def _parse_typestr(typestr: str, path: str) -> DataType:
    if typestr in ml.V3_NAMES:
        return ml.from_v3(typestr)
    match = _TYPESTR.fullmatch(typestr)
    if match is None:
        raise _invalid(typestr, path, "a typestr such as '<f4', '|b1' or '<M8[ns]'")
    order, kind, size, unit = match.groups()
    if order == "|" and kind in "iufcmMU" and size != "1":
        raise _invalid(typestr, path, "a byte order ('<' or '>') in front")
    # Byte order means nothing here, but some writers state it all the same.
    plain = f"|{kind}{size}" if kind in "SV" or (size == "1" and kind in "biu") else typestr
    try:
        dtype = np.dtype(plain)
    except (TypeError, ValueError):
        raise _invalid(typestr, path, "a typestr that numpy knows") from None
    if (unit and kind not in "mM") or (found := _match_numpy(dtype)) is None:
        raise UnsupportedError(f"{path}: data type {shorten(typestr)} is not supported", path=path)
    return found


def parse_data_type(dtype: object) -> DataType:
    """Give the data type for anything that names one.

    Parameters
    ----------
    dtype
        A `DataType`, a v3 name or document, a data type of zarr-python, a numpy dtype or what
        numpy makes one of. `str` and ``"str"`` mean text of any length.
    """
    if isinstance(dtype, DataType):
        return dtype
    if dtype is str or (isinstance(dtype, str) and dtype in ("str", "string")):
        return text.TEXT
    if isinstance(dtype, Mapping):
        return parse_v3(dict(dtype), "dtype")
    if isinstance(dtype, str) and (dtype in _KNOWN or dtype in _registered):
        return parse_v3(dtype, "dtype")
    if isinstance(dtype, str) and (core := raw.from_core_name(dtype, "dtype")) is not None:
        return core
    if hasattr(dtype, "to_native_dtype"):
        return _from_zarr_python(dtype)
    return _from_native(_as_numpy(dtype))


def _from_zarr_python(dtype: Any) -> DataType:
    native = dtype.to_native_dtype()
    # Objects of any kind have one numpy dtype, so the name has to tell.
    return parse_v3(dtype._zarr_v3_name) if native.kind == "O" else _from_native(native)  # noqa: SLF001


def _as_numpy(dtype: object) -> np.dtype[Any]:
    if isinstance(dtype, list):
        dtype = [tuple(field) if isinstance(field, list) else field for field in dtype]
    try:
        return np.dtype(dtype)  # type: ignore[call-overload, no-any-return]
    except (TypeError, ValueError):
        raise DataTypeValidationError(
            f"dtype {shorten(dtype)} is neither a Zarr data type nor a numpy dtype",
            argument="dtype",
        ) from None


def _from_native(dtype: np.dtype[Any]) -> DataType:
    found = _match_numpy(dtype)
    if found is not None:
        return _within_limits(found, "dtype")
    if dtype.kind == "O":
        raise DataTypeValidationError(
            "dtype object says nothing of what to store; use dtype=str for text, "
            "'variable_length_bytes' for bytes, or a numeric type",
            argument="dtype",
        )
    if dtype.itemsize == 0:
        raise DataTypeValidationError(
            f"dtype {dtype.str!r} has no length; use one such as {dtype.str[:-1]}1",
            argument="dtype",
        )
    raise UnsupportedError(f"dtype {dtype} can't be stored in Zarr", argument="dtype")


def _match_numpy(dtype: np.dtype[Any]) -> DataType | None:
    return (
        numeric.from_numpy(dtype)
        or text.from_numpy(dtype)
        or time.from_numpy(dtype)
        or ml.from_numpy(dtype)
        or raw.from_numpy(dtype)
        or struct.from_numpy(dtype, parse_data_type)
    )


def _invalid(value: object, path: str, wanted: str) -> DataTypeValidationError:
    return DataTypeValidationError(f"{path}: expected {wanted}, found {shorten(value)}", path=path)
