"""What does not fit an array, and what the error says."""

from __future__ import annotations

import numpy as np
import pytest

from blazarr.errors import BoundsCheckError, SelectionError, VindexInvalidSelectionError
from blazarr.indexing import (
    parse_basic,
    parse_block,
    parse_coordinate,
    parse_getitem,
    parse_mask,
    parse_orthogonal,
    parse_vindex,
)

from .test_kinds import _Grid

SHAPE = (13, 11)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (13, "index 13 is out of bounds for axis 0 with size 13"),
        (-14, "index -14 is out of bounds for axis 0 with size 13"),
        ((0, 11), "index 11 is out of bounds for axis 1 with size 11"),
        ((0, 2**70), "out of bounds for axis 1"),
        ((0, 0, 0), "too many indices: the array has 2 axes, 3 were indexed"),
        ((0, ..., 0, 0), "too many indices: the array has 2 axes, 3 were indexed"),
        (slice(None, None, 0), "bad slice for axis 0: slice step cannot be zero"),
        (slice(1.5, None), "bad slice for axis 0: slice indices must be integers"),
        (1.5, r"1.5 \(float\) cannot index axis 0; expected an integer or a slice"),
        ("q", r"'q' \(str\) cannot index axis 0"),
        (None, "cannot add axes"),
        ((0, np.newaxis), "cannot add axes"),
        (True, r"True \(bool\) cannot index axis 0"),
        (np.True_, "cannot index axis 0"),
        ((..., 0, ...), "only one ellipsis"),
    ],
)
def test_basic(key, text):
    for parse in (parse_basic, parse_getitem):
        with pytest.raises(SelectionError, match=text):
            parse(key, SHAPE)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (([0, 13],), "index 13 is out of bounds for axis 0 with size 13"),
        ((slice(None), [0, -12]), "index -12 is out of bounds for axis 1 with size 11"),
        ((np.array([2**64 - 1], "u8"),), "index 18446744073709551615 is out of bounds"),
        ((np.ones(5, bool),), "length 5, the axis has size 13"),
        ((np.array([1.0, 2.0]),), "data type float64"),
        ((np.zeros(0),), "data type float64"),
        ((np.zeros((2, 2), int),), "2 dimensions; orthogonal selections take one-dimensional"),
        (([[1], [1, 2]],), "bad index for axis 0"),
        (([1, 2**70],), "data type object"),
        ((["a"],), "data type <U1"),
        ((1.5,), "expected an integer, a slice, or an array"),
        ((True,), "expected an integer, a slice, or an array"),
        (([0], [0], [0]), "too many indices"),
    ],
)
def test_orthogonal(key, text):
    with pytest.raises(SelectionError, match=text):
        parse_orthogonal(key, SHAPE)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (([0, -14], [0, 0]), "index -14 is out of bounds for axis 0 with size 13"),
        (([0], 11), "index 11 is out of bounds for axis 1"),
        (([0, 1, 2], [0, 1]), "do not broadcast together"),
        ([0, 1], "one integer or integer array for each of the 2 axes, got 1"),
        ((slice(None), [0]), "oindex mixes arrays with slices"),
        ((..., [0]), "oindex mixes arrays with slices"),
        (([0], [0.5]), "data type float64"),
        ((np.ones(13, bool), [0]), "a mask must be the only index"),
    ],
)
def test_coordinates(key, text):
    for parse in (parse_coordinate, parse_vindex):
        with pytest.raises(SelectionError, match=text):
            parse(key, SHAPE)


def test_coordinates_need_an_axis():
    with pytest.raises(VindexInvalidSelectionError):
        parse_coordinate((), ())


@pytest.mark.parametrize("mask", [np.ones(5, bool), np.ones((11, 13), bool), np.ones((13, 11))])
def test_masks(mask):
    with pytest.raises(VindexInvalidSelectionError, match="one boolean array of the array's shape"):
        parse_mask(mask, SHAPE)


def test_mask_of_a_point():
    with pytest.raises(VindexInvalidSelectionError):
        parse_mask(np.True_, ())


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ((4, 0), "block 4 is out of bounds for axis 0 with 4 chunks"),
        ((slice(4, 6), 0), "block 4 is out of bounds for axis 0 with 4 chunks"),
        ((slice(-5, None), 0), "block -5 is out of bounds for axis 0 with 4 chunks"),
        ((0, -5), "block -5 is out of bounds for axis 1 with 4 chunks"),
        (slice(0, 3, 2), "step of 1 only, not 2"),
        ([0, 1], "expected an integer or a slice with step 1"),
        (2.3, "expected an integer or a slice with step 1"),
        ((0, 0, 0), "too many indices"),
    ],
)
def test_blocks(key, text):
    with pytest.raises(SelectionError, match=text):
        parse_block(key, SHAPE, _Grid((4, 3)))


@pytest.mark.parametrize(
    "key",
    [([0, 1], slice(None), [0, 1]), ([0, 1], [0, 1]), (..., [0], [1]), ([0], [1], [True])],
)
def test_getitem_refuses_ambiguous_arrays(key):
    with pytest.raises(SelectionError, match=r"oindex|length 1"):
        parse_getitem(key, (4, 4, 4))


def test_out_of_bounds_is_zarrs_class():
    for parse, key in (
        (parse_basic, 99),
        (parse_orthogonal, ([99],)),
        (parse_coordinate, ([99], [0])),
    ):
        with pytest.raises(BoundsCheckError) as caught:
            parse(key, SHAPE)
        assert isinstance(caught.value, IndexError)
