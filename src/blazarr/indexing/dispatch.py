"""What `array[key]` means: zarr-python's choice between the kinds of selection."""

from __future__ import annotations

from types import EllipsisType
from typing import TYPE_CHECKING, Any

from blazarr.errors import SelectionError
from blazarr.indexing.axis import as_index_array, as_integer, is_array_like
from blazarr.indexing.basic import parse_basic
from blazarr.indexing.coordinate import parse_coordinate, parse_mask
from blazarr.indexing.orthogonal import parse_orthogonal

if TYPE_CHECKING:
    from blazarr.indexing.selection import Selection

_BASIC = frozenset((slice, int, EllipsisType))


def parse_getitem(key: Any, shape: tuple[int, ...]) -> Selection:
    """Parse the key of ``array[key]``.

    Integer arrays for every axis are points (`vindex`), a boolean array of the array's shape is a
    mask, one array among slices and integers is orthogonal (`oindex`), and everything else is
    basic. Two or more arrays among slices mean one thing to numpy and another to zarr-python's
    `oindex`, so they are refused.

    Parameters
    ----------
    key : object
        What stands between the brackets, without field names.
    shape : tuple of int
        Shape of the array.

    Returns
    -------
    Selection

    Raises
    ------
    SelectionError
        If the key does not fit the array.
    """
    items = key if type(key) is tuple else (key,)
    for item in items:
        if type(item) not in _BASIC:
            return _parse_general(items, shape)
    return parse_basic(items, shape)


def _parse_general(items: tuple[Any, ...], shape: tuple[int, ...]) -> Selection:
    arrays = {i: as_index_array(item, i) for i, item in enumerate(items) if is_array_like(item)}
    if not arrays:
        return parse_basic(items, shape)
    boolean = any(values.dtype.kind == "b" for values in arrays.values())
    if len(items) == 1 and boolean and (len(shape) == 1 or arrays[0].ndim > 1):
        return parse_mask(arrays[0], shape)
    filled = tuple(arrays.get(i, item) for i, item in enumerate(items))
    if not boolean and len(items) == len(shape) and _all_coordinates(filled):
        return parse_coordinate(filled, shape)
    if len(arrays) == 1 or len(arrays) == len(shape):
        return parse_orthogonal(filled, shape)
    raise SelectionError(
        "several index arrays together with slices or missing axes are ambiguous: "
        "use array.oindex[...] to select along each axis, or array.vindex[...] for points"
    )


def _all_coordinates(items: tuple[Any, ...]) -> bool:
    return all(is_array_like(item) or as_integer(item) is not None for item in items)
