"""Writes through the wave executor over the host device, read back by the core, and by numcodecs."""

import itertools

import numcodecs
import numpy as np
import pytest

from blazarr.cuda.host import DeviceCallError, HostDevice
from blazarr.cuda.options import Options
from blazarr.errors import BlazarrError, CorruptError, LimitError, UnsupportedError
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

BLOSC = {"id": "blosc", "clevel": 5, "typesize": 4, "blocksize": 2048}
CHAINS = {
    "zstd": {"steps": [{"id": "zstd", "level": 1}]},
    "zstd checked": {"steps": [SHUFFLE, {"id": "zstd", "level": 1, "checksum": True}]},
    "gzip": {"steps": [{"id": "gzip", "level": 1}]},
    "zlib": {"steps": [SHUFFLE, {"id": "zlib", "level": 1}]},
    "lz4 crc32c": {"steps": [SHUFFLE, {"id": "lz4", "acceleration": 1}, {"id": "crc32c"}]},
    "delta": {
        "steps": [
            {"id": "delta", "dtype": "<i4", "astype": "<i4"},
            SHUFFLE,
            {"id": "zstd", "level": 1},
        ]
    },
    "swap": {"swap": 4, "steps": [SHUFFLE, {"id": "zstd", "level": 1}]},
    "swap inside": {"steps": [{"id": "swap", "size": 4}, {"id": "lz4", "acceleration": 1}]},
    "transposed": {"order": [1, 0], "steps": [{"id": "zstd", "level": 1}]},
    "snappy": {"steps": [SHUFFLE, BLOCKS | {"codec": "snappy"}]},
    "deflate": {"steps": [BLOCKS | {"codec": "deflate"}]},
    "gdeflate": {"steps": [SHUFFLE, BLOCKS | {"codec": "gdeflate"}, {"id": "crc32c"}]},
    "blosc lz4": {"steps": [BLOSC | {"cname": "lz4", "shuffle": "shuffle"}]},
    "blosc lz4hc": {"steps": [BLOSC | {"cname": "lz4hc", "shuffle": "noshuffle"}]},
    "blosc zstd": {"steps": [BLOSC | {"cname": "zstd", "shuffle": "bitshuffle"}]},
    "blosc snappy": {"steps": [BLOSC | {"cname": "snappy", "shuffle": "shuffle"}]},
    "blosc blocks": {
        "swap": 4,
        "steps": [
            {"id": "delta", "dtype": "<i4", "astype": "<i4"},
            BLOSC | {"cname": "zstd", "shuffle": "bitshuffle", "blocksize": 1000, "typesize": 12},
            {"id": "crc32c"},
        ],
    },
}
ON_CPU = {
    "plain": {"steps": []},
    "plain swapped": {"swap": 4, "steps": []},
    "blosclz": {"steps": [BLOSC | {"cname": "blosclz", "shuffle": "shuffle"}]},
    "blosc zlib": {"steps": [BLOSC | {"cname": "zlib", "shuffle": "shuffle"}]},
    "blosc stored": {"steps": [BLOSC | {"cname": "lz4", "shuffle": "shuffle", "clevel": 0}]},
}
DEVICE_ONLY = ["ans", "bitcomp", "cascaded"]


def empty(chain, **kwargs):
    data = noise(SHAPE, "i4")
    return data, case(data, CHUNKS, chain, written=False, **kwargs)


@pytest.mark.parametrize("name", [*CHAINS, *ON_CPU])
def test_what_is_written_is_read_by_the_core(name):
    chain = (CHAINS | ON_CPU)[name]
    data, made = empty(chain)
    report = made.write(..., data)
    on_device = name in CHAINS
    assert (report.device_rows, report.host_rows) == ((15, 0) if on_device else (0, 15))
    assert report.retried == 0
    assert (made.on_cpu() == data).all()
    assert (made.read()[0] == data).all()


