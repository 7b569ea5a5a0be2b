"""Codecs of the extension registry that have chains of their own, or a library: N5 blocks, zarrs' codecs, zfp."""

import json
import struct
import sys
import types

import numpy as np
import pytest
import tensorstore

import blazarr
from blazarr.errors import CorruptError, MetadataError, UnknownCodecError, UnsupportedError
from blazarr.stores import MemoryStore

BIG = {"name": "bytes", "configuration": {"endian": "big"}}
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
GZIP = {"name": "gzip", "configuration": {"level": 1}}
GRID = np.arange(35, dtype="i4").reshape(5, 7)


def create(store, serializer, shape=GRID.shape, chunks=(4, 3), dtype="i4", **options):
    return blazarr.create_array(
        store,
        shape=shape,
        chunks=chunks,
        dtype=dtype,
        serializer=serializer,
        compressors=None,
        **options,
    )


def stored(store, key):
    return bytes(store.get(key)[0])


# N5.


def n5(*codecs, rank=2):
    transpose = {"name": "transpose", "configuration": {"order": list(range(rank))[::-1]}}
    return {"name": "n5_default", "configuration": {"codecs": [transpose, BIG, *codecs]}}


KEYS = {"chunk_key_encoding": {"name": "v2", "separator": "/"}}


@pytest.mark.parametrize("compressor", [[], [GZIP], [{"name": "zstd"}]])
def test_blocks_of_n5(compressor):
    store = MemoryStore()
    array = create(store, n5(*compressor), **KEYS)
    array[...] = GRID
    np.testing.assert_array_equal(array[...], GRID)
    assert stored(store, "0/0")[:12] == struct.pack(">HHII", 0, 2, 4, 3)
    array[1, 1:5] = -1
    assert array[1].tolist() == [7, -1, -1, -1, -1, 12, 13]
    reopened = blazarr.open_array(store, mode="r")
    assert reopened.metadata == array.metadata
    np.testing.assert_array_equal(reopened[::2, ::-1], array[...][::2, ::-1])


def test_tensorstore_reads_and_writes_the_same_blocks(tmp_path):
    metadata = {
        "dimensions": [5, 7],
        "blockSize": [4, 3],
        "dataType": "int32",
        "compression": {"type": "gzip", "level": 1},
    }
    kvstore = {"driver": "file", "path": str(tmp_path)}
    theirs = tensorstore.open(
        {"driver": "n5", "kvstore": kvstore, "metadata": metadata}, create=True
    ).result()
    theirs[...] = GRID
    ours = create(tmp_path, n5(GZIP), **KEYS)
    np.testing.assert_array_equal(ours[...], GRID)
    ours[...] = GRID + 1
    theirs = tensorstore.open({"driver": "n5", "kvstore": kvstore}).result()
    np.testing.assert_array_equal(theirs.read().result(), GRID + 1)


def block(shape, values, mode=0):
    header = struct.pack(f">HH{len(shape)}I", mode, len(shape), *shape)
    return header + np.asarray(values, ">i4").reshape(shape).T.tobytes()


def test_blocks_may_be_cut_off_or_padded():
    store = MemoryStore()
    array = create(store, n5(), **KEYS)
    store.put("1/0", block((1, 3), GRID[4:, :3]))
    store.put("0/2", block((5, 4), np.pad(GRID[:4, 6:], ((0, 1), (0, 3)))))
    assert array[4].tolist() == [28, 29, 30, 0, 0, 0, 0]
    np.testing.assert_array_equal(array[:4, 6], GRID[:4, 6])


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"\0\0\0\2", CorruptError),
        (block((4, 3, 1), range(12)), CorruptError),
        (block((4, 3), range(12))[:-1], CorruptError),
        (struct.pack(">HHII", 0, 2, 2**32 - 1, 2**32 - 1), CorruptError),
        (block((4, 3), range(12), mode=1), UnsupportedError),
    ],
)
def test_damaged_blocks(data, error):
    store = MemoryStore()
    array = create(store, n5(), **KEYS)
    store.put("0/0", data)
    with pytest.raises(error, match=r"n5_default|swap: 47 bytes"):
        _ = array[...]


@pytest.mark.parametrize(
    "codecs",
    [
        [BIG],
        [{"name": "transpose", "configuration": {"order": [0, 1]}}, BIG],
        [*n5()["configuration"]["codecs"], GZIP, GZIP],
    ],
)
def test_chains_that_n5_does_not_have(codecs):
    with pytest.raises(MetadataError, match="full transpose"):
        create({}, {"name": "n5_default", "configuration": {"codecs": codecs}})


# Optional.

OPTIONAL = {"name": "optional", "configuration": {"name": "int16", "configuration": {}}}


def optional(mask=({"name": "packbits"},), data=(LITTLE, GZIP), name="optional"):
    return {"name": name, "configuration": {"mask_codecs": list(mask), "data_codecs": list(data)}}


