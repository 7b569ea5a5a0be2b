"""Functions that create: arguments, defaults, copies."""

import json

import numpy as np
import pytest

import blazarr
from blazarr.codecs import BloscCodec, BytesCodec, GzipCodec, TransposeCodec, ZstdCodec
from blazarr.errors import ZarrRuntimeWarning


@pytest.fixture(params=[2, 3], ids=["v2", "v3"])
def zarr_format(request):
    return request.param


def document(array):
    return array.metadata.to_json()["zarr.json" if array.metadata.zarr_format == 3 else ".zarray"]


def test_create_array_needs_shape_and_type_or_data():
    for arguments in ({}, {"shape": (1,)}, {"dtype": "i4"}):
        with pytest.raises(ValueError, match="give"):
            blazarr.create_array({}, **arguments)
    with pytest.raises(ValueError, match="leave out"):
        blazarr.create_array({}, data=np.zeros(2), shape=(2,))


def test_create_array_takes_data(zarr_format):
    data = np.arange(12, dtype="u2").reshape(3, 4)
    array = blazarr.create_array({}, data=data, chunks=(2, 2), zarr_format=zarr_format)
    assert array.dtype == data.dtype
    assert (array[...] == data).all()
    empty = blazarr.create_array({}, data=data, write_data=False, zarr_format=zarr_format)
    assert (empty[...] == 0).all()
    assert blazarr.create_array({}, data=[[1, 2], [3, 4]])[...].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("chunks", "shape", "expected"),
    [
        (4, (10, 6), (4, 4)),
        ((4, -1), (10, 6), (4, 6)),
        (-1, (10, 6), (10, 6)),
        (False, (10,), (10,)),
        (np.array([2, 3]), (10, 6), (2, 3)),
        ("auto", (10, 6), (10, 6)),
    ],
)
def test_chunks(chunks, shape, expected):
    assert blazarr.create_array({}, shape=shape, dtype="u1", chunks=chunks).chunks == expected


@pytest.mark.parametrize("chunks", [0, False, (), np.int64(0), np.array([0]), np.array([])])
def test_create_takes_what_is_falsy_for_no_chunks_in_format_2(chunks):
    auto = blazarr.create_array({}, shape=(5000, 5000), dtype="i4", zarr_format=2).chunks
    array = blazarr.create((5000, 5000), store={}, dtype="i4", chunks=chunks, zarr_format=2)
    assert array.chunks == auto != (5000, 5000)
    with pytest.raises(ValueError, match="at least 1"):
        blazarr.create((5, 5), store={}, dtype="i4", chunks=np.array([0, 0]), zarr_format=2)


def test_rectilinear_chunks():
    array = blazarr.create_array({}, shape=(7, 4), dtype="u1", chunks=[[2, 4, 1], [4]])
    assert array.write_chunk_sizes == ((2, 4, 1), (4,))
    array[...] = np.arange(28).reshape(7, 4)
    assert (array[...] == np.arange(28).reshape(7, 4)).all()
    with pytest.raises(NotImplementedError):
        array.chunks  # noqa: B018
    assert "<variable>" in repr(array.info)


def test_shards():
    array = blazarr.create_array(
        {},
        shape=(16,),
        dtype="u1",
        chunks=(2,),
        shards={"shape": (8,), "index_location": "start"},
    )
    (codec,) = document(array)["codecs"]
    assert codec["configuration"]["index_location"] == "start"
    assert array.shards == (8,)
    with pytest.raises(ValueError, match="multiple"):
        blazarr.create_array({}, shape=(16,), dtype="u1", chunks=(2,), shards=(5,))


def test_codecs_of_format_3():
    array = blazarr.create_array(
        {},
        shape=(4, 4),
        dtype="i4",
        filters=[TransposeCodec(order=(1, 0))],
        serializer=BytesCodec(endian="big"),
        compressors=[GzipCodec(level=1)],
    )
    assert [codec["name"] for codec in document(array)["codecs"]] == ["transpose", "bytes", "gzip"]
    assert [codec.name for codec in array.filters] == ["transpose"]
    array[...] = np.arange(16).reshape(4, 4)
    assert array[1].tolist() == [4, 5, 6, 7]
    assert blazarr.create_array({}, shape=1, dtype="i4", compressors=None).compressors == ()


