"""ndsel messages: checked against TensorStore, whose index transforms the canonical form is."""

import json

import numpy as np
import pytest
import tensorstore
from hypothesis import given
from hypothesis import strategies as st

from blazarr.errors import SelectionError
from blazarr.indexing import parse_getitem, parse_orthogonal, parse_vindex
from blazarr.indexing.messages import normalize
from blazarr.indexing.ndsel import from_ndsel, to_ndsel

from .strategies import basic_keys, coordinate_keys, orthogonal_keys

SHAPE = (6, 5, 4)
VALUES = np.arange(120).reshape(SHAPE)


def taken(selection):
    """What a selection takes from `VALUES`."""
    return VALUES[selection.numpy_index()].reshape(selection.result_shape)


def taken_by_tensorstore(message):
    body = {name: value for name, value in message.items() if name != "kind"}
    transform = tensorstore.IndexTransform(json=body)
    return tensorstore.array(VALUES)[transform].read().result()


@pytest.mark.parametrize(
    ("keys", "parse"),
    [
        (basic_keys, parse_getitem),
        (orthogonal_keys, parse_orthogonal),
        (coordinate_keys, parse_vindex),
    ],
)
@given(data=st.data())
def test_selections_both_ways(keys, parse, data):
    selection = parse(data.draw(keys(SHAPE)), SHAPE)
    message = json.loads(json.dumps(to_ndsel(selection)))
    expected = taken(selection)
    again = from_ndsel(message, SHAPE)
    assert again.result_shape == selection.result_shape
    np.testing.assert_array_equal(taken(again), expected)
    np.testing.assert_array_equal(taken_by_tensorstore(message), expected)
    assert normalize(message) | {"kind": "transform"} == message


MESSAGES = {
    "point": ({"kind": "point", "coords": [5, 0, 3]}, VALUES[5, 0, 3]),
    "points": ({"kind": "points", "coords": [[0, 1, 2], [5, 4, 3]]}, VALUES[[0, 5], [1, 4], [2, 3]]),
    "box": ({"kind": "box", "inclusive_min": [1, 0, 2], "exclusive_max": [3, 5, 4]}, VALUES[1:3, :, 2:]),
    "box by shape": ({"kind": "box", "shape": [2, 1, 4]}, VALUES[:2, :1]),
    "box by last": ({"kind": "box", "inclusive_max": [2, 4, 3]}, VALUES[:3]),
    "slice": ({"kind": "slice", "start": [0, 4, 1], "stop": [6, 0, 4], "step": [2, -3, 1]}, VALUES[::2, 4:0:-3, 1:]),
    "transform": ({"input_rank": 3, "input_shape": [6, 5, 4]}, VALUES),
    "other origin": (
        {
            "kind": "transform", "input_inclusive_min": [-2], "input_exclusive_max": [1],
            "output": [{"offset": 3, "input_dimension": 0}, {"offset": 4}, {"offset": 0}],
        },
        VALUES[1:4, 4, 0],
    ),
    "diagonal": (
        {"input_shape": [4], "output": [{"input_dimension": 0}, {"input_dimension": 0}, {"offset": 3, "stride": -1, "input_dimension": 0}]},
        VALUES[range(4), range(4), range(3, -1, -1)],
    ),
    "orthogonal": (
        {"input_shape": [2, 3], "output": [{"index_array": [[5], [1]]}, {"offset": 1, "index_array": [[0, 0, 2]]}, {"offset": 2}]},
        VALUES[np.ix_([5, 1], [1, 1, 3], [2])][..., 0],
    ),
    "points in two axes": (
        {"input_shape": [2, 2], "output": [{"index_array": [[0, 1], [2, 3]]}, {"input_dimension": 1}, {"offset": 2}]},
        VALUES[[[0, 1], [2, 3]], [[0, 1], [0, 1]], 2],
    ),
    "an axis that nothing depends on": (
        {"input_shape": [3, 2], "output": [{"input_dimension": 0}, {"offset": 1}, {"offset": 1}]},
        np.repeat(VALUES[:3, 1, 1][:, None], 2, axis=1),
    ),
    "an axis of one": (
        {"input_shape": [1, 2], "output": [{"offset": 3}, {"offset": 1}, {"input_dimension": 1}]},
        VALUES[3, 1, :2][None],
    ),
    "nothing but constants": (
        {"input_shape": [2], "output": [{"offset": 3}, {"offset": 1}, {"offset": 1}]},
        np.repeat(VALUES[3, 1, 1], 2),
    ),
    "empty": ({"kind": "box", "inclusive_min": [2, 0, 0], "exclusive_max": [2, 5, 4]}, VALUES[2:2]),
}  # fmt: skip


@pytest.mark.parametrize("name", MESSAGES)
def test_messages(name):
    message, expected = MESSAGES[name]
    selection = from_ndsel(message, SHAPE)
    assert selection.result_shape == np.shape(expected)
    np.testing.assert_array_equal(taken(selection), expected)
    body = normalize({"kind": "transform"} | message)
    np.testing.assert_array_equal(taken_by_tensorstore(body), expected)


def test_bounds_that_are_no_numbers_stay_in_messages():
    message = {
        "kind": "box",
        "inclusive_min": [["-inf"], 0],
        "exclusive_max": [["+inf"], 4],
        "labels": ["t", ""],
    }
    assert normalize(message) == {
        "input_rank": 2,
        "input_inclusive_min": [["-inf"], 0],
        "input_exclusive_max": [["+inf"], 4],
        "input_labels": ["t", ""],
        "output": [{"offset": 0, "stride": 1, "input_dimension": i} for i in range(2)],
    }
    with pytest.raises(SelectionError, match="infinite"):
        from_ndsel(message, (3, 4))
    assert normalize({"kind": "box", "inclusive_min": [2]})["input_exclusive_max"] == [["+inf"]]
    bounds = normalize({"kind": "box", "inclusive_min": ["-inf"], "shape": [[3]]})
    assert bounds["input_exclusive_max"] == [["-inf"]]


