"""What numpy makes of arrays among slices and integers: joint points, in the place where the arrays stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from blazarr.errors import SelectionError
from blazarr.indexing.axis import (
    as_index_array,
    as_integer,
    axis_index,
    axis_slice,
    fill_key,
    wrapped,
)
from blazarr.indexing.basic import parse_basic
from blazarr.indexing.selection import Const, IndexArray, Selection, Strided, Term, indexed

Points: TypeAlias = dict[int, IndexArray]


def parse_advanced(key: Any, shape: tuple[int, ...]) -> Selection:
    """Parse a key as numpy does.

    Parameters
    ----------
    key : object
        Integers, slices, an ellipsis, integer arrays that broadcast together, masks of one or more axes.
    shape : tuple of int
        Shape of the array.

    Returns
    -------
    Selection
        The points' axes stand where the arrays do, or in front if slices or an ellipsis separate them.

    Raises
    ------
    SelectionError
        If the key does not fit the array.
    """
    items = _without_masks(key if isinstance(key, tuple) else (key,), shape)
    together = not _has_ellipsis_between(items)
    items = fill_key(items, len(shape))
    if not any(isinstance(item, np.ndarray) for item in items):
        return parse_basic(items, shape)
    slices = {a: axis_slice(i, a, shape[a]) for a, i in enumerate(items) if isinstance(i, slice)}
    points: Points = {}
    consts: list[Const] = []
    for axis, item in enumerate(items):
        if isinstance(item, np.ndarray):
            points[axis] = wrapped(item, axis, shape[axis])
        elif axis not in slices:
            consts.append(Const(axis, axis_index(item, axis, shape[axis])))
    before = _axes_before(sorted([*points, *(const.axis for const in consts)]), slices)
    return _selection(shape, points, slices, consts, before=before if together else 0)


def _has_ellipsis_between(items: Sequence[Any]) -> bool:
    """Return whether an ellipsis, also one that stands for no axis, has arrays or integers on both sides."""
    kinds = ["." if i is Ellipsis else ":" if isinstance(i, slice) else "a" for i in items]
    return ".a" in "".join(kinds).replace(":", "").lstrip(".")


def _without_masks(items: Sequence[Any], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Replace each mask by the places where it is true, along as many axes as it has."""
    arrays = [_as_array(item) for item in items]
    widths = [item.ndim if _is_mask(item) else 1 for item in arrays]
    taken = sum(width for width, item in zip(widths, arrays, strict=True) if item is not Ellipsis)
    found: list[Any] = []
    axis = 0
    for item, width in zip(arrays, widths, strict=True):
        if item is Ellipsis:
            found.append(item)
            axis += len(shape) - taken
            continue
        if _is_mask(item):
            if item.shape != shape[axis : axis + width]:
                raise SelectionError(
                    f"a mask of shape {item.shape} does not fit axes of shape "
                    f"{shape[axis : axis + width]}"
                )
            found += np.nonzero(item)
        else:
            found.append(item)
        axis += width
    return tuple(found)


def _as_array(item: Any) -> Any:
    if isinstance(item, slice) or item is Ellipsis or item is None or as_integer(item) is not None:
        return item
    return as_index_array(item, 0)


def _is_mask(item: Any) -> bool:
    return isinstance(item, np.ndarray) and item.dtype.kind == "b"


def _selection(
    shape: tuple[int, ...],
    points: Points,
    slices: dict[int, Strided],
    consts: list[Const],
    *,
    before: int,
) -> Selection:
    try:
        joint = np.broadcast_shapes(*(values.shape for values in points.values()))
    except ValueError:
        shapes = [values.shape for values in points.values()]
        raise SelectionError(f"the index arrays do not broadcast together: {shapes}") from None
    counts = [term.count for term in slices.values()]
    result = (*counts[:before], *joint, *counts[before:])
    if len(joint) == 1 or not slices:
        flat = {a: np.broadcast_to(v, joint).reshape(-1) for a, v in points.items()}
        terms: list[Term] = list(slices.values())
        terms.insert(before, indexed(tuple(flat), tuple(flat.values())))
        return Selection(shape, tuple(consts), tuple(terms), result)
    return _all_as_points(shape, points, slices, consts, before=before, result=result)


def _axes_before(arrays: list[int], slices: dict[int, Strided]) -> int:
    """Return how many axes of slices come before those of the points."""
    together = arrays[-1] - arrays[0] == len(arrays) - 1
    return sum(axis < arrays[0] for axis in slices) if together else 0


def _all_as_points(
    shape: tuple[int, ...],
    points: Points,
    slices: dict[int, Strided],
    consts: list[Const],
    *,
    before: int,
    result: tuple[int, ...],
) -> Selection:
    """Make points of the slices too: only they can have several axes."""
    width = len(result) - len(slices)
    every: Points = {}
    for axis, values in points.items():
        own = (1,) * (width - values.ndim) + values.shape
        every[axis] = values.reshape((1,) * before + own + (1,) * (len(slices) - before))
    for number, (axis, term) in enumerate(slices.items()):
        lengths = [1] * len(result)
        lengths[number if number < before else number + width] = term.count
        ((_, indices),) = term.points()
        every[axis] = indices.reshape(lengths)
    flat = tuple(np.broadcast_to(values, result).reshape(-1) for values in every.values())
    return Selection(shape, tuple(consts), (indexed(tuple(every), flat),), result)