def test_new_arrays_carry_a_checksum():
    assert blazarr.create_array({}, shape=1, dtype="i4").compressors == (
        ZstdCodec(level=0, checksum=True),
    )
    with blazarr.config.set({"array.checksum": False}):
        assert blazarr.create_array({}, shape=1, dtype="i4").compressors == (
            ZstdCodec(level=0, checksum=False),
        )


def test_codecs_of_format_2():
    array = blazarr.create_array(
        {}, shape=4, dtype="i4", zarr_format=2, compressors=BloscCodec(cname="lz4", typesize=4)
    )
    assert document(array)["compressor"]["id"] == "blosc"
    for name, value in (("shards", (2,)), ("serializer", BytesCodec()), ("dimension_names", ["x"])):
        with pytest.raises(ValueError, match=name):
            blazarr.create_array({}, shape=4, dtype="i4", zarr_format=2, **{name: value})


def test_fill_values(zarr_format):
    array = blazarr.create_array({}, shape=2, dtype="f4", fill_value=1.5, zarr_format=zarr_format)
    assert array.fill_value == 1.5
    assert array[...].tolist() == [1.5, 1.5]
    default = blazarr.create_array({}, shape=2, dtype="f4", zarr_format=zarr_format)
    assert default.fill_value == 0
    none = blazarr.create_array({}, shape=2, dtype="f4", fill_value=None, zarr_format=zarr_format)
    assert none.fill_value == (None if zarr_format == 2 else 0)
    assert none[...].tolist() == [0, 0]


@pytest.mark.parametrize(
    "encoding",
    [
        {"name": "v2", "separator": "/"},
        {"name": "v2", "configuration": {"separator": "/"}},
        ("v2", "/"),
    ],
)
def test_chunk_keys(encoding, zarr_format):
    store = {}
    array = blazarr.create_array(
        store,
        shape=(2, 2),
        chunks=(1, 1),
        dtype="u1",
        chunk_key_encoding=encoding,
        zarr_format=zarr_format,
    )
    array[...] = 1
    assert {"0/0", "1/1"} < store.keys()
    assert array.nchunks_initialized == 4


def test_chunk_keys_of_format_2_are_its_own():
    with pytest.raises(ValueError, match="v2"):
        blazarr.create_array(
            {}, shape=1, dtype="u1", zarr_format=2, chunk_key_encoding={"name": "default"}
        )


def test_dimension_names():
    array = blazarr.create_array({}, shape=(1, 2), dtype="u1", dimension_names=("y", None))
    assert array.metadata.dimension_names == ("y", None)
    with pytest.raises(ValueError, match="dimension_names"):
        blazarr.create_array({}, shape=(1, 2), dtype="u1", dimension_names=("y",))


def test_order_is_of_format_2():
    assert blazarr.create_array({}, shape=(2, 2), dtype="u1", order="F", zarr_format=2).order == "F"
    with pytest.warns(ZarrRuntimeWarning, match="order"):
        blazarr.create_array({}, shape=(2, 2), dtype="u1", order="F")


def test_create_takes_the_order_of_format_2_from_the_configuration():
    array = blazarr.create((2, 2), zarr_format=2, config={"order": "F"})
    assert array.order == array.metadata.order == "F"
    assert array[...].flags.f_contiguous


def test_the_default_format_is_a_setting():
    with blazarr.config.set({"default_zarr_format": 2}):
        assert blazarr.zeros((1,)).metadata.zarr_format == 2
        assert blazarr.open_group(mode="a").metadata.zarr_format == 2
    assert blazarr.zeros((1,)).metadata.zarr_format == 3


def test_create_has_older_arguments(zarr_format):
    array = blazarr.create((4,), zarr_format=zarr_format)
    assert array.dtype == np.dtype("f8")
    array = blazarr.create((4,), chunk_shape=(2,), dtype="i4", data=range(4))
    assert array.chunks == (2,)
    assert array[...].tolist() == [0, 1, 2, 3]
    assert blazarr.create((4,), write_empty_chunks=True).config.write_empty_chunks
    with pytest.raises(ValueError, match="only one"):
        blazarr.create((4,), chunks=(2,), chunk_shape=(2,))
    with pytest.warns(ZarrRuntimeWarning, match="synchronizer"):
        blazarr.create((4,), synchronizer=object())
    with pytest.raises(TypeError, match="no_such_argument"):
        blazarr.create((4,), no_such_argument=1)


