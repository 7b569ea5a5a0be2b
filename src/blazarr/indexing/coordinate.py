"""Point selections (`vindex`): coordinates that go together, and masks of the whole array."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from blazarr.errors import SelectionError, VindexInvalidSelectionError
from blazarr.indexing.axis import as_index_array, as_integer, axis_index, is_array_like, wrapped
from blazarr.indexing.selection import Const, IndexArray, Selection, Strided, Term, indexed


def parse_vindex(key: Any, shape: tuple[int, ...]) -> Selection:
    """Parse what `vindex` takes: integer coordinates for every axis, or one mask."""
    items = key if isinstance(key, tuple) else (key,)
    if len(items) == 1 and is_array_like(items[0]):
        values = as_index_array(items[0], 0)
        if values.dtype.kind == "b":
            return parse_mask(values, shape)
    return parse_coordinate(key, shape)


def parse_coordinate(key: Any, shape: tuple[int, ...]) -> Selection:
    """Parse coordinates of points.

    Parameters
    ----------
    key : tuple of int or array of int
        One item for each axis of the array; they broadcast together.
    shape : tuple of int
        Shape of the array.

    Returns
    -------
    Selection
        Its `result_shape` is the broadcast shape of the coordinates, ``(1,)`` if all are integers.

    Raises
    ------
    SelectionError
        If the key does not fit the array.
    """
    items = key if isinstance(key, tuple) else (key,)
    if len(items) != len(shape) or not items:
        raise VindexInvalidSelectionError(
            f"a coordinate selection needs one integer or integer array for each of the "
            f"{len(shape)} axes, got {len(items)}"
        )
    consts: list[Const] = []
    coordinates: dict[int, IndexArray] = {}
    for axis, item in enumerate(items):
        if as_integer(item) is not None:
            consts.append(Const(axis, axis_index(item, axis, shape[axis])))
        else:
            coordinates[axis] = _coordinates(item, axis, shape[axis])
    if not coordinates:
        last = consts.pop()
        return Selection(shape, tuple(consts), (Strided(last.axis, last.index, 1, 1),), (1,))
    result_shape = _broadcast_shape(coordinates)
    return Selection(shape, tuple(consts), (_joint(coordinates, result_shape),), result_shape)


def parse_mask(mask: Any, shape: tuple[int, ...]) -> Selection:
    """Parse a boolean array of the array's own shape.

    Parameters
    ----------
    mask : array of bool
    shape : tuple of int
        Shape of the array.

    Returns
    -------
    Selection
        The elements where the mask is true, in C order.

    Raises
    ------
    SelectionError
        If the mask is not boolean or has another shape.
    """
    if isinstance(mask, tuple) and len(mask) == 1:
        (mask,) = mask
    values = np.asarray(mask)
    if values.dtype.kind != "b" or values.shape != shape or not shape:
        raise VindexInvalidSelectionError(
            "a mask selection needs one boolean array of the array's shape "
            f"{shape}, got {values.dtype} of shape {values.shape}"
        )
    points = tuple(axis.astype(np.int64, copy=False) for axis in np.nonzero(values))
    term = indexed(tuple(range(len(shape))), points)
    return Selection(shape, (), (term,), (term.count,))


def _coordinates(item: Any, axis: int, size: int) -> IndexArray:
    if not is_array_like(item):
        raise VindexInvalidSelectionError(
            f"{item!r} ({type(item).__name__}) cannot be the coordinates of axis {axis}; "
            "vindex takes integers and integer arrays for all axes, or one mask "
            "(oindex mixes arrays with slices)",
        )
    values = as_index_array(item, axis)
    if values.dtype.kind == "b":
        raise VindexInvalidSelectionError(
            f"the coordinates of axis {axis} are boolean; a mask must be the only index and have "
            "the array's shape (oindex takes a mask for each axis)",
        )
    return wrapped(values, axis, size)


def _broadcast_shape(coordinates: dict[int, IndexArray]) -> tuple[int, ...]:
    shapes = [values.shape for values in coordinates.values()]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise SelectionError(
            f"the coordinate arrays do not broadcast together: their shapes are {shapes}"
        ) from error


def _joint(coordinates: dict[int, IndexArray], shape: tuple[int, ...]) -> Term:
    points: list[npt.NDArray[np.int64]] = [
        np.broadcast_to(values, shape).reshape(-1) for values in coordinates.values()
    ]
    return indexed(tuple(coordinates), tuple(points))
