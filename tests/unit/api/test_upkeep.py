"""`validate`, `repair` and `migrate`: what is stored, and nothing else, changes as it should."""

import json

import numcodecs
import numpy as np
import pytest
import zarr

import blazarr
from blazarr.errors import ExistsError, NotFoundError, ReadOnlyError, UnsupportedError
from blazarr.metadata import validate
from blazarr.stores import MemoryStore

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
GROUP = {"zarr_format": 3, "node_type": "group", "attributes": {}}


def v3(**changes):
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4],
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [BYTES],
        "attributes": {},
    } | changes


def v2(**changes):
    return {
        "zarr_format": 2,
        "shape": [4],
        "chunks": [2],
        "dtype": "<f4",
        "fill_value": 0,
        "order": "C",
        "filters": None,
        "compressor": None,
    } | changes


def put(store, **documents):
    for name, document in documents.items():
        file = "zarr.json" if document["zarr_format"] == 3 else ".zarray"
        store.put(f"{name}/{file}", json.dumps(document).encode())


def get(store, key):
    return json.loads(bytes(store.get(key)[0]))


def snapshot(store):
    keys = list(store.keys())
    return {key: bytes(store.get(key)[0]) for key in keys}


@pytest.fixture
def store():
    store = MemoryStore()
    store.put("zarr.json", json.dumps(GROUP).encode())
    return store


def test_validate_a_hierarchy(store):
    put(store, a=v3(), b=v3(shape="x", codecs=[{}]), c=v2(order="K"))
    store.put("b/c/0/zarr.json", b"never looked at: below an array")
    found = validate(store)
    assert [(problem.key, problem.path) for problem in found] == [
        ("b/zarr.json", "shape"),
        ("b/zarr.json", "codecs[0]"),
        ("c/.zarray", "order"),
    ]
    assert validate(store, path="a") == ()
    assert [problem.path for problem in blazarr.validate(store, path="c")] == ["order"]


def test_validate_documents():
    assert validate(v3()) == validate(json.dumps(v3()).encode()) == validate(v2()) == ()
    assert [problem.path for problem in validate(v3(shape=3))] == ["shape"]
    assert [problem.key for problem in validate(v2(shape=3))] == [".zarray"]
    assert validate({".zarray": v2(), ".zattrs": {}}) == ()
    assert validate({"zarr_consolidated_format": 1, "metadata": {}})[0].key == ".zmetadata"


