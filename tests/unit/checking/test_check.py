"""Checks find each kind of damage, name it, and remove nothing but leftovers that they named."""

import fcntl
import json
import pickle

import numpy as np
import pytest

import blazarr
from blazarr.errors import LimitError, NotFoundError, ReadOnlyError, UnsupportedError
from blazarr.stores import LocalStore, ReadOnlyStore

VALUES = np.random.default_rng(3).integers(0, 99, (20, 12)).astype("u2")


@pytest.fixture
def root(tmp_path):
    path = tmp_path / "root.zarr"
    group = blazarr.create_group(path, attributes={"a": 1})
    group.create_array("plain", data=VALUES, chunks=(5, 6))
    group.create_group("g").create_array(
        "sharded", data=VALUES, chunks=(5, 6), shards=(10, 12), attributes={"unit": "m"}
    )
    group.create_array("v2/old".replace("v2/", ""), data=VALUES, chunks=(5, 6), compressors=None)
    return path


def kinds(report):
    return sorted((found.kind, found.key) for found in report.findings)


def contents(path):
    return {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_nothing_is_wrong(root):
    report = blazarr.check(root)
    assert report.ok
    assert not report.findings
    assert [(a.path, a.stored, a.objects, a.checksums) for a in report.arrays] == [
        ("g/sharded", 2, 2, True),
        ("old", 8, 8, False),
        ("plain", 8, 8, True),
    ]
    assert report.groups == 2
    assert "0 damaged" in repr(report)
    assert json.loads(json.dumps(report.to_json()))["ok"]
    assert pickle.loads(pickle.dumps(report)) == report


def damage(file, place=-5):
    data = bytearray(file.read_bytes())
    data[place] ^= 0xFF
    file.write_bytes(data)


def test_each_damaged_chunk_is_named(root):
    damage(root / "plain/c/1/1")
    (root / "plain/c/3/0").write_bytes(b"")
    (root / "old/c/2/1").write_bytes(b"short")
    report = blazarr.check(root)
    assert not report.ok
    assert {key for _, key in kinds(report)} == {"old/c/2/1", "plain/c/3/0", "plain/c/1/1"}
    found = {finding.key: finding for finding in report.findings}
    assert "[5:10, 6:12]" in found["plain/c/1/1"].message
    assert all(finding.is_damage for finding in report.findings)


def test_the_chunks_of_a_damaged_shard_are_named(root):
    damage(root / "g/sharded/c/0/0", 3)
    report = blazarr.check(root)
    assert len(report.findings) == 1
    assert report.findings[0].key == "g/sharded/c/0/0"
    assert "[0:5, 0:6]" in report.findings[0].message


def test_without_data_no_chunk_is_read(root):
    damage(root / "plain/c/1/1")
    assert blazarr.check(root, data=False).ok


def test_wrong_metadata_is_named_and_the_rest_is_checked(root):
    (root / "plain/zarr.json").write_bytes(b'{"zarr_format": 3, "node_type": "array"}')
    damage(root / "g/sharded/c/1/0", 3)
    report = blazarr.check(root)
    assert kinds(report)[-1] == ("metadata", "plain")
    assert len(report.findings) == 2


def test_a_codec_that_is_not_there(root):
    document = json.loads((root / "plain/zarr.json").read_bytes())
    document["codecs"][1]["name"] = "strange"
    (root / "plain/zarr.json").write_text(json.dumps(document))
    assert kinds(blazarr.check(root)) == [("unsupported", "plain")]


def test_what_belongs_to_nobody_is_an_orphan_and_no_damage(root):
    for name in ("stray.txt", "plain/c/9/9", "plain/note", "lost/c/0/0"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x")
    report = blazarr.check(root)
    assert report.ok
    assert [key for _, key in kinds(report)] == [
        "lost/c/0/0",
        "plain/c/9/9",
        "plain/note",
        "stray.txt",
    ]
    assert {kind for kind, _ in kinds(report)} == {"orphan"}


def test_missing_chunks_count_where_all_are_wanted(root):
    (root / "plain/c/2/1").unlink()
    assert blazarr.check(root).ok
    report = blazarr.check(root, complete=True)
    assert kinds(report) == [("missing", "plain/c/2/1")]
    assert not report.ok


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_stale_consolidated_metadata(tmp_path, zarr_format):
    path = tmp_path / "x"
    group = blazarr.create_group(path, zarr_format=zarr_format)
    group.create_array("a", data=VALUES)
    blazarr.consolidate_metadata(path)
    assert not blazarr.check(path).findings
    blazarr.open_array(path / "a").attrs["new"] = 1
    blazarr.open_group(path, use_consolidated=False).create_array("b", data=VALUES)
    assert kinds(blazarr.check(path)) == [("stale", "a"), ("stale", "b")]


def leftovers(root):
    lock = root / "plain/c/1/1.__lock"
    lock.write_bytes(b"half a chunk")
    journal = root / "plain/__blazarr__/journal.json"
    journal.parent.mkdir()
    journal.write_bytes(b"{}")
    unfinished = root / "new/__blazarr__/journal.json"
    unfinished.parent.mkdir(parents=True)
    unfinished.write_bytes(b"{}")
    (root / "stray").write_bytes(b"mine")
    return lock, journal


def test_clean_removes_leftovers_and_nothing_else(root):
    lock, journal = leftovers(root)
    before = contents(root)
    report = blazarr.check(root)
    assert [kind for kind, _ in kinds(report)] == ["leftover", "leftover", "orphan", "unfinished"]
    assert contents(root) == before
    cleaned = blazarr.check(root, clean=True)
    assert sorted(cleaned.removed) == ["plain/__blazarr__/journal.json", "plain/c/1/1.__lock"]
    assert contents(root) == {k: v for k, v in before.items() if k not in {lock, journal}}


def test_a_lock_that_is_held_is_no_leftover(root):
    lock, _ = leftovers(root)
    with lock.open("rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        report = blazarr.check(root, clean=True)
        assert lock.exists()
        assert "plain/c/1/1.__lock" not in report.removed
    assert "plain/c/1/1.__lock" in blazarr.check(root, clean=True).removed


def test_a_link_in_place_of_a_lock_is_left_alone(root, tmp_path):
    precious = tmp_path / "precious"
    precious.write_bytes(b"1")
    (root / "plain/c/0/0.__lock").symlink_to(precious)
    blazarr.check(root, clean=True)
    assert precious.read_bytes() == b"1"


def test_clean_needs_a_store_that_may_be_written(root):
    with pytest.raises(ReadOnlyError):
        blazarr.check(blazarr.stores.LocalStore(root, read_only=True), clean=True)


def test_places_that_are_no_hierarchy(tmp_path):
    with pytest.raises(NotFoundError):
        blazarr.check(tmp_path / "nothing")


def test_other_places_and_parts():
    store = {}
    blazarr.create_group(store).create_group("g").create_array("a", data=VALUES, chunks=(5, 6))
    store["g/a/c/0/0"] = b"no chunk"
    assert kinds(blazarr.check(store, path="g")) == [("corrupt", "g/a/c/0/0")]
    assert kinds(blazarr.check(store, path="g/a")) == [("corrupt", "g/a/c/0/0")]


def test_a_sparse_array_is_checked_where_it_is_stored():
    store = {}
    array = blazarr.create_array(store, shape=(10**6, 10**6), chunks=(10, 10), dtype="u1")
    array[500_000, 500_000] = 1
    seen = []
    report = blazarr.check(store, progress=seen.append, max_memory="4KiB")
    assert report.ok
    assert seen[-1].total < 10_000


class Unlisted(ReadOnlyStore):
    """A store that can't be listed, as web servers are."""

    def list(self, prefix="", start_after=""):
        raise UnsupportedError("no listings")

    def children(self, folder=""):
        raise UnsupportedError("no listings")


def test_a_store_that_cannot_be_listed_is_checked_by_consolidated_metadata(root):
    blazarr.consolidate_metadata(root)
    damage(root / "g/sharded/c/0/0", 3)
    report = blazarr.check(Unlisted(LocalStore(root)))
    assert [found.key for found in report.findings] == ["g/sharded/c/0/0"]
    assert [(array.path, array.stored) for array in report.arrays] == [
        ("g/sharded", None),
        ("old", None),
        ("plain", None),
    ]
    assert "plain: 8 objects" in repr(report)


def test_codecs_in_a_shard_that_are_none_are_a_finding(root):
    document = json.loads((root / "g/sharded/zarr.json").read_text())
    for wrong in (1.5, None, {"name": 3}, {"name": "zstd", "configuration": 4}):
        document["codecs"][0]["configuration"]["codecs"][1] = wrong
        (root / "g/sharded/zarr.json").write_text(json.dumps(document))
        assert not blazarr.check(root).ok


def test_more_chunks_than_can_be_listed_are_an_error():
    store = {}
    array = blazarr.create_array(store, shape=2**40, chunks=2, dtype="u1")
    array[2**39] = 1
    for listing in (blazarr.check, lambda place: blazarr.rechunk(place, {}, (4,))):
        with pytest.raises(LimitError, match=r"limits\.listed_chunks"):
            listing(store)
    assert array[2**39] == 1
