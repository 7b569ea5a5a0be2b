"""Converting arrays and hierarchies: values, metadata, and what is refused."""

import numpy as np
import pytest
import zarr

import blazarr
from blazarr.conversion import Plan
from blazarr.errors import (
    BlazarrError,
    ChunkMissingError,
    ContainsArrayError,
    CorruptError,
    ExistsError,
    GroupNotFoundError,
    LimitError,
    MetadataError,
    ReadOnlyError,
)

VALUES = np.random.default_rng(5).integers(0, 99, (37, 20, 11)).astype("u2")


def made(store=None, **options):
    store = {} if store is None else store
    options = {"chunks": (8, 6, 11), "attributes": {"unit": "m"}, **options}
    blazarr.create_array(store, data=VALUES, **options)
    return store


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"chunks": (5, 20, 3)},
        {"chunks": 4},
        {"chunks": -1},
        {"chunks": ((30, 7), (11, 9), 5)},
        {"chunks": (4, 5, 11), "shards": (16, 20, 11)},
        {"shards": (16, 12, 11)},
        {"compressors": None},
        {"compressors": {"name": "gzip", "configuration": {"level": 1}}},
        {"filters": [{"name": "transpose", "configuration": {"order": [2, 0, 1]}}]},
        {"serializer": {"name": "bytes", "configuration": {"endian": "big"}}},
        {"chunk_key_encoding": {"name": "v2", "separator": "."}},
        {"zarr_format": 2},
        {"zarr_format": 2, "chunks": (9, 9, 9), "compressors": {"id": "zlib", "level": 1}},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "source",
    [
        {},
        {"shards": (16, 12, 22)},
        {"zarr_format": 2, "compressors": {"id": "blosc", "cname": "lz4"}, "order": "F"},
    ],
    ids=str,
)
def test_values_and_attributes_stay(source, changes, tmp_path):
    changes = dict(changes)
    listed = isinstance(changes.get("chunks"), tuple) and isinstance(changes["chunks"][0], tuple)
    if source.get("zarr_format") == 2 and (
        listed or {"shards", "filters", "serializer"} & changes.keys()
    ):
        changes["zarr_format"] = 3
    if "shards" in source and "chunks" in changes:
        changes.setdefault("shards", None)
    target = tmp_path / "out.zarr"
    converted = blazarr.convert(made(**source), target, verify=True, **changes)
    assert np.array_equal(converted[...], VALUES)
    assert dict(converted.attrs) == {"unit": "m"}
    assert converted.metadata.zarr_format == changes.get(
        "zarr_format", source.get("zarr_format", 3)
    )
    with zarr.config.set({"array.rectilinear_chunks": True}):
        assert np.array_equal(zarr.open_array(target, mode="r")[...], VALUES)
    assert not (target / "__blazarr__").exists()


@pytest.mark.parametrize("budget", ["1MiB", "120KiB", "60KiB", "24KiB"])
@pytest.mark.parametrize("chunks", [(37, 2, 3), (3, 20, 11), (37, 20, 1)])
def test_rechunk_within_a_budget(budget, chunks):
    source = made(chunks=(1, 20, 11))
    plan = blazarr.rechunk(source, {}, chunks, max_memory=budget, dry_run=True)
    assert plan.peak_memory <= plan.max_memory
    target = {}
    array = blazarr.rechunk(source, target, chunks, max_memory=budget)
    assert array.chunks == chunks
    assert np.array_equal(array[...], VALUES)
    assert not [key for key in target if "blazarr" in key]


def test_a_small_budget_takes_a_detour_and_scratch_space_can_be_named():
    source, scratch, target = made(chunks=(1, 20, 11)), {}, {}
    options = {"max_memory": 9000, "scratch": scratch}
    plan = blazarr.rechunk(source, target, (37, 2, 1), dry_run=True, **options)
    assert [step["step"] for step in plan.steps()] == ["to intermediate", "from intermediate"]
    seen = []
    array = blazarr.rechunk(
        source, target, (37, 2, 1), progress=lambda _: seen.append(len(scratch)), **options
    )
    assert np.array_equal(array[...], VALUES)
    assert max(seen) > 0
    assert not scratch


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_stored_objects_are_copied_as_they_are(zarr_format):
    source = made(zarr_format=2, compressors={"id": "blosc", "cname": "lz4"})
    # Nothing that decodes: an element's bytes in a chunk are not blosc's.
    source["0.0.0"] = b"no chunk at all"
    plan = blazarr.convert(source, {}, zarr_format=zarr_format, dry_run=True)
    assert [step["step"] for step in plan.steps()] == ["copy objects"]
    target = {}
    blazarr.convert(source, target, zarr_format=zarr_format)
    assert target["0.0.0" if zarr_format == 2 else "c/0/0/0"] == b"no chunk at all"
    assert len(target) == len(source) - (1 if zarr_format == 3 else 0)


