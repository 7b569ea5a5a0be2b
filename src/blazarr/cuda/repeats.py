"""Selections that name an element twice: of what is written there, the last counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from blazarr.indexing import Indexed, Selection


def without_repeats(selection: Selection, value: Any, to_device: Any) -> tuple[Selection, Any]:
    """Leave out what a later element of the value replaces; a device knows no order.

    Parameters
    ----------
    selection
        What is written to.
    value
        An array of its flat shape.
    to_device
        Makes an array that can index the value of one of numpy's.
    """
    terms = list(selection.axes)
    for axis, term in enumerate(terms):
        if not isinstance(term, Indexed):
            continue
        points = np.stack([values for _, values in term.points()], axis=1)
        # Of equal ones the first is found, from the end.
        _, found = np.unique(points[::-1], axis=0, return_index=True)
        if len(found) == len(points):
            continue
        kept = np.sort(len(points) - 1 - found)
        terms[axis] = Indexed(term.axes, tuple(values[kept] for values in term.indices))
        value = value.take(to_device(kept), axis=axis)
    flat = tuple(term.count for term in terms)
    return replace(selection, axes=tuple(terms), result_shape=flat), value
