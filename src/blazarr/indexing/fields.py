"""Names of fields in the keys of structured arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from blazarr.errors import SelectionError

Fields: TypeAlias = str | list[str]


def pop_fields(key: Any) -> tuple[Fields | None, Any]:
    """Split the names of fields from the rest of a key.

    Parameters
    ----------
    key : object
        What stands between the brackets: ``array["x", 1:3]``.

    Returns
    -------
    fields : str, list of str or None
        One name, several, or none.
    key : object
        The key without them.
    """
    if isinstance(key, str):
        return key, ()
    if not isinstance(key, tuple):
        if isinstance(key, list) and key and all(isinstance(item, str) for item in key):
            return key, ()
        return None, key
    names = [item for item in key if isinstance(item, str)]
    if not names:
        return None, key
    rest = tuple(item for item in key if not isinstance(item, str))
    return names[0] if len(names) == 1 else names, rest


def field_dtype(fields: Fields | None, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The data type of a selection of fields.

    Parameters
    ----------
    fields : str, list of str or None
        As from `pop_fields`.
    dtype : numpy.dtype
        The array's data type.

    Returns
    -------
    numpy.dtype
        The field's own type for one name, a packed structured type for several.

    Raises
    ------
    SelectionError
        If the array has no such field.
    """
    if not fields:
        return dtype
    names = [fields] if isinstance(fields, str) else list(fields)
    if dtype.names is None:
        raise SelectionError(
            f"the array's data type {dtype} has no fields, so {names[0]!r} cannot index it"
        )
    unknown = [name for name in names if name not in dtype.names]
    if unknown:
        raise SelectionError(f"no field {unknown[0]!r}; the fields are {list(dtype.names)}")
    if isinstance(fields, str):
        return dtype[fields]
    return np.dtype([(name, dtype[name]) for name in names])