def test_an_array_that_is_mostly_missing_stays_so():
    source, target = {}, {}
    array = blazarr.create_array(source, shape=(10_000, 10_000), chunks=(10, 10), dtype="i4")
    array[5005:5015, 77] = 3
    assert len(source) == 3
    converted = blazarr.rechunk(source, target, (16, 16), max_memory="1MiB")
    assert len(target) == 3
    assert converted[5000:5020, 77].sum() == 30
    blazarr.convert(source, (copied := {}), max_memory="1MiB")
    assert copied.keys() == source.keys()


def test_shapes_without_axes_and_without_elements():
    for shape in [(), (0,), (3, 0, 2)]:
        source = {}
        array = blazarr.create_array(
            source, shape=shape, dtype="f8", chunks=shape and (2,) * len(shape)
        )
        array[...] = 7
        converted = blazarr.convert(source, {}, compressors=None, verify=True)
        assert converted.shape == shape
        assert (converted[...] == 7).all()


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("other", [2, 3])
def test_texts_of_any_length(zarr_format, other):
    texts = np.array(["a", "", "ü" * 500, "end"] * 5, dtype=np.dtypes.StringDType())
    source = {}
    array = blazarr.create_array(
        source, shape=(20,), chunks=(3,), dtype="string", zarr_format=zarr_format
    )
    array[:] = texts
    converted = blazarr.convert(source, {}, chunks=(7,), zarr_format=other, verify=True)
    assert converted[:].tolist() == texts.tolist()


def test_records_and_big_endian_values():
    records = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "<i4"), ("b", "<f8")])
    for values in (records, np.arange(6, dtype=">i4"), np.array([b"ab", b"c"]), np.array([1 + 2j])):
        source = {}
        blazarr.create_array(source, data=values, zarr_format=2, compressors=None)
        converted = blazarr.convert(source, {}, zarr_format=3, verify=True)
        assert (converted[...] == values).all()


def test_not_a_number_equals_itself():
    source = {}
    blazarr.create_array(source, data=np.array([1.0, np.nan, -0.0]), fill_value=np.nan)
    assert np.isnan(blazarr.convert(source, {}, compressors=None, verify=True)[1])


def hierarchy():
    store = {}
    root = blazarr.create_group(store, attributes={"title": "t"})
    root.create_array("a", data=VALUES, chunks=(8, 6, 11), dimension_names=("t", "y", "x"))
    deep = root.create_group("g").create_group("deep", attributes={"n": 1})
    deep.create_array("b", data=VALUES[:, :, 0], chunks=(5, 5), dimension_names=("t", "y"))
    deep.create_array("c", data=VALUES[:, 0, 0], chunks=(5,))
    return store


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_hierarchy(zarr_format):
    root = blazarr.convert(hierarchy(), (target := {}), zarr_format=zarr_format, verify=True)
    assert sorted(name for name, _ in root.members(None)) == [
        "a",
        "g",
        "g/deep",
        "g/deep/b",
        "g/deep/c",
    ]
    assert dict(root.attrs) == {"title": "t"}
    assert dict(root["g/deep"].attrs) == {"n": 1}
    assert np.array_equal(root["g/deep/b"][...], VALUES[:, :, 0])
    back = blazarr.convert(target, {}, zarr_format=3)
    assert back["a"].metadata.dimension_names == ("t", "y", "x")
    assert "_ARRAY_DIMENSIONS" not in back["a"].attrs


def test_chunks_by_position_are_for_arrays_of_as_many_dimensions():
    root = blazarr.rechunk(hierarchy(), {}, (4, 4))
    assert root["g/deep/b"].chunks == (4, 4)
    assert root["a"].chunks == (8, 6, 11)


def test_chunks_by_names_of_dimensions():
    root = blazarr.rechunk(hierarchy(), {}, {"t": 37, "x": 2})
    assert root["a"].chunks == (37, 6, 2)
    assert root["g/deep/b"].chunks == (37, 5)
    assert root["g/deep/c"].chunks == (5,)


def test_an_array_that_cannot_be_as_asked_is_named():
    with pytest.raises(MetadataError, match=r"^a: shards"):
        blazarr.convert(hierarchy(), {}, chunks={"t": 7}, shards={"t": 8})


def test_names_of_dimensions_move_between_formats():
    source = {}
    blazarr.create_array(
        source,
        data=VALUES,
        zarr_format=2,
        fill_value=9,
        attributes={"_ARRAY_DIMENSIONS": ["t", "y", "x"]},
    )
    converted = blazarr.convert(source, (target := {}), zarr_format=3)
    assert converted.metadata.dimension_names == ("t", "y", "x")
    assert dict(converted.attrs) == {"_FillValue": 9}
    back = blazarr.convert(target, {}, zarr_format=2)
    assert back.attrs["_ARRAY_DIMENSIONS"] == ["t", "y", "x"]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidated_metadata_is_made_anew(zarr_format):
    store = hierarchy()
    blazarr.consolidate_metadata(store)
    target = {}
    blazarr.convert(store, target, zarr_format=zarr_format)
    root = blazarr.open_consolidated(target, mode="r")
    assert root["a"].metadata.zarr_format == zarr_format
    assert len(root.members(None)) == 5


