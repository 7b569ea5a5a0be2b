"""What other readers for GPUs get wrong, as tests of this one."""

import json
import struct

import numcodecs
import numpy as np
import pytest

import blazarr
from blazarr import _core
from blazarr.cuda.encode_waves import WaveWrite, chunks_of
from blazarr.cuda.encoding import encode_program_of
from blazarr.cuda.engine import WaveEngine
from blazarr.cuda.host import HostDevice
from blazarr.cuda.options import Options
from blazarr.cuda.program import program_of
from blazarr.cuda.wave import Target
from blazarr.cuda.waves import WaveRead, rows_of
from blazarr.errors import CorruptError
from blazarr.indexing import parse_getitem
from tests.unit.cuda.arrays import ALL, case, noise


def read(array, key=..., options=ALL):
    """A selection of an array of blazarr's, through waves on the host device."""
    device, place = HostDevice(), array.store_path
    engine = WaveEngine(
        device, options, array.metadata, place.store, place.path, config=array.config
    )
    selection = parse_getitem(key, array.shape)
    out = np.zeros(selection.flat_shape, engine.dtype)
    report = engine.start(selection, out.ctypes.data, out.strides).finish()
    assert device.allocated == 0
    return out.reshape(selection.result_shape), report


@pytest.mark.parametrize("cname", ["zstd", "lz4", "lz4hc", "zlib", "blosclz"])
@pytest.mark.parametrize("shuffle", [1, 2])
@pytest.mark.parametrize(("shape", "dtype"), [((300, 300, 10), "f4"), ((1000, 1000), "u2")])
def test_a_short_last_block_is_unshuffled_by_its_own_length(cname, shuffle, shape, dtype):
    data = noise(shape, dtype)
    codec = numcodecs.Blosc(cname=cname, clevel=5, shuffle=shuffle)
    store = {}
    array = blazarr.create_array(
        store, shape=shape, chunks=shape, dtype=dtype, zarr_format=2, compressors=codec
    )
    array[...] = 0
    key = ".".join(["0"] * len(shape))
    store[key] = codec.encode(data)
    out, report = read(array)
    assert (out == data).all()
    assert report.retried == 0
    assert report.device_rows == (cname != "blosclz")


def test_raw_blocks_and_stored_frames_of_blosc():
    rng = np.random.default_rng(1)
    data = noise((4, 100_000), "u4")
    data[1] = rng.integers(0, 1 << 32, 100_000, "u4")
    data[2, :50_000] = rng.integers(0, 1 << 32, 50_000, "u4")
    step = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4}
    for clevel in (0, 5):
        made = case(data, (1, 100_000), {"steps": [step | {"clevel": clevel}]})
        out, report = made.read()
        assert (out == data).all()
        assert (report.device_rows, report.retried) == (4, 0)
    small = case(data[:, :20], (1, 20), {"steps": [step]})
    assert (small.read()[0] == data[:, :20]).all()


SHARD = {
    "shape": (32, 32),
    "chunks": (8, 8),
    "shards": (16, 16),
    "dtype": "i4",
    "compressors": [{"name": "zstd", "configuration": {"level": 1, "checksum": False}}],
}


def test_a_damaged_index_and_a_damaged_chunk_are_found():
    data = noise((32, 32), "i4")
    store = {}
    checked = [*SHARD["compressors"], {"name": "crc32c"}]
    array = blazarr.create_array(store, **SHARD | {"compressors": checked})
    array[...] = data
    assert (read(array)[0] == data).all()
    for at in (-1, -30, 3):
        damaged = dict(store)
        shard = bytearray(damaged["c/0/1"])
        shard[at] ^= 1
        damaged["c/0/1"] = bytes(shard)
        with pytest.raises(CorruptError):
            read(blazarr.open_array(damaged))


def with_codecs(change):
    """An array of shards whose document was changed before data was written."""
    store = {}
    blazarr.create_array(store, **SHARD)
    document = json.loads(bytes(store["zarr.json"]))
    change(document["codecs"])
    store["zarr.json"] = json.dumps(document).encode()
    array = blazarr.open_array(store, mode="r+")
    array[...] = noise((32, 32), "i4")
    return store, array


