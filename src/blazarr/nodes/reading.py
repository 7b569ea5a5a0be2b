"""One read of an array: where its elements go, and what the caller is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from blazarr.indexing import Selection, field_dtype
from blazarr.indexing.fields import Fields
from blazarr.nodes import values
from blazarr.nodes.state import ArrayState


class Reading:
    """A read before and after the engine's part.

    Parameters
    ----------
    state
        The array's state.
    selection
        What is read.
    fields
        Fields of a structured data type; None for whole elements.
    out
        The caller's array for the result; None for a new one.

    Attributes
    ----------
    into
        The array that the engine fills: of the native data type.
    """

    __slots__ = ("_fields", "_out", "_selection", "_state", "_target", "into")

    def __init__(
        self, state: ArrayState, selection: Selection, fields: Fields | None, out: Any
    ) -> None:
        self._state = state
        self._selection = selection
        self._fields = fields
        self._out = out
        self._target = None
        if out is not None:
            shape = selection.result_shape + field_dtype(fields, state.dtype).shape
            self._target = values.destination(out, shape)
        if fields is None and self._target is not None and self._target.dtype == state.native:
            self.into = self._target
        else:
            self.into = values.room(selection.result_shape, state.native, state.order)

    def result(self) -> Any:
        """Return what the caller is given, once the engine has filled `into`."""
        if self.into is self._target:
            return self._out
        state, result = self._state, self.into
        if state.native is not state.dtype:
            result = values.in_order(result, state.dtype)
        if self._fields is not None:
            # A field that is an array brings its axes with it.
            base = field_dtype(self._fields, state.dtype).base
            result = result[self._fields].astype(base, copy=False)
        if self._target is None:
            return result[()] if self._selection.scalar else result
        np.copyto(self._target, result, casting="same_kind")
        return self._out
