"""Parts of chunks that no CPU decodes: read, changed and written by the device, beside other writers."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from blazarr.cuda.host import DeviceCallError, HostDevice
from blazarr.errors import ConflictError
from tests.unit.cuda.arrays import (
    ALL,
    BLOCKS,
    CHUNKS,
    KEYS,
    SHAPE,
    SHUFFLE,
    case,
    noise,
    smallest,
)


@pytest.mark.parametrize("swap", [0, 4])
@pytest.mark.parametrize("shards", [None, (74, 58)])
def test_parts_of_what_no_cpu_decodes_are_changed_on_the_device(shards, swap):
    chain = {"swap": swap, "steps": [SHUFFLE, BLOCKS | {"codec": "ans"}, {"id": "crc32c"}]}
    if shards:
        chain = {"shard": {"chunks": list(CHUNKS), "chain": chain, "at_end": True}}
    data = noise(SHAPE, "i4")
    made = case(data, shards or CHUNKS, chain, fill=9, written=False)
    expected = np.full(SHAPE, 9, "i4")
    for number, key in enumerate(KEYS):
        value = noise(expected[key].shape, "i4", seed=number) + 7
        options = ALL
        if number % 2 and value.size:
            options = replace(ALL, memory=smallest(made, key, value))
        report = made.write(key, value, options=options)
        expected[key] = value
        assert (made.read()[0] == expected).all(), key
        assert (report.host_rows, report.retried) == (0, 0)
    # What is empty afterwards is not stored.
    made.write(np.s_[3:90, 2:], 9)
    made.write(..., 9)
    assert made.store.read("c/0/0") is None


class Rival(HostDevice):
    """A device beside which another writer changes a chunk between the read and the write of some."""

    def __init__(self, interfere, times):
        super().__init__()
        self._interfere = interfere
        self.left = times

    def encode(self, format, batch, tuning, stream):
        super().encode(format, batch, tuning, stream)
        if self.left:
            self.left -= 1
            self._interfere()


@pytest.mark.parametrize("shards", [None, (74, 58)])
def test_a_change_of_another_writer_is_kept(shards):
    chain = {"steps": [SHUFFLE, BLOCKS | {"codec": "bitcomp"}]}
    if shards:
        chain = {"shard": {"chunks": list(CHUNKS), "chain": chain, "at_end": True}}
    data = noise(SHAPE, "i4")
    made = case(data, shards or CHUNKS, chain, written=False)
    made.write(..., data)
    rounds = iter(range(100))

    def interfere():
        made.write(np.s_[20, 30:50], next(rounds))

    device = Rival(interfere, times=3)
    report = made.write(np.s_[3:30, 7:70], 77, device=device)
    expected = data.copy()
    expected[20, 30:50] = 2
    expected[3:30, 7:70] = 77
    assert (made.read()[0] == expected).all()
    assert report.waves > 1
    # One that never stops is not waited for.
    with pytest.raises(ConflictError, match="other writers"):
        made.write(np.s_[3:30, 7:70], 78, device=Rival(interfere_for_ever(made), times=1000))
    assert (made.read(np.s_[3:20, 29:58])[0] == expected[3:20, 29:58]).all()


def interfere_for_ever(made):
    numbers = itertools.count(1000)
    return lambda: made.write(np.s_[20, 30:50], next(numbers))


@pytest.mark.parametrize("stay", [False, True])
def test_a_failed_call_leaves_old_chunks_or_new_ones(stay):
    data = noise((20, 30), "i4")
    made = case(data, (10, 16), {"steps": [BLOCKS | {"codec": "cascaded"}]}, written=False)
    expected, value = data.copy(), np.full((14, 20), 5, "i4")
    expected[3:17, 2:22] = value
    made.write(..., data)
    memory = smallest(made, np.s_[3:17, 2:22], value)
    for number in itertools.count():
        made.write(..., data)
        device = HostDevice(fail_at=number, fail_on=stay)
        try:
            made.write(np.s_[3:17, 2:22], value, device=device, options=replace(ALL, memory=memory))
        except DeviceCallError:
            assert device.allocated == 0
            found = made.read()[0]
            for row, column in itertools.product((0, 10), (0, 16)):
                part = np.s_[row : row + 10, column : column + 16]
                assert (found[part] == data[part]).all() or (found[part] == expected[part]).all()
            continue
        assert number > 50
        break
    assert (made.read()[0] == expected).all()