def create_optional(store, **options):
    return create(store, optional(**options), shape=(6,), chunks=(4,), dtype=OPTIONAL)


def test_items_that_may_be_missing():
    store = MemoryStore()
    array = create_optional(store)
    assert array[...].tolist() == [None] * 6
    array[1:5] = np.array([1, None, -3, 4], dtype=object)
    assert array[...].tolist() == [None, 1, None, -3, 4, None]
    array[4] = None
    assert list(store.keys()) == ["c/0", "zarr.json"]
    reopened = blazarr.open_array(store, mode="r")
    assert reopened[3] == np.int16(-3)
    assert reopened.metadata == array.metadata
    assert json.loads(stored(store, "zarr.json"))["data_type"] == OPTIONAL
    assert json.loads(stored(store, "zarr.json"))["fill_value"] is None


def test_a_fill_value_that_is_there():
    array = create({}, optional(), shape=(3,), chunks=(2,), dtype=OPTIONAL, fill_value=7)
    array[0] = None
    assert array[...].tolist() == [None, 7, 7]
    assert array.metadata.to_dict()["fill_value"] == [7]
    assert blazarr.open_array(array.store, mode="r").fill_value == 7


@pytest.mark.parametrize(
    "name", ["optional", "zarrs.optional", "https://codec.zarrs.dev/array_to_bytes/optional"]
)
def test_names_of_optional(name):
    assert create_optional({}, name=name)[0] is None


def test_files_of_zarrs(shared):
    folder = shared / "files/zarrs__zarrs/zarrs/tests/data/v3"
    array = blazarr.open_array(folder / "array_optional.zarr/array", mode="r")
    assert array[...].tolist() == [
        [0, None, 2, 3], [None, 5, None, 7], [8, 9, None, None], [12, None, None, None],
    ]  # fmt: skip
    copy = MemoryStore()
    copy.put("zarr.json", json.dumps(array.metadata.to_dict()).encode())
    blazarr.open_array(copy, mode="r+")[...] = array[...]
    for key in ("c/0/1", "c/1/0"):
        assert stored(copy, key) == (folder / "array_optional.zarr/array" / key).read_bytes()
    with pytest.raises(UnsupportedError, match="optional"):
        blazarr.open_array(folder / "array_optional_nested.zarr/array", mode="r")


@pytest.mark.parametrize(
    "data",
    [
        b"short",
        struct.pack("<QQ", 1, 2) + b"\x0f\0",
        struct.pack("<QQ", 2**63, 2**63),
        struct.pack("<QQ", 1, 2) + b"\x0f\0\0",
    ],
)
def test_damaged_masks_and_items(data):
    store = MemoryStore()
    array = create_optional(store, data=[LITTLE])
    store.put("c/0", data)
    with pytest.raises(CorruptError, match="optional"):
        _ = array[...]


def test_optional_goes_with_optional():
    with pytest.raises(MetadataError, match="not 'string'"):
        create({}, optional(), dtype=str, shape=(3,), chunks=(2,))[...] = "a"
    with pytest.raises(UnsupportedError, match=r"variable length|optional"):
        create({}, LITTLE, dtype=OPTIONAL, shape=(3,), chunks=(2,))[...] = 1


# zarrs' vlen.

TEXT = np.array(["a", "", "ccc", "dé"], dtype=object)


def vlen(location="start", kind="uint32", data=("bytes", GZIP)):
    configuration = {
        "index_codecs": [LITTLE, GZIP],
        "data_codecs": list(data),
        "index_data_type": kind,
        "index_location": location,
    }
    return {"name": "zarrs.vlen", "configuration": configuration}


@pytest.mark.parametrize("kind", ["uint32", "uint64"])
@pytest.mark.parametrize("location", ["start", "end"])
@pytest.mark.parametrize("dtype", [str, "variable_length_bytes"])
def test_items_with_an_index(dtype, location, kind):
    values = TEXT if dtype is str else np.array([item.encode() for item in TEXT], dtype=object)
    store = MemoryStore()
    array = create(store, vlen(location, kind), shape=(4,), chunks=(3,), dtype=dtype)
    array[...] = values
    assert array[...].tolist() == values.tolist()
    array[1:3] = values[:2]
    assert blazarr.open_array(store, mode="r")[...].tolist() == [*values[[0, 0, 1, 3]]]


def test_layout_of_the_index():
    store = MemoryStore()
    plain = {"name": "vlen", "configuration": {
        "index_codecs": [LITTLE], "data_codecs": ["bytes"], "index_data_type": "uint32",
    }}  # fmt: skip
    array = create(store, plain, shape=(3,), chunks=(3,), dtype=str)
    array[...] = TEXT[:3]
    index = np.array([0, 1, 1, 4], "<u4").tobytes()
    assert stored(store, "c/0") == (16).to_bytes(8, "little") + index + b"accc"


