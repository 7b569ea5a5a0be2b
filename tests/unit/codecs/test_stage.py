"""What stands between codecs: sizes, shapes, and what changes with the byte order."""

from __future__ import annotations

import numpy as np
import pytest

from blazarr.codecs.stage import Stage, has_orders, swap_unit

from .chains import BIG, LITTLE, run, v3


@pytest.mark.parametrize(
    ("dtype", "unit"),
    [
        ("?", 0), ("u1", 0), ("i2", 2), (">f8", 8), ("c8", 4), ("c16", 8), ("M8[ns]", 8),
        ("m8[s]", 8), ("S5", 0), ("V8", 0), ("U1", 4), ("U7", 4), ("f2", 2),
    ],
)  # fmt: skip
def test_swap_unit(dtype, unit):
    assert swap_unit(np.dtype(dtype)) == unit
    assert has_orders(np.dtype(dtype)) == (unit > 0)


def test_structures_have_orders_where_a_field_has():
    assert has_orders(np.dtype([("a", "u1"), ("b", [("c", "<i2", (3,))])]))
    assert not has_orders(np.dtype([("a", "u1"), ("b", "S4", (2,))]))


@pytest.mark.parametrize("endian", [LITTLE, BIG])
def test_bfloat16_has_an_order(endian):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.arange(24).reshape(4, 6).astype(ml_dtypes.bfloat16)
    encoded, decoded = run(v3([endian], "bfloat16"), array)
    assert encoded[2:4] == (b"\x80\x3f" if endian is LITTLE else b"\x3f\x80")
    assert decoded.tobytes() == array.tobytes()


def test_counts():
    stage = Stage.of(np.dtype("i4"), (2, 3))
    assert stage.count == 6
    assert stage.viewed(np.dtype("i2")).shape == (12,)
    assert stage.flat(np.dtype("u1")).shape == (6,)
    assert stage.retyped(np.dtype("f8")) == Stage(np.dtype("f8"), (2, 3), 8)
    assert stage.as_bytes() == Stage(np.dtype("u1"), None, 4)
    assert Stage.of(np.dtype("i4"), (2, None)).count is None
    assert Stage.of(np.dtype("i4"), ()).count == 1
