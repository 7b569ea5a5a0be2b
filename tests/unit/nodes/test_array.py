"""`Array`: what it says about itself, reading, writing, shape changes."""

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import blazarr
from blazarr.errors import BlazarrError, CorruptError, ReadOnlyError, SelectionError, StoreError

VALUES = np.arange(7 * 10, dtype="i4").reshape(7, 10)


@pytest.fixture
def array(store, zarr_format):
    made = blazarr.create_array(
        store, name="a/b", shape=(7, 10), chunks=(3, 4), dtype="i4", zarr_format=zarr_format
    )
    made[...] = VALUES
    return made


def reopened(array, mode="r"):
    return blazarr.open_array(
        array.store, path=array.path, mode=mode, zarr_format=array.metadata.zarr_format
    )


def test_describes_itself(array, zarr_format):
    assert array.shape == (7, 10)
    assert array.dtype == np.dtype("i4")
    assert array.ndim == 2
    assert array.size == 70
    assert array.nbytes == 280
    assert array.fill_value == 0
    assert array.order == "C"
    assert array.chunks == (3, 4)
    assert array.shards is None
    assert array.cdata_shape == (3, 3)
    assert array.nchunks == array.nchunks_initialized == 9
    assert array.read_chunk_sizes == array.write_chunk_sizes == ((3, 3, 1), (4, 4, 2))
    assert (array.path, array.name, array.basename) == ("a/b", "/a/b", "b")
    assert not array.read_only
    assert array.store is array.store_path.store
    assert array.metadata.zarr_format == zarr_format
    assert len(array) == 7
    assert 0 < array.nbytes_stored() < 5000


def test_describes_shards(tmp_path):
    array = blazarr.create_array(
        tmp_path, shape=(10, 10), chunks=(2, 5), shards=(4, 10), dtype="u1", fill_value=9
    )
    assert array.chunks == (2, 5)
    assert array.shards == (4, 10)
    assert array.cdata_shape == (5, 2)
    assert array.read_chunk_sizes == ((2,) * 5, (5, 5))
    assert array.write_chunk_sizes == ((4, 4, 2), (10,))
    array[0, 0] = 1
    assert array.nchunks_initialized == 4
    assert [codec.name for codec in array.compressors] == ["zstd"]
    assert array.serializer.name == "bytes"
    assert array.filters == ()


def test_describes_shards_behind_a_transpose(tmp_path):
    array = blazarr.create(
        (10, 12),
        store=tmp_path,
        chunks=(10, 6),
        dtype="u1",
        codecs=[
            {"name": "transpose", "configuration": {"order": [1, 0]}},
            {
                "name": "sharding_indexed",
                "configuration": {
                    "chunk_shape": [3, 5],
                    "codecs": [{"name": "bytes"}],
                    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                },
            },
        ],
    )
    assert array.chunks == (5, 3)
    assert array.shards == (10, 6)
    array[...] = np.arange(120).reshape(10, 12)
    assert (reopened(array)[...] == np.arange(120).reshape(10, 12)).all()


@pytest.mark.parametrize("wrong", [None, 0, [0, 2], [2], [2, 2, 2], ["2", 2], [1.0, 2]])
def test_shards_that_make_no_sense_are_errors(tmp_path, wrong):
    blazarr.create_array(tmp_path, shape=(4, 4), chunks=(2, 2), shards=(4, 4), dtype="u1")
    path = tmp_path / "zarr.json"
    document = json.loads(path.read_text())
    document["codecs"][0]["configuration"]["chunk_shape"] = wrong
    path.write_text(json.dumps(document))
    array = blazarr.open_array(tmp_path)
    for use in (
        lambda: array.chunks,
        lambda: array.nchunks,
        lambda: array.info,
        lambda: array[...],
    ):
        with pytest.raises(blazarr.errors.MetadataError, match="chunk_shape"):
            use()