@pytest.mark.parametrize(
    ("zarr_format", "arguments"),
    [
        (3, {"filters": [{"id": "delta", "dtype": "<i4"}]}),
        (3, {"compressor": None, "dimension_separator": "."}),
        (2, {"codecs": [BytesCodec()]}),
        (2, {"chunk_key_encoding": ("v2", ".")}),
    ],
)
def test_create_keeps_the_formats_apart(zarr_format, arguments):
    with pytest.raises(ValueError, match="format"):
        blazarr.create((4,), dtype="i4", zarr_format=zarr_format, **arguments)


def test_create_takes_a_whole_chain():
    array = blazarr.create(
        (4,), dtype="i4", codecs=[{"name": "bytes", "configuration": {"endian": "big"}}, "crc32c"]
    )
    assert [codec["name"] for codec in document(array)["codecs"]] == ["bytes", "crc32c"]


def test_a_chain_in_the_wrong_order_is_refused():
    with pytest.raises(ValueError, match="order"):
        blazarr.create((4,), dtype="i4", codecs=["crc32c", "bytes"])


def test_filled_arrays():
    assert blazarr.zeros((2,))[...].tolist() == [0, 0]
    assert blazarr.ones(2, dtype="i4")[...].tolist() == [1, 1]
    assert blazarr.full((2,), 7)[...].tolist() == [7, 7]
    assert blazarr.empty((2,)).shape == (2,)


@pytest.mark.parametrize("target", [2, 3, None])
def test_like(zarr_format, target):
    source = blazarr.create_array(
        {},
        shape=(6, 4),
        chunks=(3, 2),
        dtype="i2",
        fill_value=5,
        compressors={"id": "zlib", "level": 1} if zarr_format == 2 else GzipCodec(level=1),
        zarr_format=zarr_format,
    )
    made = blazarr.empty_like(source, zarr_format=target)
    assert (made.shape, made.chunks, made.dtype) == ((6, 4), (3, 2), np.dtype("i2"))
    assert made.metadata.zarr_format == (target or zarr_format)
    assert made.fill_value == 5
    if target in (None, zarr_format):
        assert made.compressors == source.compressors
    assert blazarr.zeros_like(source)[0, 0] == 0
    assert blazarr.ones_like(source)[0, 0] == 1
    assert blazarr.full_like(source)[0, 0] == 5
    assert blazarr.full_like(source, fill_value=6)[0, 0] == 6
    assert blazarr.ones_like(np.zeros((2, 2), "f4"), chunks=(1, 1)).chunks == (1, 1)


def test_like_a_sharded_array():
    source = blazarr.create_array({}, shape=(8,), chunks=(2,), shards=(4,), dtype="i2")
    made = blazarr.zeros_like(source)
    assert (made.chunks, made.shards) == ((2,), (4,))


def test_open_like(tmp_path):
    source = blazarr.full((4,), 3, dtype="i4", chunks=(2,))
    made = blazarr.open_like(source, "x", store=tmp_path)
    assert (made.shape, made.chunks, made.fill_value) == ((4,), (2,), 3)
    made[...] = 1
    assert blazarr.open_like(source, "x", store=tmp_path)[...].tolist() == [1] * 4


def test_array(tmp_path):
    assert blazarr.array([1, 2, 3])[...].tolist() == [1, 2, 3]
    array = blazarr.array(np.arange(4), dtype="f4", chunks=(2,), store=tmp_path)
    assert array.dtype == np.dtype("f4")
    assert blazarr.array(array, store={})[...].tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        blazarr.array([1], read_only=True)


@pytest.mark.parametrize("target", [2, 3, None])
def test_from_array_keeps_what_it_can(tmp_path, zarr_format, target):
    names = ["y", "x"] if zarr_format == 3 else None
    source = blazarr.create_array(
        tmp_path / "source",
        shape=(6, 4),
        chunks=(3, 2),
        dtype="i2",
        fill_value=5,
        attributes={"a": [1]},
        chunk_key_encoding={"name": "v2", "separator": "/"},
        compressors={"id": "zlib", "level": 1} if zarr_format == 2 else GzipCodec(level=1),
        dimension_names=names,
        zarr_format=zarr_format,
    )
    source[:4] = np.arange(16).reshape(4, 4)
    made = blazarr.from_array(tmp_path / "made", data=source, zarr_format=target)
    assert (made[...] == source[...]).all()
    assert (made.chunks, made.fill_value) == ((3, 2), 5)
    assert made.attrs.asdict() == {"a": [1]}
    if target in (None, zarr_format):
        assert made.compressors == source.compressors
        assert made.metadata.chunk_key_encoding == source.metadata.chunk_key_encoding
        assert made.metadata.dimension_names == source.metadata.dimension_names


