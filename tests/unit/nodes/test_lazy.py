"""`array.lazy`: parts of parts give what numpy gives step by step."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import blazarr
from blazarr.errors import BlazarrError, SelectionError

VALUES = np.arange(7 * 6 * 5).reshape(7, 6, 5)


def stored():
    return blazarr.create_array({}, data=VALUES, chunks=(3, 2, 5))


@st.composite
def steps(draw, shape):
    """One step: what to do to a lazy array, and to a numpy array."""
    kinds = ["transpose", "basic", "oindex", "vindex"] if min(shape, default=1) else ["basic"]
    kind = draw(st.sampled_from(kinds if shape else ["basic"]))
    if kind == "transpose":
        order = draw(st.permutations(range(len(shape))))
        return (lambda lazy: lazy.transpose(*order)), (lambda array: array.transpose(order))
    if kind == "basic":
        strides = st.sampled_from([-2, -1, 1, 2])
        bounds = st.none() | st.integers(-8, 8)
        key = tuple(
            draw(
                st.builds(slice, bounds, bounds, strides)
                | (st.integers(-n, n - 1) if n else st.nothing())
            )
            for n in shape
        )
        return (lambda lazy: lazy[key]), (lambda array: array[key])
    if kind == "oindex":
        lists = [draw(st.lists(st.integers(-n, n - 1), min_size=1, max_size=4)) for n in shape]
        return (lambda lazy: lazy.oindex[tuple(lists)]), (lambda array: array[np.ix_(*lists)])
    size = draw(st.sampled_from([(3,), (2, 2)]))
    count = math.prod(size)
    points = tuple(
        np.reshape(draw(st.lists(st.integers(-n, n - 1), min_size=count, max_size=count)), size)
        for n in shape
    )
    return (lambda lazy: lazy.vindex[points]), (lambda array: array[points])


@given(st.data())
def test_steps_give_what_numpy_gives(data):
    lazy, expected = stored().lazy, VALUES
    for _ in range(data.draw(st.integers(1, 4))):
        on_lazy, on_numpy = data.draw(steps(expected.shape))
        lazy, expected = on_lazy(lazy), on_numpy(expected)
        assert lazy.shape == np.shape(expected)
    result = lazy.result()
    np.testing.assert_array_equal(result, expected)
    assert np.shape(result) == np.shape(expected)


@given(st.data())
def test_writing_reaches_the_same_elements(data):
    array, model = stored(), VALUES.copy()
    keys = [(slice(1, 6, 2), slice(None, None, -1)), (slice(None), [0, 3], slice(1, 4))]
    lazy = array.lazy[keys[0]].oindex[keys[1]]
    value = np.asarray(data.draw(st.integers(-9, -1)))
    lazy[...] = value
    part = model[keys[0]]
    part[:, [0, 3], 1:4] = value
    np.testing.assert_array_equal(array[:], model)


def test_nothing_is_read_before_it_is_asked_for():
    array = stored()
    lazy = array.lazy[2:].T
    array[:] = 1
    assert (lazy.result() == 1).all()
    assert lazy.shape == (5, 6, 5)
    assert (lazy.ndim, lazy.size, len(lazy), lazy.dtype) == (3, 150, 5, VALUES.dtype)


def test_results_go_into_an_array():
    out = np.zeros((2, 5), VALUES.dtype)
    lazy = stored().lazy[3, 2:4]
    assert lazy.result(out=out) is out
    np.testing.assert_array_equal(out, VALUES[3, 2:4])
    np.testing.assert_array_equal(np.asarray(lazy, dtype="f4"), VALUES[3, 2:4])


def test_a_point_is_a_scalar():
    assert stored().lazy[1:, 2][0, 3].result() == VALUES[1, 2, 3]


def test_mistakes_are_named():
    lazy = stored().lazy[:3]
    with pytest.raises(SelectionError):
        lazy[3]
    with pytest.raises(BlazarrError, match="each of the 3 axes once"):
        lazy.transpose(0, 0, 1)
    with pytest.raises(BlazarrError, match="copy=False"):
        np.asarray(lazy, copy=False)
