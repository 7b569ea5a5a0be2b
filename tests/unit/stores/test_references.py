"""References of kerchunk: what they mean, and where they may point."""

import base64
import json
import pickle
import random

import numpy as np
import pytest

import blazarr
from blazarr.errors import BlazarrError, CorruptError, ReadOnlyError, StoreError, UnsupportedError
from blazarr.stores import MemoryStore, store_from
from blazarr.stores.references import ReferenceStore

VALUES = np.arange(600, dtype="u2").reshape(20, 30)


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "allowed"
    folder.mkdir()
    (folder / "data").write_bytes(b"head" + VALUES.tobytes())
    (folder / "whole").write_bytes(VALUES.tobytes())
    (tmp_path / "secret").write_bytes(b"secret")
    return folder


def references(*chunk):
    documents = {}
    blazarr.create_array(
        documents, shape=(20, 30), chunks=(20, 30), dtype="u2", zarr_format=2, compressors=None
    )
    refs = {f"a/{key}": value.decode() for key, value in documents.items()}
    return refs | {".zgroup": '{"zarr_format": 2}', "a/0.0": [*chunk]}


@pytest.mark.parametrize("version", [0, 1])
def test_an_array_that_lies_in_a_file(data, version):
    refs = references(str(data / "data"), 4, 1200)
    given = refs if version == 0 else {"version": 1, "refs": refs}
    options = {"fo": given, "allow": [data]}
    group = blazarr.open_group("reference://", mode="r", storage_options=options)
    assert list(group.keys()) == ["a"]
    assert np.array_equal(group["a"][:], VALUES)
    assert np.array_equal(group["a"][3:5, ::-2], VALUES[3:5, ::-2])


def test_a_file_of_references(data, tmp_path):
    given = {"version": 1, "templates": {"u": str(data)}, "refs": references("{{u}}/whole")}
    (tmp_path / "refs.json").write_text(json.dumps(given))
    url = f"reference://{tmp_path}/refs.json"
    group = blazarr.open_group(url, mode="r", storage_options={"allow": [f"file://{data}/"]})
    assert np.array_equal(group["a"][:], VALUES)


def test_values_within_the_references():
    store = ReferenceStore(
        {"a": "text", "b": "base64:" + base64.b64encode(b"\0\1").decode(), "c": {"x": 1}}
    )
    assert bytes(store.get("a")[0]) == b"text"
    assert bytes(store.get("a", slice(-2, None))[0]) == b"xt"
    assert bytes(store.get("b")[0]) == b"\0\1"
    assert json.loads(bytes(store.get("c")[0])) == {"x": 1}
    assert store.get("d") is None
    assert [*store.list("", "a")] == [[("b", 2), ("c", 8)]]
    assert store.size("a") == 4
    assert pickle.loads(pickle.dumps(store)) == store
    for change in (lambda: store.put("a", b""), lambda: store.delete("a")):
        with pytest.raises(ReadOnlyError):
            change()


def test_parts_of_parts(data):
    store = ReferenceStore({"a": [str(data / "data"), 4, 10], "b": [f"{data}/data"]}, allow=[data])
    expected = VALUES.tobytes()[:10]
    for part in (slice(2, 5), slice(8, 99), slice(20, 30), slice(3, None), slice(-4, None)):
        assert bytes(store.get("a", part)[0]) == expected[part]
    assert bytes(store.get("b", slice(0, 6))[0]) == b"head" + expected[:2]
    assert (store.size("a"), store.size("b")) == (10, 1204)


def test_a_file_that_is_gone_or_shorter_is_no_missing_chunk(data):
    store = ReferenceStore({"a": [f"{data}/gone"], "b": [f"{data}/data", 1200, 10]}, allow=[data])
    with pytest.raises(StoreError, match="not there"):
        store.get("a")
    with pytest.raises(CorruptError, match="behind the end"):
        store.get("b")


@pytest.mark.parametrize(
    "wrong", [1, None, [], [1], ["a", 0], ["a", -1, 2], ["a", "0", "1"], "base64:?"]
)
def test_what_is_no_reference(wrong):
    with pytest.raises(CorruptError):
        ReferenceStore({"a": wrong})


def test_what_is_not_read(tmp_path):
    with pytest.raises(UnsupportedError, match="Parquet"):
        ReferenceStore(tmp_path)
    with pytest.raises(UnsupportedError, match="gen"):
        ReferenceStore({"version": 1, "gen": [], "refs": {}})
    with pytest.raises(BlazarrError, match="remote_options"):
        store_from("reference://x", None, {"fo": {}, "anon": True})


def test_references_stay_where_the_caller_allowed(data, tmp_path):
    """100,000 generated places: none but those in the folder is read."""
    source = random.Random(3)
    segments = (
        "..",
        ".",
        "",
        "data",
        "allowed",
        "secret",
        "%2e%2e",
        "..%2f",
        "\0",
        "allowed2",
        "~",
    )
    (tmp_path / "allowed2").mkdir()
    (tmp_path / "allowed2" / "data").write_bytes(b"secret")
    starts = (
        f"{data}",
        f"{tmp_path}",
        f"file://{data}",
        "",
        "/",
        "s3://allowed",
        "file:///",
        "http://",
    )
    places = [
        source.choice(starts) + "/" + "/".join(source.choices(segments, k=source.randint(1, 4)))
        for _ in range(100_000)
    ]
    store = ReferenceStore({f"k/{n}": [place] for n, place in enumerate(places)}, allow=[data])
    read = 0
    for n in range(len(places)):
        try:
            found = store.get(f"k/{n}")
        except (BlazarrError, ValueError):
            continue
        read += 1
        assert bytes(found[0][:6]) != b"secret", places[n]
    assert read > 100


def test_nothing_is_allowed_by_default(data):
    with pytest.raises(BlazarrError, match="may not") as caught:
        ReferenceStore({"a": [str(data / "data")]}).get("a")
    assert caught.value.kind == "reference"
    with pytest.raises(TypeError):
        ReferenceStore({}, allow=str(data))


def test_references_to_servers_are_below_their_address():
    store = ReferenceStore(
        {"a": ["s3://other/x"], "b": ["s3://bucket/../x"]}, allow=["s3://bucket/y"]
    )
    for key in "ab":
        with pytest.raises(BlazarrError, match="may not"):
            store.get(key)


def test_keys_that_lead_out():
    for key in ("../a", "/a", "a//b"):
        with pytest.raises(BlazarrError):
            ReferenceStore({key: "x"})
    assert MemoryStore().get("a") is None