def test_codecs_after_shards_are_undone():
    _, array = with_codecs(lambda codecs: codecs.append({"name": "crc32c"}))
    assert (read(array)[0] == noise((32, 32), "i4")).all()
    out, report = read(array, np.s_[5:20, ::3])
    assert (out == noise((32, 32), "i4")[5:20, ::3]).all()
    assert report.device_rows > 0


def test_an_index_in_big_endian_is_read_as_such():
    def change(codecs):
        codecs[0]["configuration"]["index_codecs"] = [
            {"name": "bytes", "configuration": {"endian": "big"}},
            {"name": "crc32c"},
        ]

    store, array = with_codecs(change)
    assert (read(array)[0] == noise((32, 32), "i4")).all()
    first = struct.unpack(">QQ", bytes(store["c/0/0"])[-68:-52])
    assert first[0] < 1 << 20


def test_complex_fill_values_fill():
    array = blazarr.create_array(
        {}, shape=(20, 20), chunks=(7, 7), dtype="c16", fill_value=1.5 - 2.25j
    )
    array[3:5, 3:5] = 7j
    out, report = read(array)
    expected = np.full((20, 20), 1.5 - 2.25j)
    expected[3:5, 3:5] = 7j
    assert (out == expected).all()
    assert report.absent_rows == 8


def test_offsets_go_past_four_gigabytes(tmp_path):
    # A sparse shard: the index points far behind, where the file is written.
    rows = 3
    data = np.arange(1, rows + 1, dtype="i8")
    chain = {"steps": [{"id": "zstd", "level": 1}]}
    single = case(data, (1,), chain)
    streams = [bytes(single.store.read(f"c/{n}")[0]) for n in range(rows)]
    store = _core.LocalStore(tmp_path)
    far = (1 << 32) + 12_345
    store.write("c/0", b"x")
    with (tmp_path / "c/0").open("r+b") as file:
        entries = []
        for n, stream in enumerate(streams):
            file.seek(far * n)
            file.write(stream)
            entries.append((far * n, len(stream)))
        file.write(b"".join(struct.pack("<QQ", *entry) for entry in entries))
    shard = {"shard": {"chunks": [1], "chain": chain, "at_end": True}}
    made = case(data, (rows,), shard, written=False, store=store)
    assert (made.read()[0] == data).all()


def test_huge_arrays_have_offsets_of_64_bits():
    # 2**40 elements, of which none is stored: rows are planned where anything is read.
    array = blazarr.create_array({}, shape=(1 << 40,), chunks=(1 << 20,), dtype="u1", fill_value=9)
    array[(1 << 39) + 5 : (1 << 39) + 9] = 1
    out, _ = read(array, np.s_[(1 << 39) : (1 << 39) + 12], Options(crossover=0, least_streams=0))
    assert out.tolist() == [9] * 5 + [1] * 4 + [9] * 3


def test_results_and_values_go_past_four_gigabytes():
    # Rows that lie 5 GiB apart in memory of which only these are ever touched.
    data = noise((3, 3000), "i4")
    chain = {"steps": [{"id": "shuffle", "elementsize": 4}, {"id": "zstd", "level": 1}]}
    made = case(data, (2, 1000), chain)
    apart = 5 << 30
    memory = np.zeros(2 * apart + 4 * 3000, "u1")
    sparse = np.ndarray(data.shape, "i4", memory, strides=(apart, 4))
    target = Target(sparse.ctypes.data, sparse.strides, 4, made.fill)
    device = HostDevice()
    read = WaveRead(device, program_of(chain, device.formats), ALL, target)
    selection = parse_getitem(..., data.shape).core()
    read.issue(rows_of(made.array, selection, sparse.strides, ALL))
    assert read.finish().device_rows == 6
    assert (sparse == data).all()
    again = case(data, (2, 1000), chain, written=False)
    program, undo = encode_program_of(chain, device.encodes), program_of(chain, device.formats)
    write = WaveWrite(device, program, undo, ALL, target, elide=True)
    write.run(chunks_of(again.array, selection, sparse.strides, ALL, program))
    assert write.report.device_rows == 6
    assert (again.on_cpu() == data).all()
