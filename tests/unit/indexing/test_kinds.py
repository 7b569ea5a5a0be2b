"""Every kind of selection against numpy, for keys drawn at random."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blazarr.indexing import (
    parse_basic,
    parse_block,
    parse_coordinate,
    parse_getitem,
    parse_mask,
    parse_orthogonal,
    parse_vindex,
)

from . import strategies
from .reference import numbered, orthogonal, take

positive_shapes = st.lists(st.integers(1, 9), min_size=1, max_size=4).map(tuple)


@given(st.data())
def test_basic_is_numpy(data):
    shape = data.draw(strategies.shapes | st.just(()))
    key = data.draw(strategies.basic_keys(shape))
    array = numbered(shape)
    for parse in (parse_basic, parse_orthogonal, parse_getitem):
        np.testing.assert_array_equal(take(array, parse(key, shape)), array[key])


@given(st.data())
def test_orthogonal_is_numpy_axis_by_axis(data):
    shape = data.draw(strategies.shapes)
    key = data.draw(strategies.orthogonal_keys(shape))
    array = numbered(shape)
    result = take(array, parse_orthogonal(key, shape))
    np.testing.assert_array_equal(result, orthogonal(array, key))


@given(st.data())
def test_coordinates_are_numpy_points(data):
    shape = data.draw(positive_shapes)
    key = data.draw(strategies.coordinate_keys(shape))
    array = numbered(shape)
    expected = np.asarray(array[key]).reshape(np.shape(array[key]) or (1,))
    for parse in (parse_coordinate, parse_vindex):
        np.testing.assert_array_equal(take(array, parse(key, shape)), expected)


@given(st.data())
def test_masks_are_numpy_masks(data):
    shape = data.draw(strategies.shapes)
    size = int(np.prod(shape))
    mask = data.draw(strategies.masks(size)).reshape(shape)
    array = numbered(shape)
    for parse in (parse_mask, parse_vindex, parse_getitem):
        np.testing.assert_array_equal(take(array, parse(mask, shape)), array[mask])


@given(st.data())
def test_getitem_with_one_array_is_orthogonal(data):
    shape = data.draw(positive_shapes)
    axis = data.draw(st.integers(0, len(shape) - 1))
    n = shape[axis]
    item = data.draw(strategies.index_arrays(n) | strategies.index_lists(n) | strategies.masks(n))
    key = (slice(None),) * axis + (item,)
    array = numbered(shape)
    np.testing.assert_array_equal(
        take(array, parse_getitem(key, shape)), orthogonal(array[key[:axis]], _pad(key, shape))
    )


def _pad(key, shape):
    return key + (slice(None),) * (len(shape) - len(key))


class _Axis:
    def __init__(self, size: int) -> None:
        self.size = size

    def count(self, extent: int) -> int:
        return -(-extent // self.size)

    def bounds(self, index: int, extent: int) -> tuple[int, int]:
        return index * self.size, min((index + 1) * self.size, extent)


class _Grid:
    def __init__(self, chunks: tuple[int, ...]) -> None:
        self.axes = [_Axis(size) for size in chunks]


@given(st.data())
def test_blocks_are_whole_chunks(data):
    shape = data.draw(positive_shapes)
    chunks = tuple(data.draw(st.integers(1, 11)) for _ in shape)
    counts = [-(-n // c) for n, c in zip(shape, chunks, strict=True)]
    stop = st.none() | st.integers(-12, 12)
    key = tuple(
        data.draw(
            st.integers(-n, n - 1) | st.builds(slice, st.none() | st.integers(-n, n - 1), stop)
        )
        for n in counts
    )
    array = numbered(shape)
    expected = array
    for axis, (item, count, chunk) in enumerate(zip(key, counts, chunks, strict=True)):
        blocks = np.atleast_1d(np.arange(count)[item])
        cells = [i for b in blocks for i in range(b * chunk, min((b + 1) * chunk, shape[axis]))]
        expected = expected.take(cells, axis=axis)
    selection = parse_block(key, shape, _Grid(chunks))
    np.testing.assert_array_equal(take(array, selection), expected)