@pytest.mark.parametrize("codec", DEVICE_ONLY)
def test_what_no_cpu_decodes_comes_back_on_the_device(codec):
    data, made = empty({"steps": [SHUFFLE, BLOCKS | {"codec": codec}, {"id": "crc32c"}]})
    assert made.write(..., data).device_rows == 15
    out, report = made.read(np.s_[::-3, 7:])
    assert (out == data[::-3, 7:]).all()
    assert (report.retried, report.host_rows) == (0, 0)
    with pytest.raises(UnsupportedError):
        made.on_cpu()


FILTERS = {
    "scale": (numcodecs.FixedScaleOffset(-4.5, 100, "<f4", "<i2"), "f4"),
    "scale wide": (numcodecs.FixedScaleOffset(1, 3, "<f4", "<i8"), "f4"),
    "scale floats": (numcodecs.FixedScaleOffset(0.5, 10, "<f8", "<f4"), "f8"),
    "round": (numcodecs.BitRound(9), "f4"),
}


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("compressor", [{"id": "zstd", "level": 1, "checksum": True}, BLOCKS])
def test_filters_give_the_bits_of_numcodecs(name, compressor):
    codec, dtype = FILTERS[name]
    step = {k: v for k, v in codec.get_config().items() if k != "id"}
    step = {"id": codec.codec_id} | step
    if codec.codec_id == "bitround":
        step["itemsize"] = 4
    last = compressor if compressor["id"] == "zstd" else BLOCKS | {"codec": "snappy"}
    data = np.random.default_rng(1).uniform(-20, 20, SHAPE).astype(dtype)
    shuffle = SHUFFLE | {"elementsize": codec.encode(data).itemsize}
    made = case(data, CHUNKS, {"steps": [step, shuffle, last]}, written=False)
    small = Options(memory=smallest(made, ..., data), crossover=0, least_streams=0)
    report = made.write(..., data, options=small)
    assert (report.device_rows, report.host_rows, report.retried) == (15, 0, 0)
    expected = codec.decode(codec.encode(data)).view(dtype).reshape(SHAPE)
    assert made.on_cpu().tobytes() == expected.tobytes()
    assert made.read()[0].tobytes() == expected.tobytes()


def test_chunks_that_are_no_whole_elements_are_refused_as_on_the_cpu():
    chain = {"steps": [SHUFFLE, {"id": "zstd", "level": 1}]}
    made = case(noise((10, 3), "u2"), (1, 3), chain, written=False)
    with pytest.raises(BlazarrError, match="no whole number"):
        made.write(..., made.data)


