"""Batches of chunks that somebody else has planned: what is asked for and what is given may be wrong in any way."""

import json
import struct
from types import SimpleNamespace

import numpy as np
import pytest

from blazarr.codecs import compile_chain
from blazarr.engine.chunks import ChunkEngine, chunk_spec
from blazarr.errors import BlazarrError, CorruptError
from blazarr.metadata import parse_array_v3

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
ZSTD = {"name": "zstd", "configuration": {"level": 0, "checksum": False}}
CRC = {"name": "crc32c"}
EMPTY = 2**64 - 1


def engine(codecs, chunk=(4,), shape=None):
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape or [4 * size for size in chunk]),
        "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk)}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": -1,
        "codecs": codecs,
    }
    metadata = parse_array_v3(json.dumps(document).encode(), "zarr.json")
    chain = compile_chain(metadata)
    return ChunkEngine(chunk_spec(metadata, chain.native, np.int32(-1).tobytes()), ())


def sharding(index=(LITTLE, CRC), inner=(LITTLE,), location="end"):
    configuration = {
        "chunk_shape": [1],
        "codecs": list(inner),
        "index_codecs": list(index),
        "index_location": location,
    }
    return engine([{"name": "sharding_indexed", "configuration": configuration}])


def item(chunk_selection, out_selection, shape=(4,), path="c/0", whole=False):
    return (
        SimpleNamespace(path=path),
        SimpleNamespace(shape=shape),
        chunk_selection,
        out_selection,
        whole,
    )


ALL = item((slice(None),), (slice(0, 4),))
TWO = item((slice(1, 3),), (slice(0, 2),))


@pytest.fixture
def plain():
    return engine([LITTLE])


@pytest.fixture
def room():
    return np.zeros(4, "i4")


def test_reads_what_it_is_given(plain, room):
    batch = plain.batch([ALL], room, ())
    assert batch.decode([np.arange(4, dtype="<i4").tobytes()]) == b"\1"
    assert room.tolist() == [0, 1, 2, 3]
    assert batch.decode([None]) == b"\0"
    assert room.tolist() == [-1] * 4


def test_no_chunks_are_no_work(plain, room):
    batch = plain.batch([], room, ())
    assert len(batch) == 0
    assert batch.decode([]) == b""
    assert batch.encode([]) == []


@pytest.mark.parametrize("size", [0, 1, 15, 17, 4096])
def test_chunks_of_another_size(plain, room, size):
    with pytest.raises(CorruptError):
        plain.batch([ALL], room, ()).decode([bytes(size)])


@pytest.mark.parametrize("data", [b"", b"x", bytes(40), b"(\xb5/\xfd" + b"\xff" * 12])
@pytest.mark.parametrize("wanted", [ALL, TWO], ids=["all", "part"])
def test_damaged_compressed_chunks(room, data, wanted):
    batch = engine([LITTLE, ZSTD]).batch([wanted], room, ())
    with pytest.raises(CorruptError):
        batch.decode([data])


def test_a_frame_that_claims_to_be_huge(room):
    """It must not be believed: a chunk has 16 bytes."""
    frame = b"(\xb5/\xfd\xe0" + struct.pack("<Q", 1 << 60) + b"\1\0\0"
    with pytest.raises(CorruptError):
        engine([LITTLE, ZSTD]).batch([ALL], room, ()).decode([frame])


def test_a_damaged_chunk_is_not_written_over_in_part(plain, room):
    batch = plain.batch([TWO], room, ())
    assert batch.partial() == [0]
    with pytest.raises(CorruptError):
        batch.encode([b"short"])


@pytest.mark.parametrize("count", [0, 2, 5])
def test_as_many_chunks_as_were_asked_for(plain, room, count):
    batch = plain.batch([ALL], room, ())
    for method in (batch.decode, batch.encode):
        with pytest.raises(ValueError, match=f"{count} chunks are given to a batch of 1"):
            method([None] * count)


@pytest.mark.parametrize("data", ["text", 5, object(), [1, 2], (b"", b"", b""), (b"index", 7)])
def test_what_is_no_bytes(plain, room, data):
    with pytest.raises((TypeError, ValueError, BufferError)):
        plain.batch([ALL], room, ()).decode([data])


@pytest.mark.parametrize("dtype", ["i1", "i8", "V3"])
def test_memory_of_another_item(plain, dtype):
    with pytest.raises(ValueError, match="the array's have 4"):
        plain.batch([ALL], np.zeros(4, dtype), ())


def test_memory_that_can_not_be_written(plain, room):
    room.flags.writeable = False
    batch = plain.batch([ALL], room, ())
    with pytest.raises(ValueError, match="read-only"):
        batch.decode([None])
    assert batch.encode([None], write_empty=True) == [bytes(16)]


NOT_UNDERSTOOD = {
    "a name": item(("x",), (slice(0, 4),)),
    "beyond the memory": item((slice(None),), (np.array([0, 1, 2, 4]),)),
    "a negative place": item((slice(None),), (np.array([0, 1, 2, -1]),)),
    "a negative index": item((np.array([-1, 0]),), (slice(0, 2),)),
    "more than there is room for": item((slice(None),), (slice(0, 3),)),
    "an axis too many in memory": item((slice(None),), (slice(0, 4), slice(0, 1))),
    "none": item((None,), (slice(0, 4),)),
    "a float": item((np.array([0.5, 1.5]),), (slice(0, 2),)),
    "two axes": item((np.zeros((2, 2), int),), (slice(0, 4),)),
    "nothing": item((slice(0, 0),), (slice(0, 0),)),
}


