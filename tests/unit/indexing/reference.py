"""What a selection means, written with numpy and nothing of the package's own."""

from __future__ import annotations

import numpy as np

from blazarr.indexing import Selection, Strided


def take(array: np.ndarray, selection: Selection) -> np.ndarray:
    """Walk over the flat result, element by element, in the words of the contract."""
    flat = np.empty(selection.flat_shape, dtype=array.dtype)
    for place in np.ndindex(*selection.flat_shape):
        index = dict(selection.consts)
        for position, term in zip(place, selection.axes, strict=True):
            if isinstance(term, Strided):
                index[term.axis] = term.start + term.step * position
            else:
                index |= {a: v[position] for a, v in zip(term.axes, term.indices, strict=True)}
        assert sorted(index) == list(range(array.ndim))
        assert all(
            0 <= i < n for i, n in zip((index[a] for a in sorted(index)), array.shape, strict=True)
        )
        flat[place] = array[tuple(index[a] for a in range(array.ndim))]
    return flat.reshape(selection.result_shape)


def numbered(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(int(np.prod(shape))).reshape(shape)


def orthogonal(array: np.ndarray, key: tuple) -> np.ndarray:
    """`oindex` one axis at a time, from the last, so that dropped axes don't shift the rest."""
    for axis in range(array.ndim - 1, -1, -1):
        item = key[axis]
        if isinstance(item, list):
            item = np.array(item, dtype="i8")
        array = array[(slice(None),) * axis + (item,)]
    return array