@pytest.mark.parametrize("cname", ["lz4", "zstd"])
@pytest.mark.parametrize("shuffle", ["noshuffle", "shuffle", "bitshuffle"])
@pytest.mark.parametrize("dtype", ["u1", "u2", "i4", "f8"])
def test_numcodecs_reads_frames_of_blosc(cname, shuffle, dtype):
    size = np.dtype(dtype).itemsize
    step = {"id": "blosc", "cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": size}
    # A block of its own length at the end; of the second row, one that does not compress.
    data = noise((2, 70_001), dtype)
    data[1, : 20_000 // size] = np.random.default_rng(0).integers(0, 250, 20_000 // size)
    made = case(data, (1, 70_001), {"steps": [step]}, written=False)
    assert made.write(..., data).device_rows == 2
    for row in range(2):
        frame = bytes(made.store.read(f"c/{row}/0")[0])
        found = np.frombuffer(numcodecs.Blosc().decode(frame), dtype)
        assert (found == data[row]).all()
        assert len(frame) < data[row].nbytes
    small = case(data[:, :20], (1, 20), {"steps": [step]}, written=False)
    small.write(..., data[:, :20])
    frame = bytes(small.store.read("c/1/0")[0])
    assert (np.frombuffer(numcodecs.Blosc().decode(frame), dtype) == data[1, :20]).all()
    assert (small.on_cpu() == data[:, :20]).all()


@pytest.mark.parametrize("codec", DEVICE_ONLY)
def test_damage_that_only_a_device_sees_names_the_chunk(codec):
    data, made = empty({"steps": [BLOCKS | {"codec": codec}]})
    made.write(..., data)
    for at, value in ((32, 0), (0, 7), (12, 255), (8, 255)):
        stored = bytearray(made.store.read("c/1/1")[0])
        stored[at] = value
        made.store.write("c/1/2", stored)
        with pytest.raises(CorruptError) as caught:
            made.read()
        assert caught.value.key == "c/1/2"


def test_numcodecs_reads_the_frames():
    codecs = {
        "zstd": numcodecs.Zstd(),
        "gzip": numcodecs.GZip(),
        "zlib": numcodecs.Zlib(),
        "lz4": numcodecs.LZ4(),
    }
    data = noise((4, 10_000), "u2")
    for name, codec in codecs.items():
        key = "acceleration" if name == "lz4" else "level"
        made = case(data, (1, 10_000), {"steps": [{"id": name, key: 1}]}, written=False)
        assert made.write(..., data).device_rows == 4
        for row in range(4):
            found = np.frombuffer(codec.decode(bytes(made.store.read(f"c/{row}/0")[0])), "u2")
            assert (found == data[row]).all()


@pytest.mark.parametrize(
    "name", ["zstd checked", "swap", "plain", "transposed", "blosc lz4", "gdeflate"]
)
@pytest.mark.parametrize("shards", [None, (74, 58)])
def test_selections_are_written_as_numpy_writes_them(name, shards):
    chain = (CHAINS | ON_CPU)[name]
    if shards:
        outer = {"shard": {"chunks": [37, 29], "chain": chain, "at_end": True}}
        data = noise(SHAPE, "i4")
        made = case(data, shards, outer)
    else:
        data, made = empty(chain)
        made.write(..., data)
    expected = data.copy()
    for number, key in enumerate(KEYS):
        value = noise(expected[key].shape, "i4", seed=number) + 7
        made.write(key, value)
        expected[key] = value
        assert (made.on_cpu() == expected).all(), key
        made.write(key, -number)
        expected[key] = -number
        assert (made.on_cpu() == expected).all(), key


def test_shards_in_shards_and_codecs_after_them():
    inner = {"steps": [SHUFFLE, {"id": "zstd", "level": 1}]}
    middle = {"shard": {"chunks": [4, 8], "chain": inner, "at_end": False}}
    outer = {
        "shard": {"chunks": [8, 16], "chain": middle, "at_end": True},
        "steps": [{"id": "crc32c"}],
    }
    data = noise((50, 70), "i4")
    made = case(data, (16, 32), outer, written=False)
    report = made.write(np.s_[3:, 5:], data[3:, 5:])
    expected = data.copy()
    expected[:3], expected[:, :5] = 0, 0
    assert (made.on_cpu() == expected).all()
    assert report.device_rows > 0
    assert report.host_rows > 0


@pytest.mark.parametrize("name", ["zstd", "lz4 crc32c", "blosclz"])
def test_chunks_of_the_fill_value_are_not_stored(name):
    data = noise(SHAPE, "i4")
    data[37:74, 29:58] = 9
    data[74:, 87:] = 9
    for elide in (True, False):
        made = case(data, CHUNKS, (CHAINS | ON_CPU)[name], fill=9, written=False)
        made.store.write("c/1/1", b"old")
        made.write(..., data, elide=elide)
        assert [made.store.read(key) is None for key in ("c/1/1", "c/2/3", "c/0/0")] == [
            elide,
            elide,
            False,
        ]
        assert (made.on_cpu() == data).all()


def test_data_that_does_not_compress_is_written():
    data = np.random.default_rng(0).integers(-(1 << 31), 1 << 31, SHAPE, "i4")
    for name, chain in CHAINS.items():
        made = case(data, CHUNKS, chain, written=False)
        report = made.write(..., data)
        assert (made.on_cpu() == data).all(), name
        assert report.device_rows + report.host_rows == 15


@pytest.mark.parametrize("name", ["zstd checked", "snappy", "plain"])
def test_budgets_are_kept_and_small_ones_take_many_waves(name):
    data, made = empty((CHAINS | ON_CPU)[name])
    least = smallest(made, ..., data)
    for memory in (least, 2 * least, 3 * least, 20 * least):
        device = HostDevice()
        options = Options(memory=memory, crossover=0, least_streams=0)
        report = made.write(..., data, options=options, device=device)
        assert device.peak <= memory
        assert (made.on_cpu() == data).all()
        assert report.waves > 1 or memory > 3 * least
    device = HostDevice()
    pinned = Options(pinned=1, crossover=0, least_streams=0)
    with pytest.raises(LimitError, match="pinned") as caught:
        made.write(..., data, options=pinned)
    made.write(
        ...,
        data,
        options=Options(pinned=caught.value.size, crossover=0, least_streams=0),
        device=device,
    )
    assert device.peak_pinned <= caught.value.size


@pytest.mark.parametrize("stay", [False, True])
@pytest.mark.parametrize("name", ["zstd checked", "deflate"])
def test_a_failed_call_leaks_nothing_and_leaves_whole_chunks(name, stay):
    old = noise(SHAPE, "i4", seed=1)
    data, made = empty(CHAINS[name])
    memory = 3 * smallest(made, ..., data)
    options = Options(memory=memory, crossover=0, least_streams=0)
    for number in itertools.count():
        made.write(..., old)
        device = HostDevice(fail_at=number, fail_on=stay)
        try:
            made.write(np.s_[5:], data[5:], device=device, options=options)
        except DeviceCallError:
            assert device.allocated == 0
            found = made.on_cpu()
            assert (found[:5] == old[:5]).all()
            for row, column in itertools.product(range(3), range(5)):
                part = np.s_[37 * row + 5 : 37 * row + 37, 29 * column : 29 * column + 29]
                assert (found[part] == old[part]).all() or (found[part] == data[part]).all()
            continue
        assert number > 50
        assert (made.on_cpu()[5:] == data[5:]).all()
        break


class Faulty(HostDevice):
    """A device whose encoder fails at some streams, or makes nonsense."""

    def encode(self, format, batch, tuning, stream):
        super().encode(format, batch, tuning, stream)
        from blazarr.cuda.hostcodecs import at

        def spoil():
            at(batch.statuses, batch.count, "i4")[::3] = 10
            for address in at(batch.targets, batch.count, "u8")[1::3].tolist():
                at(address, 8, "u1")[:] = 0xFF

        stream.work.append(spoil)


@pytest.mark.parametrize("name", ["zstd", "gzip"])
def test_what_the_device_could_not_encode_the_core_does(name):
    data, made = empty(CHAINS[name])
    report = made.write(..., data, device=Faulty())
    assert (made.on_cpu() == data).all()
    assert (report.device_rows, report.host_rows, report.retried) == (5, 10, 10)


def test_policies_decide_what_the_core_encodes():
    data = noise((16, 4096), "u4")
    made = case(data, (16, 512), {"steps": [{"id": "zstd", "level": 1}]}, written=False)

    def on_device(**kwargs):
        options = Options(**{"crossover": 0, "least_streams": 0} | kwargs)
        report = made.write(..., data, options=options)
        assert (made.on_cpu() == data).all()
        return report.device_rows

    assert on_device() == 8
    assert on_device(crossover=1 << 20) == 0
    assert on_device(least_streams=9) == 0


def test_floats_and_fill_values_keep_their_bits():
    data = np.linspace(-1, 1, 12_000).reshape(100, 120)
    data[3, 4], data[5, 6], data[90:, 90:] = np.nan, -0.0, 1.5
    chain = {"swap": 8, "steps": [{"id": "shuffle", "elementsize": 8}, {"id": "zstd", "level": 1}]}
    made = case(data, CHUNKS, chain, fill=1.5, written=False)
    assert made.write(..., data, options=ALL).absent_rows == 0
    assert made.on_cpu().tobytes() == data.tobytes()
    assert made.write(np.s_[74:, 87:], 1.5).absent_rows == 2
    assert made.store.read("c/2/4") is None