def test_describes_codecs_of_format_2(tmp_path):
    array = blazarr.create_array(
        tmp_path,
        shape=(4,),
        dtype="i4",
        zarr_format=2,
        filters=[{"id": "delta", "dtype": "<i4"}],
        compressors={"id": "zlib", "level": 3},
    )
    assert len(array.filters) == 1
    assert array.compressor == array.compressors[0]
    assert array.serializer is None


def test_compressor_is_of_format_2_only(tmp_path):
    with pytest.raises(TypeError, match="format 3"):
        blazarr.zeros((1,), store=tmp_path).compressor  # noqa: B018


def test_info(array):
    text = repr(array.info)
    assert "Shape" in text
    assert "(7, 10)" in text
    assert "No. bytes stored" not in text
    complete = array.info_complete()
    assert complete.chunks_initialized == 9
    assert "Storage ratio" in repr(complete)


def test_repr_names_place_shape_and_type(array):
    assert repr(array) == f"<Array {array.store}/a/b shape=(7, 10) dtype=int32>"


def test_equality(array):
    assert reopened(array) == array
    assert array != reopened(array).metadata
    other = reopened(array, "r+")
    other.attrs["a"] = 1
    assert array != other
    with pytest.raises(TypeError):
        hash(array)


def test_what_an_array_gives_can_be_pickled(tmp_path):
    array = blazarr.create_array(tmp_path, data=np.arange(16).reshape(4, 4), chunks=(2, 2))
    array.attrs["a"] = 1
    again = {
        name: pickle.loads(pickle.dumps(getattr(array, name)))
        for name in ("attrs", "oindex", "vindex", "blocks", "info", "metadata", "store_path")
    }
    assert again["attrs"] == {"a": 1}
    assert again["oindex"][[0], [1]].tolist() == [[1]]
    assert again["vindex"][[0], [1]].tolist() == [1]
    assert again["blocks"][0, 1].tolist() == [[2, 3], [6, 7]]
    again["attrs"]["b"] = 2
    assert blazarr.open_array(tmp_path).attrs == {"a": 1, "b": 2}


def test_pickles(store, zarr_format):
    array = blazarr.create_array(store, shape=(3,), dtype="i4", zarr_format=zarr_format)
    array[...] = 5
    for clone in (pickle.loads(pickle.dumps(array)), copy.copy(array)):
        assert clone.config == array.config
        assert clone[...].tolist() == [5, 5, 5]


def test_is_an_array_for_numpy(array):
    assert (np.asarray(array) == VALUES).all()
    assert np.asarray(array, dtype="f8").dtype == np.dtype("f8")
    assert (np.array(array, copy=True) == VALUES).all()
    with pytest.raises(ValueError, match="copy"):
        np.array(array, copy=False)


def test_iterates_over_the_first_axis(array):
    assert [row.tolist() for row in array] == VALUES.tolist()
    scalar = blazarr.zeros(())
    with pytest.raises(TypeError):
        iter(scalar).__next__()
    with pytest.raises(TypeError):
        len(scalar)


@pytest.mark.parametrize(
    "key",
    [
        (),
        ...,
        3,
        -1,
        slice(1, 6),
        slice(None, None, -2),
        (slice(None), 3),
        (2, slice(8, 2, -3)),
        (..., 4),
        ([1, 5, 2], slice(None)),
        (VALUES % 3 == 0,),
        (np.array([0, 6, 6]), np.array([9, 0, 0])),
    ],
)
def test_brackets_read_as_numpy_does(array, key):
    expected = VALUES[key if isinstance(key, tuple) else (key,)]
    found = array[key]
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert (found == expected).all()


def test_the_other_selections(array):
    rows, columns = [4, 0, 4], np.array([True, False] * 5)
    assert (array.oindex[rows, columns] == VALUES[rows][:, columns]).all()
    assert (array.get_orthogonal_selection((rows, 2)) == VALUES[rows, 2]).all()
    points = (np.array([[0, 1], [2, 3]]), np.array([[9, 8], [7, 6]]))
    assert (array.vindex[points] == VALUES[points]).all()
    assert (array.get_coordinate_selection(points) == VALUES[points]).all()
    mask = VALUES % 7 == 1
    assert (array.vindex[mask] == VALUES[mask]).all()
    assert (array.get_mask_selection(mask) == VALUES[mask]).all()
    assert (array.blocks[1, 2] == VALUES[3:6, 8:]).all()
    assert (array.get_block_selection((slice(1, 3), 0)) == VALUES[3:, :4]).all()
    assert (array.get_basic_selection((2, slice(3))) == VALUES[2, :3]).all()
    assert (array.get_basic_selection() == VALUES).all()


