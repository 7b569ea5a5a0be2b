"""Shapes and keys for the tests of selections."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

sizes = st.integers(0, 9)
shapes = st.lists(sizes, min_size=1, max_size=4).map(tuple)


def slices(size: int) -> st.SearchStrategy[slice]:
    bound = st.none() | st.integers(-size - 3, size + 3)
    step = st.none() | st.integers(-4, 4).filter(bool)
    return st.builds(slice, bound, bound, step)


def integers(size: int) -> st.SearchStrategy[int]:
    return st.integers(-size, size - 1).flatmap(
        lambda i: st.sampled_from([i, np.int64(i), np.array(i)])
    )


def index_lists(size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(-size, size - 1), max_size=6) if size else st.just([])


def index_arrays(size: int):
    signed = index_lists(size).map(lambda v: np.array(v, dtype="i8"))
    unsigned = index_lists(size).map(lambda v: np.array(v, dtype="i8") % max(size, 1))
    dtypes = st.sampled_from(["u1", "u4", "u8", ">i4", "i2"])
    return signed | st.builds(lambda v, t: v.astype(t), unsigned, dtypes)


def masks(size: int):
    return st.lists(st.booleans(), min_size=size, max_size=size).map(
        lambda v: np.array(v, dtype=bool)
    )


@st.composite
def basic_keys(draw, shape):
    items = [
        draw(slices(n) | integers(n)) if n else draw(slices(n))
        for n in shape[: draw(st.integers(0, len(shape)))]
    ]
    if draw(st.booleans()):
        place = draw(st.integers(0, len(items)))
        # Items after the ellipsis belong to the last axes.
        tail = [draw(slices(n)) for n in shape[len(shape) - (len(items) - place) :]]
        items = [*items[:place], Ellipsis, *(tail if place < len(items) else [])]
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


@st.composite
def orthogonal_keys(draw, shape):
    def item(n):
        kinds = slices(n) | index_arrays(n) | index_lists(n) | masks(n)
        return draw(kinds | integers(n)) if n else draw(kinds)

    return tuple(item(n) for n in shape)


@st.composite
def coordinate_keys(draw, shape):
    rank = draw(st.integers(1, 3))
    base = draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))

    def item(n):
        kind = draw(st.sampled_from(["int", "full", "thin", "list"]))
        if kind == "int":
            return draw(integers(n))
        if kind == "list":
            base_last = draw(st.sampled_from([1, base[-1]]))
            return draw(st.lists(st.integers(-n, n - 1), min_size=base_last, max_size=base_last))
        mine = [draw(st.sampled_from([1, b])) for b in base] if kind == "thin" else base
        flat = draw(
            st.lists(
                st.integers(-n, n - 1), min_size=int(np.prod(mine)), max_size=int(np.prod(mine))
            )
        )
        return np.array(flat, dtype="i8").reshape(mine)

    return tuple(item(n) for n in shape)
