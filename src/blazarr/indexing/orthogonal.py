"""Orthogonal selections (`oindex`): one independent index for each axis."""

from __future__ import annotations

from typing import Any

from blazarr.indexing.axis import as_integer, axis_index, axis_indices, axis_slice, fill_key
from blazarr.indexing.selection import Const, Selection, Term


def parse_orthogonal(key: Any, shape: tuple[int, ...]) -> Selection:
    """Parse a key that selects along each axis on its own.

    Parameters
    ----------
    key : int, slice, ellipsis, one-dimensional array of int or bool, or tuple of them
        Index arrays may be unsorted, repeated, negative, unsigned or empty.
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
    terms: list[Term] = []
    for axis, item in enumerate(fill_key(key, len(shape))):
        if isinstance(item, slice):
            terms.append(axis_slice(item, axis, shape[axis]))
        elif as_integer(item) is not None:
            consts.append(Const(axis, axis_index(item, axis, shape[axis])))
        else:
            terms.append(axis_indices(item, axis, shape[axis]))
    return Selection(shape, tuple(consts), tuple(terms), tuple(term.count for term in terms))