@pytest.mark.parametrize(
    "data",
    [
        b"1234567",
        (99).to_bytes(8, "little") + bytes(16),
        (16).to_bytes(8, "little") + np.array([0, 2, 1, 4], "<u4").tobytes() + b"accc",
        (16).to_bytes(8, "little") + np.array([0, 1, 1, 2**32 - 1], "<u4").tobytes() + b"accc",
        (16).to_bytes(8, "little") + np.array([0, 1, 1, 5], "<u4").tobytes() + b"accc",
        (12).to_bytes(8, "little") + np.array([0, 1, 1], "<u4").tobytes() + b"accc",
    ],
)
def test_damaged_indices(data):
    store = MemoryStore()
    plain = vlen()
    plain["configuration"] |= {"index_codecs": [LITTLE], "data_codecs": ["bytes"]}
    array = create(store, plain, shape=(3,), chunks=(3,), dtype=str)
    store.put("c/0", data)
    with pytest.raises(CorruptError, match=r"zarrs\.vlen"):
        _ = array[...]


def test_no_shards_inside():
    shard = {
        "name": "sharding_indexed",
        "configuration": {"chunk_shape": [2], "codecs": [LITTLE], "index_codecs": [LITTLE]},
    }
    with pytest.raises(UnsupportedError, match="shards inside"):
        create({}, vlen(data=[shard]), shape=(3,), chunks=(3,), dtype=str)


# zfp.


def zfp(mode="reversible", **options):
    return {"name": "zfp", "configuration": {"mode": mode, **options}}


@pytest.mark.parametrize(
    ("dtype", "codec", "tolerance"),
    [
        ("f4", zfp("fixed_accuracy", tolerance=0.05), 0.05),
        ("f8", zfp("fixed_rate", rate=32), 0.01),
        ("f4", zfp("fixed_precision", precision=24), 0.01),
        *((dtype, zfp(), 0) for dtype in ("f2", "f4", "f8", "i1", "u1", "i2", "u2", "i4", "i8")),
    ],
)
def test_zfp(dtype, codec, tolerance):
    pytest.importorskip("zfpy")
    array = create({}, codec, dtype=dtype)
    array[...] = GRID
    np.testing.assert_allclose(array[...].astype("f8"), GRID, atol=tolerance)


def test_zfp_needs_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "zfpy", None)
    with pytest.raises(UnsupportedError, match="pip install zfpy") as caught:
        create({}, zfp(), dtype="f4")[...] = 1
    assert caught.value.package == "zfpy"


@pytest.mark.parametrize("codec", [zfp("other"), zfp("fixed_rate"), zfp("fixed_rate", rate="1")])
def test_wrong_options_of_zfp(codec):
    with pytest.raises(MetadataError, match="zfp"):
        create({}, codec, dtype="f4")


def test_what_zfp_does_not_have(monkeypatch):
    monkeypatch.setitem(sys.modules, "zfpy", types.ModuleType("zfpy"))
    expert = zfp("expert", minbits=1, maxbits=16, maxprec=64, minexp=-1)
    for dtype, shape, codec in (("u4", (3,), zfp()), ("f4", (1,) * 5, zfp()), ("f4", (3,), expert)):
        with pytest.raises(UnsupportedError, match="zfp"):
            create({}, codec, shape=shape, chunks=shape, dtype=dtype)[...] = 1


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("zarrs.vlen_v2", "zarrs"),
        ("gribberish", "gribberish"),
        ("imagecodecs_jpeg2k", "imagecodecs-zarr"),
    ],
)
def test_codecs_that_other_packages_have(name, package):
    with pytest.raises(UnknownCodecError, match=f"{name}.*{package}") as caught:
        create({}, "bytes", dtype="u1", filters=[name])
    assert (caught.value.codec, caught.value.package) == (name, package)


# zarrs' squeeze.


@pytest.mark.parametrize(
    "name", ["zarrs.squeeze", "squeeze", "https://codec.zarrs.dev/array_to_array/squeeze"]
)
def test_axes_of_size_1_are_taken_out(name):
    data = np.arange(60, dtype="i4").reshape(6, 1, 10)
    turned = {"name": "transpose", "configuration": {"order": [1, 0]}}
    store = {}
    array = blazarr.create_array(
        store, shape=data.shape, chunks=(3, 1, 5), dtype="i4", compressors=None,
        filters=[{"name": name}, turned],
    )  # fmt: skip
    array[...] = data
    assert bytes(store["c/1/0/0"]) == data[3:, 0, :5].T.astype("<i4").tobytes()
    assert (blazarr.open_array(store)[::-2] == data[::-2]).all()
    chain = array.metadata.to_dict()["codecs"]
    assert chain[0] == {"name": "zarrs.squeeze"}


def test_squeeze_needs_chunks_of_one_size():
    with pytest.raises(UnsupportedError, match="rectilinear"):
        blazarr.create_array(
            {}, shape=(5,), chunks=[[2, 3]], dtype="i4", filters=[{"name": "zarrs.squeeze"}]
        )