def test_scalars_are_numpy_scalars(array):
    assert type(array[3, 4]) is np.int32
    assert array[3, 4] == VALUES[3, 4]
    assert type(blazarr.zeros((), dtype="f4")[()]) is np.float32


def test_writes_in_every_way(array):
    expected = VALUES.copy()

    def both(key, value):
        array[key] = value
        expected[key] = value

    both(0, 7)
    both((slice(2, 5), slice(1, 9, 3)), np.arange(9).reshape(3, 3))
    both((slice(None, None, -1), 3), np.arange(7))
    both((slice(5, 7), slice(None)), np.arange(10)[::-1])
    both((slice(1, 3), slice(0, 2)), [[1, 2], [3, 4]])
    array.oindex[[6, 1], 2:4] = [[-1, -2], [-3, -4]]
    expected[[6, 1], 2:4] = [[-1, -2], [-3, -4]]
    array.vindex[[0, 1], [5, 6]] = [50, 60]
    expected[[0, 1], [5, 6]] = [50, 60]
    mask = expected == 7
    array.vindex[mask] = np.arange(mask.sum())
    expected[mask] = np.arange(mask.sum())
    array.blocks[0, 1] = 99
    expected[:3, 4:8] = 99
    array.set_basic_selection((4, 4), 1)
    array.set_orthogonal_selection(([4], [5]), 2)
    array.set_coordinate_selection(([4], [6]), 3)
    array.set_mask_selection(expected == -4, 4)
    array.set_block_selection((2, 2), 5)
    expected[4, 4:7] = [1, 2, 3]
    expected[expected == -4] = 4
    expected[6:, 8:] = 5
    assert (reopened(array)[...] == expected).all()


def test_sources_of_any_kind(array):
    wide = np.arange(140, dtype="f8").reshape(7, 20)
    array[...] = wide[:, ::2]
    assert (array[...] == wide[:, ::2].astype("i4")).all()
    array[...] = VALUES.T.copy().T
    assert (array[...] == VALUES).all()
    array[...] = VALUES.astype(">i4")
    assert (array[...] == VALUES).all()
    array[...] = blazarr.array(VALUES + 1)
    assert (array[...] == VALUES + 1).all()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ((slice(0, 2), slice(0, 2)), np.ones((3, 2))),
        ((slice(0, 2), slice(0, 2)), np.ones(3)),
        (..., np.ones((7, 11))),
        ((slice(0, 2), 0), np.ones((2, 1))),
        ((np.array([1, 2]), np.array([1, 2])), np.ones(3)),
    ],
)
def test_a_value_of_the_wrong_shape_writes_nothing(array, key, value):
    with pytest.raises(SelectionError, match="nothing was written"):
        array[key] = value
    assert (array[...] == VALUES).all()


def test_a_value_that_does_not_convert_writes_nothing(array):
    with pytest.raises((TypeError, ValueError)):
        array[...] = "text"
    with pytest.raises(OverflowError):
        array[0] = 2**40
    assert (array[...] == VALUES).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_reads_into_an_array(array, order):
    out = np.zeros((7, 10), "i4", order)
    assert array.get_basic_selection(..., out=out) is out
    assert (out == VALUES).all()
    part = np.zeros((14, 30), "i4")
    array.get_basic_selection(..., out=part[::2, ::3])
    assert (part[::2, ::3] == VALUES).all()
    assert not part[1::2].any()


def test_reads_into_another_data_type(array):
    out = np.zeros((7, 10), "f8")
    array.get_basic_selection(..., out=out)
    assert (out == VALUES).all()
    with pytest.raises(TypeError, match="cast"):
        array.get_basic_selection(..., out=np.zeros((7, 10), "?"))