@pytest.mark.parametrize(
    ("start", "stop", "step", "origin", "offset"),
    [(5, 10, 2, 2, 1), (-9, 5, 2, -4, -1), (9, 0, -2, -4, 1), (-8, 6, 3, -2, -2), (4, 4, 1, 4, 0)],
)
def test_where_strided_axes_begin(start, stop, step, origin, offset):
    body = normalize({"kind": "slice", "start": [start], "stop": [stop], "step": [step]})
    assert body["input_inclusive_min"] == [origin]
    assert body["output"] == [{"offset": offset, "stride": step, "input_dimension": 0}]
    expected = tensorstore.IndexTransform(input_inclusive_min=[-20], input_exclusive_max=[20])[
        start:stop:step
    ]
    theirs = tensorstore.IndexTransform(json=body)
    assert theirs.domain[0].inclusive_min == expected.domain[0].inclusive_min
    assert theirs.domain[0].size == expected.domain[0].size
    assert theirs.output[0].offset == expected.output[0].offset


WRONG = [
    ({"kind": "slice", "start": [0], "stop": [4], "step": [0]}, "step_zero"),
    ({"kind": "slice", "start": [9], "stop": [0]}, "bounds_out_of_order"),
    ({"kind": "slice", "start": [0], "stop": [3], "step": [-1]}, "bounds_out_of_order"),
    ({"kind": "slice", "start": [0, 0], "stop": [4]}, "rank_mismatch"),
    ({"kind": "slice", "start": [0]}, "invalid_json"),
    ({"kind": "slice", "start": [0], "stop": [1], "labels": ["a", "b"]}, "rank_mismatch"),
    ({"kind": "box", "shape": [3], "exclusive_max": [3]}, "multiple_upper_bounds"),
    ({"kind": "box", "inclusive_min": [4], "exclusive_max": [3]}, "bounds_out_of_order"),
    ({"kind": "box", "inclusive_min": 5}, "invalid_json"),
    ({"kind": "box", "shape": ["-inf"]}, "invalid_json"),
    ({"kind": "box", "inclusive_max": [2**63 - 1]}, "invalid_json"),
    ({"kind": "box", "shape": [[1, 2]]}, "invalid_json"),
    ({"kind": "box", "labels": [1]}, "invalid_json"),
    ({"kind": "box", "novel": 1}, "unknown_field"),
    ({"kind": "bogus"}, "unknown_kind"),
    ({"kind": 3}, "invalid_json"),
    ({"coords": [1]}, "invalid_json"),
    ([], "invalid_json"),
    ({"kind": "point"}, "invalid_json"),
    ({"kind": "point", "coords": [True]}, "invalid_json"),
    ({"kind": "point", "coords": [2**63]}, "invalid_json"),
    ({"kind": "points", "coords": [[1], [1, 2]]}, "rank_mismatch"),
    ({"kind": "transform", "input_rank": 2, "input_inclusive_min": [0]}, "rank_mismatch"),
    ({"kind": "transform", "input_rank": 10**9}, "invalid_json"),
    ({"kind": "transform", "input_shape": [1], "output": [{"input_dimension": 0, "index_array": [0]}]}, "output_map_conflict"),
    ({"kind": "transform", "input_shape": [1], "output": [{"input_dimension": 1}]}, "rank_mismatch"),
    ({"kind": "transform", "input_shape": [1], "output": [{"other": 1}]}, "unknown_field"),
    ({"kind": "transform", "input_shape": [1], "output": [3]}, "invalid_json"),
    ({"kind": "transform", "input_shape": [1], "output": [{"index_array": [0], "index_array_bounds": [1]}]}, "invalid_json"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "code"), WRONG)
def test_wrong_messages(message, code):
    with pytest.raises(SelectionError, match=f"^{code}: "):
        normalize(message)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"kind": "point", "coords": [1, 1]}, "rank_mismatch"),
        ({"kind": "point", "coords": [-1]}, "3 elements"),
        ({"kind": "box", "shape": [4]}, "3 elements"),
        ({"input_shape": [2], "output": [{"index_array": [0.5, 1.5]}]}, "other than integers"),
        ({"input_shape": [2], "output": [{"index_array": [True, False]}]}, "other than integers"),
        ({"input_shape": [2], "output": [{"index_array": [[0, 1], [1]]}]}, "invalid_json"),
        ({"input_shape": [2], "output": [{"index_array": [0, 1, 2]}]}, "rank_mismatch"),
        (
            {
                "input_shape": [2],
                "output": [{"offset": 2**62, "stride": 2**62, "input_dimension": 0}],
            },
            "3 elements",
        ),
        ({"input_shape": [2**40], "output": [{"input_dimension": 0}]}, "3 elements"),
    ],
)
def test_messages_that_do_not_fit(message, text):
    with pytest.raises(SelectionError, match=text):
        from_ndsel(message, (3,))


def test_huge_parts_cost_nothing():
    shape = (2**40, 2**20)
    message = to_ndsel(parse_getitem((slice(None, None, -3), slice(5, None)), shape))
    selection = from_ndsel(message, shape)
    assert selection.result_shape == (-(-(2**40) // 3), 2**20 - 5)
    assert to_ndsel(selection) == message