WRONG = {
    "true": (v3(chunk_grid={"name": "regular", "configuration": {"chunk_shape": [True]}}), "chunk_grid"),
    "endian": (v3(codecs=[{"name": "endian", "configuration": {"endian": "big"}}]), "codecs"),
    "unsaid order": (v3(codecs=[{"name": "bytes"}]), "codecs"),
    "null fill": (v3(fill_value=None), "fill_value"),
    "text for a number": (v3(fill_value="1"), "fill_value"),
    "number for text": (
        v3(data_type="string", fill_value=0, codecs=[{"name": "vlen-utf8"}]), "fill_value",
    ),
    "bare NaN": (v3(data_type="float32", fill_value=float("nan")), "fill_value"),
    "null names": (v3(dimension_names=None), "dimension_names"),
    "v2 bare NaN": (v2(fill_value=float("inf")), "fill_value"),
    "v2 typestr": (v2(dtype="<u1"), "dtype"),
    "v2 record": (v2(dtype=[["x", "<i2"]]), "fill_value"),
    "v2 list of bytes": (v2(dtype="|S2", fill_value=[97, 98]), "fill_value"),
    "v2 date": (v2(dtype="<M8[s]", fill_value="1970-01-01T00:00:05"), "fill_value"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_repair(store, name):
    document, place = WRONG[name]
    put(store, a=document, good=v3())
    before = snapshot(store)
    metadata = blazarr.open_array(store, path="a", mode="r").metadata
    found = blazarr.repair(store)
    assert [repair.paths[0].partition(".")[0].partition("[")[0] for repair in found] == [place]
    assert place in str(found[0])
    assert snapshot(store) == before
    assert blazarr.repair(store, apply=True) == found
    assert before[found[0].key] == found[0].before
    assert snapshot(store) == before | {found[0].key: found[0].after}
    assert blazarr.open_array(store, path="a", mode="r").metadata == metadata
    assert blazarr.repair(store) == ()


@pytest.mark.parametrize("name", WRONG)
def test_repaired_documents_are_strictly_valid(store, name):
    pytest.importorskip("zarr_metadata", minversion="0.6")
    document, _ = WRONG[name]
    put(store, a=document)
    blazarr.repair(store, apply=True)
    assert validate(store, strict=True) == ()


@pytest.mark.parametrize(
    "document",
    [
        v3(data_type="float32", fill_value="0x3f800000"),
        v3(data_type="float32", fill_value=0),
        v3(data_type="complex64", fill_value=[0, "NaN"]),
        v3(data_type="r16", fill_value=[1, 2]),
        v3(data_type={"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}, fill_value="NaT"),
        v3(codecs=["bytes"], data_type="int8", chunk_key_encoding="default"),
        v2(fill_value=None, dimension_separator="/"),
        v2(unknown=1),
    ],
)  # fmt: skip
def test_valid_documents_stay(store, document):
    put(store, a=document)
    assert blazarr.repair(store) == ()


def test_a_byte_order_mark_goes(store):
    store.put("a/zarr.json", b"\xef\xbb\xbf" + json.dumps(v3()).encode())
    assert [repair.key for repair in blazarr.repair(store, apply=True)] == ["a/zarr.json"]
    assert get(store, "a/zarr.json") == v3()


def test_consolidated_copies_are_repaired(store):
    wrong = v3(fill_value=None)
    inline = {"kind": "inline", "must_understand": False, "metadata": {"a": wrong, "b": v3()}}
    store.put("zarr.json", json.dumps({**GROUP, "consolidated_metadata": inline}).encode())
    (repair,) = blazarr.repair(store, apply=True)
    assert repair.paths == ("consolidated_metadata.metadata.a.fill_value",)
    old = MemoryStore()
    entries = {
        ".zgroup": {"zarr_format": 2},
        "g/.zgroup": {"zarr_format": 2, "consolidated_metadata": {}},
        "a/.zarray": v2(fill_value=float("nan")),
        "a/.zattrs": {},
    }
    document = {"metadata": entries, "zarr_consolidated_format": 1}
    old.put(".zmetadata", json.dumps(document).encode())
    (repair,) = blazarr.repair(old, apply=True)
    assert repair.paths == (
        "metadata.g/.zgroup.consolidated_metadata",
        "metadata.a/.zarray.fill_value",
    )


def test_what_cannot_be_read_is_left(store):
    put(store, a=v3(shape="x"), b=v3(fill_value=None))
    store.put("c/zarr.json", b"{")
    assert [repair.key for repair in blazarr.repair(store, apply=True)] == ["b/zarr.json"]
    assert {problem.key for problem in validate(store)} == {"a/zarr.json", "c/zarr.json"}


def test_repair_needs_a_writable_store(store):
    with pytest.raises(ReadOnlyError):
        blazarr.repair(store.with_read_only(), apply=True)


# Migration.

ARRAYS = {
    "plain": {"dtype": "<i4", "compressors": None},
    "blosc": {"dtype": "<i4", "compressors": numcodecs.Blosc()},
    "big": {"dtype": ">i4", "filters": [numcodecs.Delta(">i4")], "compressors": numcodecs.Zlib(3)},
    "scaled": {
        "dtype": "<f8",
        "filters": [numcodecs.FixedScaleOffset(0, 10, "<f8", "<i2")],
        "compressors": numcodecs.Zstd(3),
    },
    "two orders": {
        "dtype": ">f8", "order": "F",
        "filters": [numcodecs.FixedScaleOffset(0, 10, ">f8", "<i2")],
    },
    "bits": {"dtype": "|b1", "filters": [numcodecs.PackBits()], "compressors": numcodecs.LZ4()},
    "record": {"dtype": [("x", "<i2"), ("y", "<f4")], "compressors": numcodecs.GZip(1)},
    "utf32": {"dtype": ">U3"},
    "date": {"dtype": "<M8[s]"},
    "shuffled": {
        "dtype": "<f4",
        "filters": [numcodecs.Quantize(2, "<f4"), numcodecs.Shuffle(4)],
        "compressors": numcodecs.LZMA(),
    },
    "text": {"dtype": str},
    "cast": {"dtype": ">i4", "filters": [numcodecs.AsType("<i2", ">i4")], "compressors": numcodecs.BZ2()},
    "rounded": {"dtype": "<f4", "filters": [numcodecs.BitRound(8)], "compressors": numcodecs.Blosc(shuffle=-1)},
    "checked": {"dtype": "<i4", "filters": [numcodecs.CRC32()], "compressors": numcodecs.Adler32()},
}  # fmt: skip


def values_for(array):
    count = np.arange(24).reshape(6, 4)
    if array.dtype.names:
        filled = np.zeros(count.shape, array.dtype)
        filled["x"], filled["y"] = count, count / 2
        return filled
    return (
        count.astype("U3").astype(array.dtype)
        if array.dtype.kind in "TU"
        else count.astype(array.dtype)
    )


@pytest.fixture
def old(tmp_path):
    group = blazarr.open_group(tmp_path / "old", mode="w", zarr_format=2, attributes={"title": "t"})
    for name, options in ARRAYS.items():
        attributes = {"_ARRAY_DIMENSIONS": ["y", "x"], "name": name}
        array = group.create_array(
            f"g/{name}", shape=(6, 4), chunks=(4, 3), attributes=attributes, **options
        )
        array[...] = values_for(array)
    return tmp_path / "old"


def chunks_of(folder):
    names = (".zarray", ".zgroup", ".zattrs", ".zmetadata", "zarr.json")
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path: path.read_bytes() for path in files if path.name not in names}


@pytest.mark.filterwarnings("ignore")
def test_migrated_arrays_read_the_same(old):
    before = blazarr.open_group(old, mode="r", zarr_format=2)
    values = {name: array[...] for name, array in before["g"].arrays()}
    stored = chunks_of(old)
    written = blazarr.migrate(old)
    assert sorted(written) == sorted(
        ["zarr.json", "g/zarr.json", *(f"g/{n}/zarr.json" for n in ARRAYS)]
    )
    assert chunks_of(old) == stored
    after = blazarr.open_group(old, mode="r")
    assert (after.metadata.zarr_format, after.attrs["title"]) == (3, "t")
    for name in ARRAYS:
        np.testing.assert_array_equal(after[f"g/{name}"][...], values[name])
        assert after[f"g/{name}"].metadata.dimension_names == ("y", "x")
        assert after[f"g/{name}"].attrs["name"] == name
        theirs = zarr.open_array(old, path=f"g/{name}", mode="r", zarr_format=3)
        np.testing.assert_array_equal(theirs[...], values[name])
    assert (old / "g/plain/.zarray").exists()
    assert blazarr.open_group(old, mode="r", zarr_format=2)["g/plain"][0, 1] == 1


def test_writing_after_a_migration(old):
    blazarr.migrate(old)
    array = blazarr.open_array(old, path="g/big", mode="r+")
    array[0] = 7
    array.resize((9, 4))
    array[8] = 8
    assert (old / "g/big/2.0").exists()
    assert array[:, 0].tolist() == [7, 4, 8, 12, 16, 20, 0, 0, 8]


def test_dry_run_writes_nothing(old):
    stored = {path: path.stat().st_mtime_ns for path in old.rglob("*")}
    assert "g/text/zarr.json" in blazarr.migrate(old, dry_run=True)
    assert {path: path.stat().st_mtime_ns for path in old.rglob("*")} == stored


def test_old_documents_go_if_asked(old):
    stored = chunks_of(old)
    blazarr.consolidate_metadata(old, zarr_format=2)
    blazarr.migrate(old, remove_v2=True)
    left = {path.name for path in old.rglob(".z*")}
    assert left == set()
    assert chunks_of(old) == stored
    group = blazarr.open_consolidated(old)
    assert group.metadata.zarr_format == 3
    assert group["g/big"][0].tolist() == [0, 1, 2, 3]


class Breaking(MemoryStore):
    """A store that fails after some writes."""

    left = 10**9

    def put(self, *args, **kwargs):
        if self.left == 0:
            raise OSError("no more")
        self.left -= 1
        return super().put(*args, **kwargs)


@pytest.mark.parametrize("writes", range(4))
def test_an_interrupted_migration(writes):
    store = Breaking()
    group = blazarr.create_group(store, zarr_format=2)
    for name in "abc":
        group.create_array(name, shape=(4,), chunks=(2,), dtype="i4")[...] = range(4)
    store.left = writes
    with pytest.raises(OSError, match="no more"):
        blazarr.migrate(store)
    store.left = 10**9
    found = blazarr.open_group(store, mode="r")
    assert found.metadata.zarr_format == 2
    assert sorted(found) == ["a", "b", "c"]
    blazarr.migrate(store)
    blazarr.migrate(store)
    found = blazarr.open_group(store, mode="r")
    assert found.metadata.zarr_format == 3
    assert found["b"][...].tolist() == [0, 1, 2, 3]


def test_another_document_is_never_replaced(store):
    put(store, a=v2(fill_value=1))
    store.put("a/zarr.json", json.dumps(v3(shape=[3])).encode())
    before = snapshot(store)
    with pytest.raises(ExistsError, match="says something else"):
        blazarr.migrate(store, path="a")
    assert snapshot(store) == before


def test_nothing_is_written_if_one_array_cannot_be_described():
    store = MemoryStore()
    store.put(".zgroup", b'{"zarr_format": 2}')
    put(store, a=v2(), z=v2(dtype="|O", filters=[{"id": "json2"}], fill_value=None))
    before = snapshot(store)
    with pytest.raises(UnsupportedError, match="z: "):
        blazarr.migrate(store)
    put(store, z=v2(dtype=[["x", "<i2"], ["y", ">f4"]], fill_value=None))
    with pytest.raises(UnsupportedError, match="both byte orders"):
        blazarr.migrate(store)
    assert snapshot(store).keys() == before.keys()


def test_nothing_to_migrate(store):
    with pytest.raises(NotFoundError, match="format 2"):
        blazarr.migrate(store)
    put(store, a=v2())
    with pytest.raises(ReadOnlyError):
        blazarr.migrate(store.with_read_only())