def test_reads_unfolded_points_into_an_array(array):
    points = (np.array([[0, 1], [2, 3]]), np.array([[9, 8], [7, 6]]))
    out = np.zeros((2, 2), "i4", "F")
    array.get_coordinate_selection(points, out=out)
    assert (out == VALUES[points]).all()


def test_out_has_to_fit(array):
    with pytest.raises(SelectionError, match="out has shape"):
        array.get_basic_selection(..., out=np.zeros((7, 9), "i4"))
    with pytest.raises(TypeError, match="out must be an array"):
        array.get_basic_selection(..., out=[1, 2])


def test_results_have_the_order_that_is_asked_for(array):
    assert array[...].flags.c_contiguous
    other = array.with_config({"order": "F"})
    if array.metadata.zarr_format == 3:
        assert other.order == "F"
        assert other[...].flags.f_contiguous
    assert (other[...] == VALUES).all()
    assert array.config.order == "C"


def test_missing_chunks_can_be_errors(store):
    array = blazarr.create_array(store, shape=(4,), chunks=(2,), dtype="i4", fill_value=3)
    assert array[...].tolist() == [3] * 4
    strict = array.with_config({"read_missing_chunks": False})
    with pytest.raises(blazarr.errors.ChunkMissingError):
        strict[...]


def test_empty_chunks_are_stored_only_when_asked_for(store):
    array = blazarr.create_array(store, shape=(4,), chunks=(2,), dtype="i4")
    array[...] = 0
    assert array.nchunks_initialized == 0
    array.with_config({"write_empty_chunks": True})[...] = 0
    assert array.nchunks_initialized == 2


def test_big_endian_arrays_look_so(store):
    values = np.arange(5, dtype=">i4")
    array = blazarr.create_array(store, data=values, zarr_format=2)
    assert array.dtype == np.dtype(">i4")
    assert array[...].dtype == np.dtype(">i4")
    assert array[...].tolist() == [0, 1, 2, 3, 4]
    assert array[2] == 2
    array[1:3] = [7, 8]
    out = np.zeros(5, ">i4")
    array.get_basic_selection(..., out=out)
    assert out.tolist() == [0, 7, 8, 3, 4]


RECORD = np.dtype([("a", "<i4"), ("b", "<f8"), ("c", "S3")])


@pytest.fixture
def records(store, zarr_format):
    values = np.array([(i, i / 2, f"s{i}") for i in range(6)], RECORD)
    return blazarr.create_array(store, data=values, chunks=(4,), zarr_format=zarr_format)


def test_fields_are_read(records):
    assert records["a"].tolist() == [0, 1, 2, 3, 4, 5]
    assert records["b", 1:3].tolist() == [0.5, 1.0]
    assert records[["c", "a"]].dtype.names == ("c", "a")
    assert records.get_basic_selection(slice(2), fields="c").tolist() == [b"s0", b"s1"]
    assert records.oindex["a", [5, 0]].tolist() == [5, 0]
    assert records[1].tolist() == (1, 0.5, b"s1")
    with pytest.raises(SelectionError, match="no field"):
        records["z"]


def test_fields_are_written(records):
    records["a", 1:3] = [10, 20]
    records["b"] = 1.5
    assert records["a"].tolist() == [0, 10, 20, 3, 4, 5]
    assert records["b"].tolist() == [1.5] * 6
    assert records["c"].tolist() == [b"s%d" % i for i in range(6)]


def test_resize(array):
    array.resize((4, 12))
    assert array.shape == (4, 12)
    expected = np.zeros((4, 12), "i4")
    expected[:, :10] = VALUES[:4]
    again = reopened(array, "r+")
    assert (again[...] == expected).all()
    again.shape = (4, 3)
    assert again.nchunks_initialized == 2
    again.resize((4, 12))
    assert (again[:, 4:] == 0).all()
    with pytest.raises(ValueError, match="dimension"):
        array.resize((4,))
    with pytest.raises(ValueError, match="negative"):
        array.resize((-1, 4))