@pytest.mark.parametrize("asked", NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD)
def test_what_only_numpy_knows(plain, room, asked):
    assert plain.batch([asked], room, ()) is None


def test_axes_that_are_not_there_are_not_dropped(plain, room):
    found = plain.batch([item((np.array([0]),), ())], room, (7,))
    assert found is None


OUTSIDE = {
    "beyond the chunk": item((np.array([0, 4]),), (slice(0, 2),)),
    "far beyond the chunk": item((np.array([0, 2**62]),), (slice(0, 2),)),
    "an empty shape": item((slice(None),), (slice(0, 4),), shape=(0,)),
    "a rank too many": item((slice(None), slice(None)), (slice(0, 4), slice(0, 1)), shape=(4, 1)),
    "a huge chunk": item((slice(0, 4),), (slice(0, 4),), shape=(2**62,)),
}


@pytest.mark.parametrize("asked", OUTSIDE.values(), ids=OUTSIDE)
def test_what_lies_outside_is_refused(plain, room, asked):
    batch = plain.batch([asked], room, ())
    if batch is not None:
        with pytest.raises(BlazarrError):
            batch.decode([bytes(16)])
    assert room.tolist() == [0] * 4


@pytest.mark.parametrize(
    "batch",
    [[5], ["chunk"], [()], [ALL[:3]], [(*ALL[:1], SimpleNamespace(), *ALL[2:])]],
    ids=["number", "text", "nothing", "short", "no shape"],
)
def test_what_is_no_batch(plain, room, batch):
    with pytest.raises((TypeError, IndexError, AttributeError)):
        plain.batch(batch, room, ())


@pytest.mark.parametrize("shape", [(-4,), (2**64,), ("4",), 4, None])
def test_what_is_no_shape(plain, room, shape):
    with pytest.raises((TypeError, OverflowError)):
        plain.batch([item((slice(None),), (slice(0, 4),), shape=shape)], room, ())


@pytest.mark.parametrize("number", [1, 2**40])
def test_ranges_of_chunks_that_are_not_there(room, number):
    batch = sharding().batch([TWO], room, ())
    with pytest.raises(ValueError, match=f"there is no chunk {number}"):
        batch.ranges(number, bytes(68))


def indexed(*entries):
    return b"".join(struct.pack("<QQ", *entry) for entry in entries)


UNCHECKED = (LITTLE,)
PRESENT = [(0, 4), (4, 4), (8, 4), (12, 4)]

LYING = {
    "past the end": [(0, 4), (10**6, 4), (8, 4), (12, 4)],
    "longer than can be": [(0, 4), (4, 2**40), (8, 4), (12, 4)],
    "over the end of numbers": [(0, 4), (2**64 - 2, 2**64 - 2), (8, 4), (12, 4)],
    "of no length": [(0, 4), (4, 0), (8, 4), (12, 4)],
    "half absent": [(0, 4), (EMPTY, 4), (8, 4), (12, 4)],
    "absent by length": [(0, 4), (4, EMPTY), (8, 4), (12, 4)],
    "of another size": [(0, 4), (4, 3), (8, 4), (12, 4)],
}


@pytest.mark.parametrize("entries", LYING.values(), ids=LYING)
def test_lying_indexes_of_whole_shards(room, entries):
    shard = np.arange(4, dtype="<i4").tobytes() + indexed(*entries)
    with pytest.raises(CorruptError):
        sharding(UNCHECKED).batch([TWO], room, ()).decode([shard])


@pytest.mark.parametrize("entries", LYING.values(), ids=LYING)
def test_lying_indexes_of_shards_in_parts(room, entries):
    batch = sharding(UNCHECKED).batch([TWO], room, ())
    assert batch.index_ranges() == [(-64, None)]
    index = indexed(*entries)

    def read():
        wanted = batch.ranges(0, index)
        # A store gives no more than it has.
        parts = [(start, bytes(16)[start:stop]) for start, stop in wanted]
        batch.decode([(index, parts)])

    with pytest.raises(CorruptError):
        read()


def test_an_index_in_parts_that_is_right(room):
    batch = sharding(UNCHECKED).batch([TWO], room, ())
    index = indexed(*PRESENT)
    parts = [(start, struct.pack("<i", start)) for start, _ in batch.ranges(0, index)]
    assert batch.decode([(index, parts)]) == b"\1"
    assert room.tolist() == [4, 8, 0, 0]


@pytest.mark.parametrize("length", [0, 1, 63])
def test_indexes_that_are_too_short(room, length):
    batch = sharding(UNCHECKED).batch([TWO], room, ())
    with pytest.raises(BlazarrError):
        batch.ranges(0, bytes(length))


def test_indexes_with_a_wrong_checksum(room):
    batch = sharding().batch([TWO], room, ())
    with pytest.raises(CorruptError, match="checksum"):
        batch.ranges(0, indexed(*PRESENT) + bytes(4))


@pytest.mark.parametrize(
    "parts", [[], [(0, b"")], [(4, b"abc")], [(2**63, bytes(8))], [(4, bytes(8)), (4, b"")]]
)
def test_parts_that_were_not_asked_for(room, parts):
    batch = sharding(UNCHECKED).batch([TWO], room, ())
    try:
        batch.decode([(indexed(*PRESENT), parts)])
    except BlazarrError:
        return
    assert room.tolist() == [0] * 4


@pytest.mark.parametrize("location", ["start", "end"])
def test_shards_shorter_than_their_index(room, location):
    batch = sharding(location=location).batch([TWO], room, ())
    for length in (0, 10, 67):
        with pytest.raises(CorruptError):
            batch.decode([bytes(length)])
