"""`array[key]`: which kind of selection a key means."""

from __future__ import annotations

import numpy as np
import pytest

from blazarr.indexing import parse_getitem

from .reference import numbered, take

ARRAY = numbered((4, 5, 6))
ROWS = np.array([True, False, True, True])


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (([0, 1], [2, 3], [4, 5]), ARRAY[[0, 1], [2, 3], [4, 5]]),
        ((np.array([[0], [3]]), [1, 2], 0), ARRAY[np.array([[0], [3]]), [1, 2], 0]),
        ((0, 1, [4, 5]), ARRAY[0, 1, [4, 5]]),
        ([2, 0], ARRAY[[2, 0]]),
        ([], ARRAY[:0]),
        (ROWS, ARRAY[ROWS]),
        (ROWS.tolist(), ARRAY[ROWS]),
        ((ROWS, slice(1, 3)), ARRAY[ROWS, 1:3]),
        ((Ellipsis, [1, 0]), ARRAY[..., [1, 0]]),
        ((0, slice(None), [1, 0]), ARRAY[0][:, [1, 0]]),
        ((np.int64(1), [0, 1], slice(None)), ARRAY[1, [0, 1]]),
        ((ROWS, [0, 1, 2, 3, 4], [True, False] * 3), ARRAY[ROWS][:, :, ::2]),
        (ARRAY % 7 == 3, ARRAY[ARRAY % 7 == 3]),
        (np.array(2), ARRAY[2]),
        ((slice(None, None, -1), 2, ...), ARRAY[::-1, 2]),
        ((), ARRAY),
    ],
)
def test_kind(key, expected):
    np.testing.assert_array_equal(take(ARRAY, parse_getitem(key, ARRAY.shape)), expected)


def test_one_axis_takes_arrays_of_any_rank():
    key = np.array([[1, 2], [3, -1]])
    selection = parse_getitem(key, (9,))
    assert selection.result_shape == (2, 2)
    np.testing.assert_array_equal(take(numbered((9,)), selection), numbered((9,))[key])


def test_against_zarr_python():
    zarr = pytest.importorskip("zarr")
    theirs = zarr.create_array({}, data=ARRAY, chunks=(2, 2, 4))
    keys = [
        ([0, 1], [2, 3], [4, 5]),
        (0, 1, [4, 5]),
        ([0, 1], [True] * 5, [4, 5, 0]),
        (0, slice(None), [1, 0]),
        (slice(1, 3), [1, 0]),
        ([2, 0],),
        (1, ..., 2),
        (-1,),
        (np.array([[0], [3]]), [1, 2], 0),
    ]
    for key in keys:
        np.testing.assert_array_equal(take(ARRAY, parse_getitem(key, ARRAY.shape)), theirs[key])
