"""Selections as JSON: ndsel messages, whose canonical form is TensorStore's index transform.

A message says where each axis of the array takes its index from: a constant, an axis of the result, or an array of
indices. Source: the ndsel draft that zarr-indexing implements, and TensorStore's index transforms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from blazarr.errors import SelectionError
from blazarr.indexing.messages import ndsel_error, normalize
from blazarr.indexing.selection import Const, IndexArray, Indexed, Selection, Strided, Term, indexed

JSON: TypeAlias = Any


def to_ndsel(selection: Selection) -> dict[str, JSON]:
    """Return a selection as a message of kind ``transform``.

    Parameters
    ----------
    selection : Selection

    Returns
    -------
    dict
        Axes of the result count from 0. Without ``kind`` it is what `tensorstore.IndexTransform` takes as `json`.
    """
    shape = selection.result_shape
    output: list[dict[str, JSON]] = [{} for _ in selection.shape]
    for const in selection.consts:
        output[const.axis] = {"offset": const.index}
    for position, term in enumerate(selection.axes):
        if shape != selection.flat_shape:
            lengths = list(shape)
        elif isinstance(term, Strided):
            output[term.axis] = {
                "offset": term.start,
                "stride": term.step,
                "input_dimension": position,
            }
            continue
        else:
            lengths = [-1 if axis == position else 1 for axis in range(len(shape))]
        for axis, indices in term.points():
            output[axis] = _index_array(indices.reshape(lengths))
    return {
        "kind": "transform",
        "input_rank": len(shape),
        "input_inclusive_min": [0] * len(shape),
        "input_exclusive_max": list(shape),
        "input_labels": [""] * len(shape),
        "output": output,
    }


def _index_array(indices: IndexArray) -> dict[str, JSON]:
    # One index is a constant, and so is none: nested lists can't keep the shape of an empty array.
    if indices.size < 2:
        return {"offset": int(indices.reshape(-1)[0]) if indices.size else 0}
    bounds = ["-inf", "+inf"]
    return {
        "offset": 0, "stride": 1, "index_array": indices.tolist(), "index_array_bounds": bounds,
    }  # fmt: skip


def from_ndsel(message: Mapping[str, JSON], shape: tuple[int, ...]) -> Selection:
    """Return the selection that a message of any kind describes.

    Parameters
    ----------
    message : mapping
        An ndsel message; without ``kind`` it counts as a ``transform``. Its bounds have to be finite.
    shape : tuple of int
        Shape of the array.

    Returns
    -------
    Selection

    Raises
    ------
    SelectionError
        If the message is wrong (its text begins with ndsel's code for the reason) or does not fit the array.
    """
    body = normalize(message if "kind" in message else {**message, "kind": "transform"})
    maps = body["output"]
    if len(maps) != len(shape):
        raise ndsel_error("rank_mismatch", f"{len(maps)} outputs for an array of {len(shape)} axes")
    domain = _Domain.of(body)
    parts = [_parse_map(entry, axis, domain) for axis, entry in enumerate(maps)]
    if 0 not in domain.shape:
        for axis, part in enumerate(parts):
            _check_bounds(part, axis, shape[axis])
    if not domain.shape:
        consts = tuple(Const(axis, part.first) for axis, part in enumerate(parts))
        return Selection(shape, consts, (), (), scalar=True)
    return _selection(shape, parts, domain.shape)


@dataclass(frozen=True)
class _Domain:
    """The axes of the result: where they begin, and how long they are."""

    origin: tuple[int, ...]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, body: Mapping[str, JSON]) -> _Domain:
        lows = [_finite(bound) for bound in body["input_inclusive_min"]]
        highs = [_finite(bound) for bound in body["input_exclusive_max"]]
        shape = tuple(high - low for low, high in zip(lows, highs, strict=True))
        if math.prod(shape) >= 1 << 63:
            raise ndsel_error("invalid_json", "the domain has more than 2**63 elements")
        return cls(tuple(lows), shape)


def _finite(bound: JSON) -> int:
    value = bound[0] if isinstance(bound, list) else bound
    if not isinstance(value, int):
        raise SelectionError(f"the bound {value!r} is infinite; give the message finite bounds")
    return value


@dataclass(frozen=True)
class _Part:
    """Where one axis of the array takes its indices from.

    Attributes
    ----------
    on
        The axes of the result that they depend on.
    first, step, count
        Evenly spaced indices along the only axis, or the one index there is.
    indices
        Or else: all of them, with an axis for each of the result's, of its length or 1.
    """

    on: tuple[int, ...]
    first: int
    step: int = 0
    count: int = 1
    indices: IndexArray | None = None

    def points(self, rank: int) -> IndexArray:
        """Return the indices, with an axis for each of the result's."""
        if self.indices is not None:
            return self.indices
        lengths = [self.count if axis in self.on else 1 for axis in range(rank)]
        return (self.first + self.step * np.arange(self.count, dtype=np.int64)).reshape(lengths)

    def ends(self) -> tuple[int, int]:
        """Return the least and the greatest index."""
        if self.indices is not None:
            return int(self.indices.min()), int(self.indices.max())
        last = self.first + self.step * (self.count - 1)
        return min(self.first, last), max(self.first, last)


def _parse_map(entry: Mapping[str, JSON], axis: int, domain: _Domain) -> _Part:
    offset, stride = entry["offset"], entry.get("stride", 1)
    if "input_dimension" in entry:
        dimension = entry["input_dimension"]
        count, first = domain.shape[dimension], offset + stride * domain.origin[dimension]
        if count == 0:
            return _Part((dimension,), 0, 1, 0)
        if count == 1 or stride == 0:
            return _Part((), first)
        return _Part((dimension,), first, stride, count)
    if "index_array" not in entry:
        return _Part((), offset)
    indices = offset + stride * _as_indices(entry["index_array"], axis, domain.shape)
    on = tuple(axis for axis, size in enumerate(indices.shape) if size != 1)
    first = int(indices.reshape(-1)[0]) if indices.size else 0
    return _Part(on, first, indices=indices)


def _as_indices(nested: JSON, axis: int, shape: tuple[int, ...]) -> IndexArray:
    try:
        values = np.array(nested)
    except ValueError as error:
        raise ndsel_error("invalid_json", f"output[{axis}].index_array: {error}") from None
    if values.size == 0 and 0 in shape:
        return np.zeros(shape, dtype=np.int64)
    if values.dtype.kind not in "iu":
        raise ndsel_error("invalid_json", f"output[{axis}].index_array holds other than integers")
    fits = values.ndim == len(shape) and all(
        size in (1, extent) for size, extent in zip(values.shape, shape, strict=True)
    )
    if not fits:
        raise ndsel_error(
            "rank_mismatch",
            f"output[{axis}].index_array has shape {values.shape} in a domain of shape {shape}",
        )
    return values.astype(np.int64)


def _check_bounds(part: _Part, axis: int, size: int) -> None:
    least, most = part.ends()
    if least < 0 or most >= size:
        raise SelectionError(
            f"indices from {least} to {most} along axis {axis}, which has {size} elements; a "
            "message names elements, so nothing counts from the end"
        )


def _selection(
    shape: tuple[int, ...], parts: Sequence[_Part], result: tuple[int, ...]
) -> Selection:
    """Make a selection with a term for each axis of the result, or else of points."""
    by_axis: dict[tuple[int, ...], list[int]] = {}
    for axis, part in enumerate(parts):
        by_axis.setdefault(part.on, []).append(axis)
    fixed = by_axis.pop((), [])
    terms: list[Term] = []
    for position, count in enumerate(result):
        axes = by_axis.pop((position,), None)
        if axes is None and count == 1 and fixed:
            # Nothing depends on it: any axis that is fixed can stand for it.
            axis = fixed.pop(0)
            terms.append(Strided(axis, parts[axis].first, 1, 1))
        elif axes is not None:
            terms.append(_term(axes, parts, len(result)))
        else:
            return _points(shape, parts, result)
    if by_axis:
        return _points(shape, parts, result)
    return Selection(shape, _consts(parts, fixed), tuple(terms), result)


def _term(axes: Sequence[int], parts: Sequence[_Part], rank: int) -> Term:
    first = parts[axes[0]]
    if len(axes) == 1 and first.indices is None:
        return Strided(axes[0], first.first, first.step, first.count)
    return indexed(tuple(axes), tuple(parts[axis].points(rank).reshape(-1) for axis in axes))


def _points(shape: tuple[int, ...], parts: Sequence[_Part], result: tuple[int, ...]) -> Selection:
    """Make a selection of points, as many as the result has elements."""
    if not parts:
        raise SelectionError(f"an array without axes can't give a result of shape {result}")
    axes = [axis for axis, part in enumerate(parts) if part.on] or [0]
    points = tuple(
        np.broadcast_to(parts[axis].points(len(result)), result).reshape(-1) for axis in axes
    )
    fixed = [axis for axis in range(len(parts)) if axis not in axes]
    return Selection(shape, _consts(parts, fixed), (Indexed(tuple(axes), points),), result)


def _consts(parts: Sequence[_Part], fixed: Sequence[int]) -> tuple[Const, ...]:
    return tuple(Const(axis, parts[axis].first) for axis in fixed)