def test_parts_of_hierarchies():
    target = {}
    blazarr.convert(hierarchy(), target, path="g/deep", target_path="x/y")
    assert np.array_equal(blazarr.open_group(target)["x/y/b"][...], VALUES[:, :, 0])
    with pytest.raises(ContainsArrayError):
        blazarr.convert(hierarchy(), target, target_path="x/y/b/z")


def test_a_zip_archive_as_target(tmp_path):
    target = tmp_path / "out.zip"
    blazarr.rechunk(made(), target, (5, 5, 5)).store.close()
    assert np.array_equal(blazarr.open_array(target, mode="r")[...], VALUES)


def test_dry_run_writes_nothing_and_says_what_would_be(tmp_path):
    target = tmp_path / "out.zarr"
    plan = blazarr.rechunk(made(), target, (37, 2, 3), max_memory="60KiB", dry_run=True)
    assert isinstance(plan, Plan)
    assert not target.exists()
    found = plan.to_json()
    assert found["bytes"] == VALUES.nbytes
    assert found["peak_memory"] == max(step["memory"] for step in found["steps"]) <= 60 << 10
    assert found["arrays"][0]["after"]["chunks"] == [37, 2, 3]
    assert "37, 2, 3" in repr(plan)
    assert "peak memory" in repr(plan)


def test_what_is_there_is_not_replaced_unasked():
    target = {"zarr.json": b"{}", "other": b"mine"}
    with pytest.raises(ExistsError, match="overwrite"):
        blazarr.convert(made(), target)
    assert target == {"zarr.json": b"{}", "other": b"mine"}
    blazarr.convert(made(), target, overwrite=True)
    assert "other" not in target


def test_a_place_inside_of_the_source_is_refused():
    store = hierarchy()
    for target_path in ["g/new", None]:
        with pytest.raises(BlazarrError, match="inside"):
            blazarr.convert(store, store, target_path=target_path, overwrite=True)
    assert len(blazarr.open_group(store).members(None)) == 5


def test_a_target_that_may_not_be_written(tmp_path):
    blazarr.create_array(tmp_path / "x", data=VALUES)
    with pytest.raises(ReadOnlyError):
        blazarr.convert(made(), blazarr.stores.LocalStore(tmp_path / "y", read_only=True))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"zarr_format": 4}, BlazarrError),
        ({"chunks": (1, 2)}, MetadataError),
        ({"chunks": (0, 1, 1)}, MetadataError),
        ({"chunks": (5, 5, 5), "shards": (7, 5, 5)}, MetadataError),
        ({"compressors": "no-such-codec"}, BlazarrError),
        ({"zarr_format": 2, "shards": (8, 6, 11)}, BlazarrError),
        ({"max_memory": 100}, LimitError),
        ({"max_memory": "much"}, BlazarrError),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_before_anything_is_written(changes, error):
    target = {"precious": b"1"}
    with pytest.raises(error):
        blazarr.convert(made(), target, overwrite=True, **changes)
    assert target == {"precious": b"1"}


def test_a_source_that_is_not_there(tmp_path):
    with pytest.raises(GroupNotFoundError):
        blazarr.convert(tmp_path / "nothing", {})


def test_verify_notices_a_filter_that_rounds(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    blazarr.create_array(source, data=np.linspace(0, 1, 50), chunks=(20,))
    rounding = [{"name": "bitround", "configuration": {"keepbits": 3}}]
    with pytest.raises(CorruptError) as caught:
        blazarr.convert(source, target, filters=rounding, verify=True)
    assert caught.value.kind == "verify"
    with pytest.raises(GroupNotFoundError):
        blazarr.open(target, mode="r")
    again = blazarr.convert(source, target, filters=rounding)
    assert again[-1] == 1


def test_missing_pieces_of_an_intermediate_array_are_noticed(monkeypatch):
    """Another run of the same conversion that ends first deletes what this one still reads."""
    source, scratch = made(chunks=(1, 20, 11)), {}

    def lose(progress):
        if progress.done == VALUES.nbytes:
            scratch.clear()

    with pytest.raises(ChunkMissingError):
        blazarr.rechunk(
            source, (target := {}), (37, 2, 1), max_memory=9000, scratch=scratch, progress=lose
        )
    assert "zarr.json" not in target


def test_progress_counts_up_to_all():
    seen = []
    blazarr.rechunk(made(chunks=(1, 20, 11)), {}, (37, 2, 1), max_memory=9000, progress=seen.append)
    done = [event.done for event in seen]
    assert done == sorted(done)
    assert seen[-1].finished
    assert done[-1] == seen[-1].total == 2 * VALUES.nbytes