def test_from_array_keeps_shards_and_grids(tmp_path):
    source = blazarr.create_array(tmp_path / "a", shape=(8,), chunks=(2,), shards=(4,), dtype="i2")
    source[...] = np.arange(8)
    made = blazarr.from_array(tmp_path / "b", data=source)
    assert (made.chunks, made.shards) == ((2,), (4,))
    assert made[...].tolist() == list(range(8))
    uneven = blazarr.create_array(tmp_path / "c", data=np.arange(7), chunks=[[3, 4]])
    made = blazarr.from_array(tmp_path / "d", data=uneven)
    assert made.write_chunk_sizes == ((3, 4),)
    assert made[...].tolist() == list(range(7))
    # After a resize, the last shard reaches beyond the end.
    shards = blazarr.create_array(
        tmp_path / "e", shape=(10,), chunks=(1,), shards=[[5, 5]], dtype="i2"
    )
    shards[...] = np.arange(10)
    shards.resize((8,))
    made = blazarr.from_array(tmp_path / "f", data=shards)
    assert made.metadata.grid == shards.metadata.grid
    assert made[...].tolist() == list(range(8))


def test_from_array_takes_what_numpy_takes():
    assert blazarr.from_array({}, data=[1, 2]).chunks == (2,)
    assert blazarr.from_array({}, data=np.float32(2))[...] == 2
    assert blazarr.from_array({}, data=np.arange(3), write_data=False)[...].tolist() == [0, 0, 0]


def test_from_array_does_not_destroy_its_source(tmp_path):
    source = blazarr.create_array(tmp_path, name="a/x", data=np.arange(3))
    for name in ("a/x", "a", "a/x/y"):
        with pytest.raises(ValueError, match="overwritten"):
            blazarr.from_array(tmp_path, name=name, data=source, overwrite=True)
    assert source[...].tolist() == [0, 1, 2]


def test_large_copies_go_by_pieces(monkeypatch):
    monkeypatch.setattr("blazarr.nodes.creation.COPY_BYTES", 100)
    data = np.arange(30 * 40, dtype="i4").reshape(30, 40)
    source = blazarr.create_array({}, data=data, chunks=(7, 9))
    made = blazarr.from_array({}, data=source, chunks=(4, 11))
    assert (made[...] == data).all()


def test_create_group_and_group(tmp_path, zarr_format):
    made = blazarr.create_group(tmp_path, path="g", attributes={"a": 1}, zarr_format=zarr_format)
    assert made.attrs.asdict() == {"a": 1}
    with pytest.raises(blazarr.errors.ContainsGroupError):
        blazarr.create_group(tmp_path, path="g", zarr_format=zarr_format)
    assert blazarr.group(tmp_path, path="g").attrs.asdict() == {"a": 1}
    assert blazarr.group(tmp_path, path="g", overwrite=True).attrs.asdict() == {}
    with pytest.warns(ZarrRuntimeWarning, match="cache_attrs"):
        blazarr.group(tmp_path, cache_attrs=True)


def test_create_hierarchy(tmp_path):
    array = blazarr.zeros((2,), dtype="i4").metadata
    made = dict(blazarr.create_hierarchy(store=tmp_path, nodes={"a/x": array, "b/y": array}))
    assert sorted(made) == ["", "a", "a/x", "b", "b/y"]
    found = blazarr.open_group(tmp_path)
    assert sorted(path for path, _ in found.members(None)) == ["a", "a/x", "b", "b/y"]


def test_documents_are_those_of_zarr_python(tmp_path, zarr_format):
    zarr = pytest.importorskip("zarr")
    arguments = {
        "shape": (100, 50),
        "chunks": (10, 50),
        "dtype": "float32",
        "attributes": {"a": 1},
        "zarr_format": zarr_format,
    }
    with blazarr.config.set({"array.checksum": False}):
        blazarr.create_array(tmp_path / "ours", **arguments)
    zarr.create_array(tmp_path / "theirs", **arguments)
    for name in ("zarr.json",) if zarr_format == 3 else (".zarray", ".zattrs"):
        ours, theirs = (
            json.loads((tmp_path / who / name).read_text()) for who in ("ours", "theirs")
        )
        if zarr_format == 2:
            theirs["compressor"].pop("checksum", None) if "compressor" in theirs else None
        assert ours == theirs
