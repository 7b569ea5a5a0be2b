"""Boxes: cover an array once, are made of whole objects, and know what they touch."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazarr.conversion.boxes import Boxes, covered, nbytes
from blazarr.grids import Axis, ChunkGrid

AXES = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9), st.integers(1, 5)), max_size=3)


@given(AXES)
def test_joined_boxes_cover_an_array_once(axes):
    shape, chunks, factors = (tuple(axis[i] for axis in axes) for i in range(3))
    objects = Boxes.of_shape(chunks, shape)
    boxes = objects.joined(factors)
    seen = np.zeros(shape, int)
    for number, region in enumerate(boxes.regions()):
        seen[region] += 1
        starts = tuple(part.start for part in region)
        assert boxes.number(starts) == number
        assert number in set(boxes.touched(region))
    assert (seen == 1).all()
    assert len(boxes) == math.prod(boxes.counts)
    for joined, edges in zip(boxes.edges, objects.edges, strict=True):
        assert set(joined) <= set(edges)


@given(AXES)
def test_touched_boxes_are_those_that_share_an_element(axes):
    shape, chunks, other = (tuple(axis[i] for axis in axes) for i in range(3))
    boxes, others = Boxes.of_shape(chunks, shape), Boxes.of_shape(other, shape)
    owner = np.empty(shape, int)
    for number, region in enumerate(boxes.regions()):
        owner[region] = number
    for region in others.regions():
        assert sorted(boxes.touched(region)) == sorted(set(owner[region].ravel().tolist()))


@pytest.mark.parametrize(
    ("boxes", "units", "times"),
    [
        ((0, 4, 8), (0, 4, 8), 1.0),
        ((0, 2, 4, 6, 8), (0, 8), 4.0),
        ((0, 3, 6, 8), (0, 4, 8), 2.0),
        ((0,), (0,), 1.0),
    ],
)
def test_how_often_an_element_is_read(boxes, units, times):
    assert covered(boxes, units) == times


def test_boxes_of_listed_lengths():
    grid = ChunkGrid((Axis(lengths=(3, 1, 4)), Axis(2)))
    boxes = Boxes.of_grid(grid, (8, 3))
    assert boxes.edges == ((0, 3, 4, 8), (0, 2, 3))
    assert boxes.largest == (4, 2)
    assert boxes.region_at((2, 1)) == (slice(4, 8), slice(2, 3))
    assert nbytes(boxes.region_at((2, 1)), 8) == 32
