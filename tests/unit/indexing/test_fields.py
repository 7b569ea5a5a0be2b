"""Field names among the indices of structured arrays."""

from __future__ import annotations

import numpy as np
import pytest

from blazarr.errors import SelectionError
from blazarr.indexing import field_dtype, pop_fields

DTYPE = np.dtype([("x", "<i4"), ("y", "<f8"), ("z", "<u2", (2,))])


@pytest.mark.parametrize(
    ("key", "fields", "rest"),
    [
        ("x", "x", ()),
        (["x", "y"], ["x", "y"], ()),
        (("x", slice(1, 3)), "x", (slice(1, 3),)),
        (("x", "y", 0), ["x", "y"], (0,)),
        ((0, "x"), "x", (0,)),
        ((0, 1), None, (0, 1)),
        ([1, 2], None, [1, 2]),
        (..., None, ...),
    ],
)
def test_pop_fields(key, fields, rest):
    assert pop_fields(key) == (fields, rest)


def test_field_dtype():
    assert field_dtype(None, DTYPE) == DTYPE
    assert field_dtype("y", DTYPE) == np.dtype("<f8")
    assert field_dtype("z", DTYPE) == np.dtype(("<u2", (2,)))
    assert field_dtype(["y", "x"], DTYPE) == np.dtype([("y", "<f8"), ("x", "<i4")])


def test_unknown_field_names_the_known_ones():
    with pytest.raises(SelectionError, match=r"no field 'q'; the fields are \['x', 'y', 'z'\]"):
        field_dtype(["x", "q"], DTYPE)


def test_no_fields():
    with pytest.raises(SelectionError, match="has no fields, so 'q' cannot index it"):
        field_dtype("q", np.dtype("i4"))
