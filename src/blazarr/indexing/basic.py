"""Basic selections: integers, slices of any step and sign, and an ellipsis."""

from __future__ import annotations

from typing import Any

from blazarr.indexing.axis import axis_index, axis_slice, fill_key
from blazarr.indexing.selection import Const, Selection, Strided


def parse_basic(key: Any, shape: tuple[int, ...]) -> Selection:
    """Parse a key of integers, slices and an ellipsis, with numpy's meaning.

    Parameters
    ----------
    key : int, slice, ellipsis or tuple of them
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
    consts: list[Const] = []
    terms: list[Strided] = []
    for axis, item in enumerate(fill_key(key, len(shape))):
        if type(item) is slice:
            terms.append(axis_slice(item, axis, shape[axis]))
        else:
            consts.append(Const(axis, axis_index(item, axis, shape[axis])))
    result_shape = tuple([term.count for term in terms])
    return Selection(shape, tuple(consts), tuple(terms), result_shape, not terms)
