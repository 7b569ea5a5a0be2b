"""The normal form itself: composition, what it hands on, what it simplifies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazarr.indexing import (
    Const,
    Indexed,
    Strided,
    parse_basic,
    parse_coordinate,
    parse_mask,
    parse_orthogonal,
)

from . import strategies
from .reference import numbered, take


@st.composite
def selections(draw, shape):
    kinds = ["basic", "orthogonal"]
    if shape:
        kinds.append("mask")
        if all(shape):
            kinds.append("coordinate")
    kind = draw(st.sampled_from(kinds))
    if kind == "basic":
        return parse_basic(draw(strategies.basic_keys(shape)), shape)
    if kind == "orthogonal":
        return parse_orthogonal(draw(strategies.orthogonal_keys(shape)), shape)
    if kind == "coordinate":
        return parse_coordinate(draw(strategies.coordinate_keys(shape)), shape)
    return parse_mask(draw(strategies.masks(int(np.prod(shape)))).reshape(shape), shape)


@given(st.data())
def test_compose_is_selection_of_selection(data):
    array = numbered(data.draw(strategies.shapes))
    selection = data.draw(selections(array.shape))
    expected = take(array, selection)
    for _ in range(data.draw(st.integers(1, 3))):
        following = data.draw(selections(expected.shape))
        expected = take(expected, following)
        selection = selection.compose(following)
        np.testing.assert_array_equal(take(array, selection), expected)
        assert selection.scalar == following.scalar


@given(st.data())
def test_numpy_index_takes_the_flat_result(data):
    array = numbered(data.draw(strategies.shapes))
    selection = data.draw(selections(array.shape))
    flat = array[selection.numpy_index()]
    assert flat.shape == selection.flat_shape
    np.testing.assert_array_equal(flat.reshape(selection.result_shape), take(array, selection))


def test_core_is_plain_tuples():
    consts, terms = parse_basic((3, slice(None, None, -2)), (5, 6)).core()
    assert consts == ((0, 3),)
    assert terms == ((1, 5, -2, 3),)


def test_core_of_points():
    consts, (term,) = parse_coordinate(([1, 0], 2, [4, -1]), (3, 3, 5)).core()
    axes, (first, last) = term
    assert consts == ((1, 2),)
    assert axes == (0, 2)
    assert first.tolist() == [1, 0]
    assert last.tolist() == [4, 4]
    assert first.dtype == np.int64


@pytest.mark.parametrize(
    ("key", "term"),
    [
        ([2, 3, 4], Strided(0, 2, 1, 3)),
        ([9, 6, 3, 0], Strided(0, 9, -3, 4)),
        ([5], Strided(0, 5, 1, 1)),
        ([], Strided(0, 0, 1, 0)),
        ([-2, -1], Strided(0, 8, 1, 2)),
        (np.arange(10) % 3 == 0, Strided(0, 0, 3, 4)),
    ],
)
def test_even_indices_become_strides(key, term):
    assert parse_orthogonal((key,), (10,)).axes == (term,)


@pytest.mark.parametrize("key", [[0, 1, 3], [2, 2, 2], [0, 2, 2, 6], [1, 0, 1]])
def test_uneven_indices_stay_indices(key):
    (term,) = parse_orthogonal((key,), (10,)).axes
    assert isinstance(term, Indexed)
    assert term.indices[0].tolist() == key


def test_indices_are_the_selections_own():
    indices = np.array([4, 0, 2])
    (term,) = parse_orthogonal((indices,), (5,)).axes
    indices[:] = 99
    assert term.indices[0].tolist() == [4, 0, 2]
    assert not term.indices[0].flags.writeable


def test_one_element_has_step_one():
    assert parse_basic(slice(8, None, 5), (10,)).axes == (Strided(0, 8, 1, 1),)
    assert parse_basic(slice(8, 2), (10,)).axes == (Strided(0, 0, 1, 0),)


def test_scalar_only_for_basic_keys():
    assert parse_basic((1, 2), (3, 3)).scalar
    assert parse_basic(..., ()).scalar
    assert not parse_basic((1, slice(None)), (3, 3)).scalar
    assert not parse_orthogonal((1, 2), (3, 3)).scalar
    points = parse_coordinate((1, 2), (3, 3))
    assert points.result_shape == (1,)
    assert points.consts == (Const(0, 1),)
