"""`array.lazy`: parts of parts give what numpy gives step by step."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import blazarr
from blazarr.errors import BlazarrError, SelectionError

VALUES = np.arange(7 * 6 * 5).reshape(7, 6, 5)


def stored():
    return blazarr.create_array({}, data=VALUES, chunks=(3, 2, 5))


@st.composite
def steps(draw, shape):
    """One step: what to do to a lazy array, and to a numpy array."""
    kinds = (
        ["transpose", "basic", "oindex", "vindex", "mixed"] if min(shape, default=1) else ["basic"]
    )
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
    if kind == "mixed":
        key = draw(mixed_keys(shape))
        return (lambda lazy: lazy.vindex[key]), (lambda array: array[key])
    size = draw(st.sampled_from([(3,), (2, 2)]))
    count = math.prod(size)
    points = tuple(
        np.reshape(draw(st.lists(st.integers(-n, n - 1), min_size=count, max_size=count)), size)
        for n in shape
    )
    return (lambda lazy: lazy.vindex[points]), (lambda array: array[points])


@st.composite
def mixed_keys(draw, shape):
    """Arrays, masks, integers and slices in any order, as numpy takes them."""
    length = draw(st.sampled_from([(2,), (2, 1), (0,)]))
    key, axis = [], 0
    while axis < len(shape):
        kind = draw(st.sampled_from(["array", "mask", "integer", "slice", "rest"]))
        size = shape[axis]
        if kind == "array":
            one = st.integers(-size, size - 1)
            count = math.prod(length)
            flat = draw(st.lists(one, min_size=count, max_size=count))
            key.append(np.array(flat, dtype=int).reshape(length))
        elif kind == "mask" and length == (2,) and size > 1:
            key.append(np.isin(np.arange(size), draw(st.permutations(range(size)))[:2]))
        elif kind == "integer":
            key.append(draw(st.integers(-size, size - 1)))
        elif kind == "rest" and Ellipsis not in [k for k in key if k is Ellipsis]:
            key.append(Ellipsis)
            axis += draw(st.integers(0, len(shape) - axis)) - 1
        else:
            key.append(slice(None, None, draw(st.sampled_from([-1, 1, 2]))))
        axis += 1
    return tuple(key)


@pytest.mark.parametrize("first", [1, [0, 1], [[0], [1]]])
@pytest.mark.parametrize("last", [2, [0, 2]])
@pytest.mark.parametrize("before", [(), (slice(None),)])
def test_an_ellipsis_for_no_axis_separates_arrays(first, last, before):
    values = VALUES if before else VALUES[0]
    if first == 1 and last == 2:
        first = [1]
    for key in ((*before, first, ..., last), (*before, last, ..., first), (..., *before, first)):
        given = tuple(np.array(item) if isinstance(item, list) else item for item in key)
        found = blazarr.create_array({}, data=values).lazy.vindex[given].result()
        np.testing.assert_array_equal(found, values[given], strict=True)


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
    # Through JSON, where an empty part names no element.
    again = stored().lazy.from_json(json.loads(json.dumps(lazy.to_json())))
    np.testing.assert_array_equal(again.result(), expected)
    assert again.shape == lazy.shape


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


def test_a_part_of_a_part_from_json():
    part = stored().lazy[2:6, ::-1]
    found = part.from_json({"kind": "box", "inclusive_min": [1, 0, 2], "shape": [2, 3, 2]})
    np.testing.assert_array_equal(found.result(), VALUES[2:6, ::-1][1:3, :3, 2:4])
    assert part.from_json({"kind": "point", "coords": [0, 0, 0]}).result() == VALUES[2, 5, 0]


class Steps(RuleBasedStateMachine):
    """Reads and writes through parts of parts change and see what they do in numpy."""

    def __init__(self):
        super().__init__()
        self.array = blazarr.create_array({}, data=VALUES, chunks=(3, 2, 5), shards=(6, 4, 5))
        self.model = VALUES.copy()
        self.restart()

    @rule()
    def restart(self):
        """Begin with all of the array; positions in the model stand for elements."""
        self.lazy = self.array.lazy
        self.places = np.arange(VALUES.size).reshape(VALUES.shape)

    @rule(data=st.data())
    def step(self, data):
        on_lazy, on_numpy = data.draw(steps(self.places.shape))
        self.lazy, self.places = on_lazy(self.lazy), np.asarray(on_numpy(self.places))

    @rule()
    def through_json(self):
        self.lazy = self.array.lazy.from_json(json.loads(json.dumps(self.lazy.to_json())))

    @rule(value=st.integers(-100, 100))
    def write_one_value(self, value):
        self.lazy.write(value)
        self.model.reshape(-1)[self.places] = value

    @rule(seed=st.integers(0, 1000))
    def write_values(self, seed):
        # Of an element that is there twice nobody knows which value it gets.
        if len(np.unique(self.places)) == self.places.size:
            values = seed + np.arange(self.places.size).reshape(self.places.shape)
            self.lazy[...] = values
            self.model.reshape(-1)[self.places] = values

    @rule()
    def read_into(self):
        out = np.full((*self.lazy.shape, 2), -1, dtype=self.array.dtype)[..., 0]
        self.lazy.result(out=out)
        np.testing.assert_array_equal(out, self.model.reshape(-1)[self.places])

    @invariant()
    def sees_what_numpy_sees(self):
        expected = self.model.reshape(-1)[self.places]
        assert self.lazy.shape == expected.shape
        np.testing.assert_array_equal(self.lazy.result(), expected)


TestSteps = Steps.TestCase
TestSteps.settings = settings(max_examples=12, stateful_step_count=10, deadline=None)