def test_resize_applies_to_what_is_stored_now(array):
    reopened(array, "r+").attrs["theirs"] = 1
    array.resize((8, 10))
    assert array.attrs.asdict() == {"theirs": 1}
    assert reopened(array).shape == (8, 10)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_append(array, axis):
    more = VALUES[:2] if axis == 0 else VALUES[:, :3]
    assert array.append(more, axis=axis) == array.shape
    assert (reopened(array)[...] == np.concatenate([VALUES, more], axis)).all()


def test_append_refuses_what_does_not_fit(array):
    with pytest.raises(SelectionError, match="other axes"):
        array.append(np.zeros((2, 9)))
    with pytest.raises(SelectionError, match="other axes"):
        array.append(np.zeros(10))
    with pytest.raises(SelectionError, match="axis 2"):
        array.append(VALUES, axis=2)
    assert reopened(array).shape == (7, 10)


@pytest.mark.parametrize("handles", ["one", "own"])
def test_concurrent_appends_all_survive(store, zarr_format, handles):
    array = blazarr.create_array(
        store, shape=(0, 3), chunks=(4, 3), dtype="i4", zarr_format=zarr_format
    )

    def job(number):
        mine = array if handles == "one" else reopened(array, "r+")
        for _ in range(3):
            mine.append(np.full((2, 3), number))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(job, range(1, 9)))
    found = reopened(array)[...]
    assert found.shape == (48, 3)
    assert np.bincount(found[:, 0]).tolist() == [0] + [6] * 8
    if handles == "one":
        assert array.shape == (48, 3)


def test_threads_share_a_handle(array):
    def job(number):
        array[number] = number
        return array[number].tolist()

    with ThreadPoolExecutor(7) as pool:
        assert list(pool.map(job, range(7))) == [[n] * 10 for n in range(7)]
    assert (reopened(array)[...] == np.arange(7)[:, None]).all()


def test_read_only_arrays_refuse_changes(array):
    still = reopened(array)
    assert still.read_only
    with pytest.raises(ReadOnlyError):
        still[0] = 1
    with pytest.raises(ReadOnlyError):
        still.resize((1, 1))
    with pytest.raises(ReadOnlyError):
        still.append(VALUES)
    assert (array[...] == VALUES).all()


def test_an_array_with_unknown_codecs_can_be_described(tmp_path):
    array = blazarr.create_array(tmp_path, shape=(2,), dtype="i4")
    path = tmp_path / "zarr.json"
    path.write_text(path.read_text().replace('"zstd"', '"acme.squeeze"'))
    found = blazarr.open_array(tmp_path)
    assert found.shape == array.shape
    with pytest.raises(blazarr.errors.UnknownCodecError, match=r"acme\.squeeze"):
        found[...]


def test_from_dict(array):
    (name, document) = next(iter(array.metadata.to_json().items()))
    if name == ".zarray":
        document = {**document, "attributes": {"a": 1}}
    made = blazarr.Array.from_dict(array.store_path, document)
    assert (made[...] == VALUES).all()
    assert blazarr.Array.open(array.store_path) == array


def test_plan_is_a_table(tmp_path):
    array = blazarr.create_array(tmp_path, shape=(4, 6), chunks=(2, 3), dtype="i4")
    plan = array.plan((slice(None), 0))
    assert plan["key"] == ["c/0/0", "c/1/0"]
    assert plan["chunk"].tolist() == [[0, 0], [1, 0]]
    assert plan.rows == 2
    assert "c/1/0" in repr(plan)
    assert array.plan(...).rows == 4


def test_zero_length_axes(store, zarr_format):
    array = blazarr.create_array(
        store, shape=(0, 3), chunks=(2, 2), dtype="i4", zarr_format=zarr_format
    )
    assert array[...].shape == (0, 3)
    assert array.nchunks == 0
    assert list(array) == []
    array[...] = 1
    assert array.nchunks_initialized == 0


