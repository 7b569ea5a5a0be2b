"""What users assign, as an array that fits the selection; and where results go."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from blazarr.errors import SelectionError
from blazarr.indexing import Selection

AnyArray = npt.NDArray[Any]

# From this size on it matters where a result begins.
_LARGE = 1 << 20

# A cache line, and a huge page of memory where the operating system has such.
_LINE = 64
_HUGE = 2 << 20


def room(shape: tuple[int, ...], dtype: np.dtype[Any], order: Literal["C", "F"]) -> AnyArray:
    """Make an array for a result, without a value yet.

    numpy's own begin 16 bytes behind a cache line's start, so that rows of chunks share lines with their neighbours, and
    the first and last of their pages are small ones, each of which costs about as much as a huge one.

    Parameters
    ----------
    shape
        Its shape.
    dtype
        Its data type.
    order
        Its memory order.

    Returns
    -------
    ndarray
        From 1 MiB on a view of memory that is a little longer; before that, and where elements are Python objects,
        what ``numpy.empty`` makes.
    """
    size = math.prod(shape) * dtype.itemsize
    if size < _LARGE or dtype.hasobject:
        return np.empty(shape, dtype, order)
    # The last huge page may be taken for whole.
    unit = _HUGE if -size % _HUGE <= size // 8 else _LINE
    memory = np.empty(size + unit, np.uint8)
    start = -memory.ctypes.data % unit
    return memory[start : start + size].view(dtype).reshape(shape, order=order)


def converted(value: Any, dtype: np.dtype[Any]) -> AnyArray:
    """Convert a value to the array's data type, once.

    Parameters
    ----------
    value
        A scalar, an array or anything numpy makes one of.
    dtype
        The array's data type.
    """
    if hasattr(value, "__array__"):
        return np.asarray(value).astype(dtype, order="K", copy=False)
    return np.asarray(value, dtype=dtype)


def fitted(value: AnyArray, selection: Selection) -> AnyArray:
    """Broadcast a value to a selection, as numpy's assignment does.

    Parameters
    ----------
    value
        A value of the array's data type.
    selection
        What is assigned to.

    Returns
    -------
    ndarray
        Of the selection's flat shape; without a copy wherever strides can say it.

    Raises
    ------
    SelectionError
        If the shapes do not fit.
    """
    shape = selection.result_shape
    if value.shape == selection.flat_shape:
        return value
    spare = value.ndim - len(shape)
    if spare > 0 and value.shape[:spare] == (1,) * spare:
        value = value.reshape(value.shape[spare:])
    try:
        return np.broadcast_to(value, shape).reshape(selection.flat_shape)
    except ValueError as error:
        raise SelectionError(
            f"a value of shape {value.shape} does not fit a selection of shape {shape}; "
            "nothing was written"
        ) from error


def in_order(result: AnyArray, dtype: np.dtype[Any]) -> AnyArray:
    """Return a result of the machine's byte order in the order of the array's data type.

    Parameters
    ----------
    result
        An array that nobody else holds; its memory is used.
    dtype
        The data type that users see.
    """
    if result.dtype == dtype or dtype.names is not None:
        return result.astype(dtype, copy=False)
    return result.byteswap(inplace=True).view(dtype)


def destination(out: Any, shape: tuple[int, ...]) -> AnyArray:
    """Return the array behind an ``out=`` argument.

    Parameters
    ----------
    out
        An array, or an object whose ``__array__`` (or zarr-python's ``as_ndarray_like``) gives one.
    shape
        Shape of the result.
    """
    target = out.as_ndarray_like() if hasattr(out, "as_ndarray_like") else out
    if not isinstance(target, np.ndarray):
        if not hasattr(target, "__array__"):
            raise TypeError(f"out must be an array, not {type(out).__name__}")
        target = np.asarray(target)
    if target.shape != shape:
        raise SelectionError(
            f"out has shape {target.shape}, but the selection has shape {shape}", argument="out"
        )
    return target
