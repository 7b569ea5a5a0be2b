"""What a key says about one axis: an integer, a slice or an array of indices."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from blazarr.errors import BoundsCheckError, SelectionError
from blazarr.indexing.selection import IndexArray, Strided, Term, indexed


def fill_key(key: Any, ndim: int) -> tuple[Any, ...]:
    """The key with one item for each axis: ellipsis replaced, missing axes taken whole."""
    items = key if isinstance(key, tuple) else (key,)
    missing = ndim - len(items)
    for position, item in enumerate(items):
        if item is Ellipsis:
            rest = items[position + 1 :]
            if any(other is Ellipsis for other in rest):
                raise SelectionError("an index can have only one ellipsis ('...')")
            _check_count(len(items) - 1, ndim)
            return items[:position] + (slice(None),) * (missing + 1) + rest
    if missing:
        _check_count(len(items), ndim)
        return items + (slice(None),) * missing
    return items


def _check_count(items: int, ndim: int) -> None:
    if items > ndim:
        raise SelectionError(f"too many indices: the array has {ndim} axes, {items} were indexed")


def axis_slice(item: slice, axis: int, size: int) -> Strided:
    """A slice over an axis, as numpy reads it."""
    try:
        start, stop, step = item.indices(size)
    except (TypeError, ValueError) as error:
        raise SelectionError(f"bad slice for axis {axis}: {error}") from error
    count = len(range(start, stop, step))
    # Without a second element the step says nothing; 1 is what the planner likes best.
    if count < 2:
        return Strided(axis, start if count else 0, 1, count)
    return Strided(axis, start, step, count)


def axis_index(item: Any, axis: int, size: int) -> int:
    """An integer index of an axis, wrapped and checked."""
    index = as_integer(item)
    if index is None:
        raise unsupported(item, axis, "an integer or a slice")
    if -size <= index < size:
        return index + size if index < 0 else index
    raise out_of_bounds(index, axis, size)


def axis_indices(item: Any, axis: int, size: int) -> Term:
    """A one-dimensional array of integers or booleans over an axis."""
    values = as_index_array(item, axis)
    if values.ndim != 1:
        raise SelectionError(
            f"the index array for axis {axis} has {values.ndim} dimensions; orthogonal "
            "selections take one-dimensional arrays (vindex takes arrays of points)",
        )
    if values.dtype.kind == "b":
        if len(values) != size:
            raise SelectionError(
                f"the boolean index for axis {axis} has length {len(values)}, "
                f"the axis has size {size}",
            )
        return indexed((axis,), (np.flatnonzero(values).astype(np.int64, copy=False),))
    return indexed((axis,), (wrapped(values, axis, size),))


def as_integer(item: Any) -> int | None:
    """The integer that an item stands for, or None. Booleans are masks, not integers."""
    if type(item) is int:
        return item
    if isinstance(item, (bool, np.bool_)) or getattr(item, "ndim", 0) != 0:
        return None
    try:
        return operator.index(item)
    except TypeError:
        return None


def is_array_like(item: Any) -> bool:
    """Whether an item is a list or an array with axes."""
    return isinstance(item, list) or getattr(item, "ndim", 0) > 0


def as_index_array(item: Any, axis: int) -> npt.NDArray[Any]:
    """A list or array of integers or booleans as a numpy array."""
    if not is_array_like(item):
        raise unsupported(item, axis, "an integer, a slice, or an array of integers or booleans")
    try:
        values = np.asarray(item)
    except ValueError as error:
        raise SelectionError(f"bad index for axis {axis}: {error}") from error
    if values.dtype.kind in "biu":
        return values
    if isinstance(item, list) and values.size == 0:
        return values.astype(np.int64)
    raise SelectionError(
        f"the index array for axis {axis} has data type {values.dtype}; "
        "arrays of integers or booleans can index",
    )


def wrapped(values: npt.NDArray[Any], axis: int, size: int) -> IndexArray:
    """Integers as indices of an axis: negatives wrapped, bounds checked, the caller's kept."""
    if values.size == 0:
        return values.astype(np.int64)
    low, high = int(values.min()), int(values.max())
    # Checked before the cast, where a large unsigned index would become a valid negative one.
    if low < -size or high >= size:
        raise out_of_bounds(low if low < -size else high, axis, size)
    indices = np.array(values, dtype=np.int64, order="C")
    if low < 0:
        indices[indices < 0] += size
    return indices


def out_of_bounds(index: int, axis: int, size: int) -> SelectionError:
    """The error for an index past either end of an axis."""
    return BoundsCheckError(f"index {index} is out of bounds for axis {axis} with size {size}")


def unsupported(item: Any, axis: int, expected: str) -> SelectionError:
    """The error for an item that is no index of the wanted kind."""
    if item is None:
        return SelectionError(
            "an index cannot add axes (None, numpy.newaxis); add them to the result"
        )
    return SelectionError(
        f"{item!r} ({type(item).__name__}) cannot index axis {axis}; expected {expected}",
    )