def test_arrays_without_axes(store, zarr_format):
    array = blazarr.create_array(store, shape=(), dtype="f8", zarr_format=zarr_format, fill_value=2)
    assert array[...] == 2
    array[...] = 3.5
    assert array[()] == 3.5
    assert array.nchunks == array.nchunks_initialized == 1
    assert np.asarray(array).shape == ()


def test_attributes_are_the_arrays_own():
    given = {"nested": [1]}
    source = blazarr.create_array({}, shape=(2,), dtype="i4", attributes=given)
    copy = blazarr.from_array({}, data=source)
    given["nested"].append(2)
    source.attrs["nested"].append(3)
    assert copy.attrs["nested"] == [1]
    assert blazarr.open_array(source.store).attrs["nested"] == [1]


def test_stores_with_equal_content_are_two_places():
    source = blazarr.create_array({}, name="a", data=np.arange(4))
    other = blazarr.create_array({}, name="a", data=np.arange(4))
    copy = blazarr.from_array(other.store, name="a", data=source, overwrite=True)
    assert copy[:].tolist() == [0, 1, 2, 3]
    with pytest.raises(blazarr.errors.BlazarrError, match="inside of"):
        blazarr.from_array(
            source.store.with_read_only(False), name="a", data=source, overwrite=True
        )


def test_annotations_may_have_a_parameter():
    assert blazarr.Array[int].__origin__ is blazarr.Array


def test_errors_of_chunks_and_documents_name_the_store(tmp_path):
    array = blazarr.create_array(tmp_path, shape=(4,), chunks=(2,), dtype="i4")
    array[:] = 1
    (tmp_path / "c" / "0").write_bytes(b"damaged")
    with pytest.raises(CorruptError, match="c/0") as damaged:
        array[:]
    (tmp_path / "c" / "1").unlink()
    (tmp_path / "c" / "1").mkdir()
    with pytest.raises(StoreError, match="c/1") as refused:
        array[:] = 2
    (tmp_path / "file").touch()
    with pytest.raises(StoreError) as impossible:
        blazarr.create_array(tmp_path / "file" / "x", shape=(4,), dtype="i4")
    assert str(impossible.value).startswith(f"file://{tmp_path.as_posix()}/file/x: ")
    for error in (damaged.value, refused.value):
        assert error.store == f"file://{tmp_path.as_posix()}"
        assert str(error).startswith(f"{error.store}: ")


@pytest.mark.parametrize("shape", [7, (7,), (7, 10, 1)])
def test_resizing_keeps_the_number_of_axes(array, shape):
    with pytest.raises(BlazarrError, match="the array has 2"):
        array.resize(shape)
    assert array.shape == (7, 10)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["u1", "<f8", ">i4", "U3", "M8[s]", [("a", "u1"), ("b", "<u4")]])
def test_large_results_begin_with_a_cache_line(dtype, order):
    shape = (3, 1 << 9, 1 << 10)
    values = np.arange(np.prod(shape)).astype("u1").astype(dtype).reshape(shape)
    array = blazarr.create_array(
        {}, shape=shape, dtype=values.dtype, chunks=(2, 200, 300), config={"order": order}
    )
    array[...] = values
    result = array[...]
    assert result.flags[f"{order}_CONTIGUOUS"]
    assert result.flags.writeable
    assert result.ctypes.data % 64 == 0
    assert result.dtype == values.dtype
    assert np.array_equal(result, values)
    result[0, 0, 0] = result[1, 1, 1]


@pytest.mark.parametrize(
    ("mebibytes", "unit"), [(1, 64), (2, 2 << 20), (2.5, 64), (3.75, 2 << 20), (17, 2 << 20)]
)
def test_results_of_whole_huge_pages_begin_with_one(mebibytes, unit):
    size = int(mebibytes * (1 << 20))
    array = blazarr.create_array({}, shape=size, dtype="u1", chunks=1 << 18, fill_value=3)
    result = array[...]
    assert result.ctypes.data % unit == 0
    assert result.base.nbytes == size + unit
    assert (result == 3).all()
