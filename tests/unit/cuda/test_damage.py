"""Chunks damaged anywhere: the same data as on the CPU, or an error where it has one."""

import os

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blazarr import _core
from blazarr.errors import BlazarrError, LimitError
from blazarr.indexing import parse_getitem
from tests.unit.cuda.arrays import case, noise
from tests.unit.cuda.test_waves import CHAINS

DATA = noise((37, 290), "i4")


def on_cpu(made):
    out = np.zeros(made.data.shape, made.data.dtype)
    made.array.read(parse_getitem(..., out.shape).core(), out)
    return out


def outcome(read):
    try:
        return read().tolist()
    except BlazarrError as error:
        return type(error), error.kind, error.key, str(error)


@given(st.data())
def test_a_damaged_chunk_is_read_as_on_the_cpu(data):
    chain = CHAINS[data.draw(st.sampled_from(sorted(set(CHAINS) - {"plain", "packbits"})))]
    made = case(DATA, (37, 29), chain)
    key = f"c/0/{data.draw(st.integers(0, 9))}"
    stored = bytearray(made.store.read(key)[0])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(stored) - 1) | st.integers(0, min(40, len(stored) - 1)))
        stored[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.none() | st.integers(0, len(stored)))
    made.store.write(key, bytes(stored[:cut]))
    assert outcome(lambda: made.read()[0]) == outcome(lambda: on_cpu(made))


def test_a_file_that_is_far_too_long_is_refused_as_on_the_cpu(tmp_path):
    made = case(DATA, (37, 29), CHAINS["zstd"], store=_core.LocalStore(str(tmp_path)))
    os.truncate(tmp_path / "c/0/3", 100 << 20)
    refused = outcome(lambda: on_cpu(made))
    assert refused[0] is LimitError
    assert outcome(lambda: made.read()[0]) == refused
