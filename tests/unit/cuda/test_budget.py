"""Small budgets, failures of each call, and damaged chunks."""

import itertools

import numpy as np
import pytest

from blazarr.cuda.host import DeviceCallError, HostDevice
from blazarr.cuda.options import Options
from blazarr.errors import ChunkMissingError, CorruptError, LimitError
from tests.unit.cuda.arrays import case, noise

ZSTD = {
    "steps": [{"id": "shuffle", "elementsize": 4}, {"id": "zstd", "level": 1, "checksum": True}]
}
BLOSC = {
    "steps": [
        {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4},
        {"id": "crc32c"},
    ]
}


def options(memory):
    return Options(memory=memory, crossover=0, least_streams=0)


def smallest(made):
    """The smallest budget that a read fits."""
    try:
        made.read(options=options(1))
    except LimitError as error:
        return error.size
    raise AssertionError("a byte was enough")


@pytest.mark.parametrize("chain", [ZSTD, BLOSC, {"steps": []}])
def test_a_budget_is_kept_and_small_ones_take_many_waves(chain):
    data = noise((64, 4096), "i4")
    made = case(data, (8, 512), chain)
    least = smallest(made)
    for memory in (least, 2 * least, 3 * least, 10 * least):
        device = HostDevice()
        out, report = made.read(np.s_[::-1, 3:], options=options(memory), device=device)
        assert (out == data[::-1, 3:]).all()
        assert device.peak <= memory
        assert report.retried == 0
        assert report.waves > 1 or memory > 3 * least
    assert made.read(options=options(least))[1].waves >= 64


@pytest.mark.parametrize("stay", [False, True])
@pytest.mark.parametrize("chain", [ZSTD, BLOSC])
def test_a_failed_call_leaks_nothing_and_gives_no_wrong_data(chain, stay):
    data = noise((40, 600), "i4")
    made = case(data, (8, 256), chain)
    memory = 3 * smallest(made)
    for number in itertools.count():
        device = HostDevice(fail_at=number, fail_on=stay)
        try:
            out, _ = made.read(np.s_[:, ::2], device=device, options=options(memory))
        except DeviceCallError:
            assert device.allocated == 0
            device.fail_at = None
            out, _ = made.read(np.s_[:, ::2], device=device, options=options(memory))
            assert (out == data[:, ::2]).all()
            continue
        assert number > 50
        assert device.calls <= number
        break


def damaged(made, key, at):
    stored = bytearray(made.store.read(key)[0])
    stored[at] ^= 0x10
    made.store.write(key, stored)


@pytest.mark.parametrize("chain", [ZSTD, BLOSC])
def test_damage_is_found_before_a_read_returns(chain):
    data = noise((40, 600), "i4")
    for at in (0, 5, 20, -3, -30):
        made = case(data, (8, 256), chain)
        damaged(made, "c/1/1", at)
        with pytest.raises(CorruptError) as caught:
            made.read()
        assert caught.value.key == "c/1/1"
        # The rest is as it was.
        assert (made.read(np.s_[16:])[0] == data[16:]).all()


def test_checksums_of_gzip_and_zlib_are_checked():
    data = noise((16, 4096), "u2")
    for name, at in (("gzip", -6), ("zlib", -2)):
        made = case(data, (16, 2048), {"steps": [{"id": name, "level": 1}]})
        damaged(made, "c/0/1", at)
        with pytest.raises(CorruptError):
            made.read()


def test_what_only_a_full_decoder_reads_is_left_to_the_cpu():
    data = noise((16, 4096), "u2")
    made = case(data, (16, 2048), {"steps": [{"id": "zstd", "level": 1}]})
    skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc"
    made.store.write("c/0/1", bytes(made.store.read("c/0/1")[0]) + skippable)
    out, report = made.read()
    assert (out == data).all()
    assert (report.host_rows, report.device_rows) == (1, 1)


def test_a_chunk_that_is_longer_encoded_than_decoded_finds_its_way():
    data = np.random.default_rng(0).integers(0, 1 << 32, (4, 40000), "u4")
    made = case(data, (4, 10000), {"steps": [{"id": "lz4", "acceleration": 1}]})
    out, report = made.read(options=options(smallest(made)))
    assert (out == data).all()
    assert report.device_rows + report.host_rows == 4


def test_missing_chunks_are_filled_or_refused():
    data = noise((30, 30), "f4")
    made = case(data, (7, 9), {"swap": 4, "steps": [{"id": "zstd", "level": 1}]}, fill=1.5)
    made.store.delete("c/1/2")
    expected = data.copy()
    expected[7:14, 18:27] = 1.5
    out, report = made.read()
    assert (out == expected).all()
    assert report.absent_rows == 1
    with pytest.raises(ChunkMissingError):
        made.read(missing_is_error=True)


def test_policies_decide_before_anything_is_read():
    data = noise((16, 4096), "u4")
    zstd = case(data, (16, 512), {"steps": [{"id": "zstd", "level": 1}]})
    blosc = case(data, (16, 512), BLOSC)
    plain = case(data, (16, 512), {"steps": []})
    gdeflate = case(
        data, (16, 512), {"steps": [{"id": "blocks", "codec": "gdeflate", "block": 4096}]}
    )

    def on_device(made, **kwargs):
        settings = {"crossover": 0, "least_streams": 0} | kwargs
        out, report = made.read(options=Options(memory=64 << 20, **settings))
        assert (out == data).all()
        return report.device_rows

    assert on_device(zstd) == on_device(blosc) == 8
    assert on_device(zstd, crossover=1 << 20) == on_device(blosc, crossover=1 << 20) == 0
    assert on_device(zstd, least_streams=9) == 0
    assert on_device(blosc, least_streams=9) == 8
    assert (on_device(zstd, strict=True), on_device(blosc, strict=True)) == (0, 8)
    assert on_device(plain, crossover=1 << 20, strict=True) == 8
    # The CPU decodes it too.
    assert on_device(gdeflate) == 8
    assert on_device(gdeflate, crossover=1 << 20) == on_device(gdeflate, strict=True) == 0
