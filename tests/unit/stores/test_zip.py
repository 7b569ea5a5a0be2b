"""Zip archives: what others wrote, what harms, and what is there when."""

import io
import json
import subprocess
import sys
import zipfile
import zlib

import numpy as np
import pytest

import blazarr
from blazarr.errors import (
    BlazarrError,
    CorruptError,
    ExistsError,
    NotFoundError,
    ReadOnlyError,
    UnsupportedError,
)
from blazarr.stores import LocalStore, MemoryStore, ZipStore

DATA = bytes(i * i % 251 for i in range(5000))


def archive(path, entries, compression=zipfile.ZIP_STORED):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *args, **options: None)  # duplicate names
        with zipfile.ZipFile(path, "w", compression) as file:
            for name, data in entries:
                file.writestr(name, data)
    return path


def value(store, key):
    found = store.get(key)
    return None if found is None else bytes(found[0])


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_parts_of_entries(tmp_path, compression):
    store = ZipStore(archive(tmp_path / "a.zip", [("a/b", DATA)], compression))
    for part in (slice(0, 10), slice(100, 200), slice(4990, 6000), slice(6000, 7000), slice(0, 0)):
        assert bytes(store.get("a/b", part)[0]) == DATA[part]
    for part in (slice(-16, None), slice(4000, None), slice(-9000, None)):
        assert bytes(store.get("a/b", part)[0]) == DATA[part]
    store.close()


def test_of_entries_with_one_name_the_last_counts(tmp_path):
    path = archive(tmp_path / "a.zip", [("a", b"old"), ("b", b"b"), ("a", b"new")])
    store = ZipStore(path, mode="r+")
    assert value(store, "a") == b"new"
    assert list(store.keys()) == ["a", "b"]
    store.put("a", b"newest")
    store.close()
    with zipfile.ZipFile(path) as file:
        assert sorted(file.namelist()) == ["a", "b"]
        assert file.read("a") == b"newest"
        assert file.testzip() is None


def test_what_is_no_key_is_out_of_reach(tmp_path):
    names = ["../out", "/etc/passwd", "a/", "a//b", "./c", "C/../../d", "ok"]
    store = ZipStore(archive(tmp_path / "a.zip", [(name, b"1") for name in names]))
    assert list(store.keys()) == ["ok"]
    for name in names[:-1]:
        with pytest.raises(BlazarrError):
            store.get(name)
    store.close()


def test_a_damaged_archive_is_an_error_and_never_wrong_values(tmp_path):
    path = archive(tmp_path / "a.zip", [("a", DATA), ("b", DATA)], zipfile.ZIP_DEFLATED)
    whole = path.read_bytes()
    right, failed = 0, 0
    for place in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        store = ZipStore(io.BytesIO(bytes(damaged)))
        for key in "ab":
            try:
                found = store.get(key)
            except (CorruptError, UnsupportedError):
                failed += 1
            else:
                assert found is None or bytes(found[0]) == DATA
                right += 1
    assert right
    assert failed


@pytest.mark.parametrize("length", [0, 1, 21, 22, 100, 5030])
def test_a_cut_archive(tmp_path, length):
    path = archive(tmp_path / "a.zip", [("a", DATA)])
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(CorruptError):
        ZipStore(path).get("a")


def test_a_bomb_is_unpacked_no_further_than_it_says(tmp_path):
    path = archive(tmp_path / "a.zip", [("a", bytes(10 << 20))], zipfile.ZIP_DEFLATED)
    content = bytearray(path.read_bytes())
    place = content.index(b"PK\1\2") + 24
    assert int.from_bytes(content[place : place + 4], "little") == 10 << 20
    content[place : place + 4] = (100).to_bytes(4, "little")
    store = ZipStore(io.BytesIO(bytes(content)))
    with pytest.raises(CorruptError, match="101 bytes, not 100"):
        store.get("a")


def test_encrypted_and_exotic_entries_are_named(tmp_path):
    path = archive(tmp_path / "a.zip", [("a", DATA)], zipfile.ZIP_LZMA)
    store = ZipStore(path)
    with pytest.raises(UnsupportedError, match="method 14"):
        store.get("a")
    store.close()
    content = bytearray(archive(tmp_path / "b.zip", [("a", DATA)]).read_bytes())
    content[content.index(b"PK\1\2") + 8] |= 1
    with pytest.raises(UnsupportedError, match="encrypted"):
        ZipStore(io.BytesIO(bytes(content))).get("a")


def test_modes(tmp_path):
    path = tmp_path / "a.zip"
    for mode in ("r", "r+"):
        with pytest.raises(NotFoundError):
            ZipStore(path, mode=mode).get("a")
    store = ZipStore(path, mode="x")
    assert list(store.keys()) == []
    assert not path.exists()
    store.put("a", b"1")
    store.close()
    with pytest.raises(ExistsError):
        ZipStore(path, mode="x").put("a", b"1")
    with pytest.raises(ReadOnlyError):
        ZipStore(path).put("a", b"1")
    store = ZipStore(path, mode="w")
    assert list(store.keys()) == []
    store.put("b", b"2")
    store.close()
    assert list(store.keys()) == ["b"]
    store.close()
    with pytest.raises(BlazarrError, match="mode"):
        ZipStore(path, mode="rw")


def test_what_one_store_wrote_another_of_the_process_sees(tmp_path):
    path = tmp_path / "a.zip"
    first, second = ZipStore(path, mode="a"), ZipStore(path, mode="a")
    first.put("a", b"1")
    second.put("b", b"2")
    first.put("c", b"3")
    reader = ZipStore(path)
    assert list(reader.keys()) == ["a", "b", "c"]
    for store in (first, second, reader):
        store.close()


def test_another_process_may_not_write_meanwhile(tmp_path):
    path = tmp_path / "a.zip"
    store = ZipStore(path, mode="a")
    store.put("a", b"1")
    code = (
        "import sys; from blazarr.stores import ZipStore\n"
        "try: ZipStore(sys.argv[1], mode='a').put('b', b'2')\n"
        "except ValueError as error: print(error)"
    )
    run = [sys.executable, "-c", code, str(path)]
    assert b"another process" in subprocess.check_output(run)
    store.close()
    assert subprocess.check_output(run) == b""
    assert list(store.keys()) == ["a", "b"]
    store.close()


def test_the_end_of_the_program_finishes_the_archive(tmp_path):
    code = (
        "import sys, blazarr\n"
        "array = blazarr.create_array(sys.argv[1], shape=(9,), chunks=(2,), dtype='i4')\n"
        "array[:] = range(9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.zip")], check=True)
    assert list(blazarr.open_array(tmp_path / "a.zip", mode="r")[:]) == list(range(9))
    with zipfile.ZipFile(tmp_path / "a.zip") as file:
        assert file.testzip() is None
        assert json.loads(file.read("zarr.json"))["shape"] == [9]


def test_an_archive_within_another_store():
    values = np.arange(1000).reshape(20, 50)
    made = io.BytesIO()
    store = ZipStore(made, mode="w")
    array = blazarr.create_array(store, shape=(20, 50), chunks=(5, 5), shards=(10, 10), dtype="i8")
    array[:] = values
    store.close()
    outer = MemoryStore()
    outer.put("some/a.zip", made.getvalue())
    inner = ZipStore((outer, "some/a.zip"))
    assert inner.read_only
    assert np.array_equal(blazarr.open_array(inner, mode="r")[3:17, ::7], values[3:17, ::7])
    with pytest.raises(NotFoundError):
        ZipStore((outer, "b.zip")).get("a")


def test_thousands_of_entries_and_their_checksums(tmp_path):
    path = archive(tmp_path / "a.zip", [(f"c/{i}", str(i)) for i in range(70_000)])  # needs ZIP64
    store = ZipStore(path)
    assert sum(1 for _ in store.keys("c/")) == 70_000
    assert value(store, "c/69999") == b"69999"
    assert store.get("c/5")[1][1] == zlib.crc32(b"5")
    store.close()


def test_equality(tmp_path):
    assert ZipStore(tmp_path / "a.zip") == ZipStore(str(tmp_path / "a.zip"))
    assert ZipStore(tmp_path / "a.zip") != ZipStore(tmp_path / "a.zip", mode="a")
    assert ZipStore(tmp_path / "a.zip") != LocalStore(tmp_path)
    assert len({ZipStore(tmp_path / "a.zip"), ZipStore(tmp_path / "a.zip")}) == 1


KILLED = """
import os, sys
from blazarr.stores import ZipStore

store = ZipStore(sys.argv[1], mode="a")
for i in range(20):
    store.put(f"new/{i}", bytes(10_000))
store.put("old", b"changed")
os._exit(9)
"""


@pytest.mark.parametrize("comment", [b"", b"a comment"])
def test_additions_of_a_killed_writer_leave_the_archive_as_it_was(tmp_path, comment):
    path = tmp_path / "a.zip"
    nested = io.BytesIO()
    archive(nested, [("inner", DATA)])
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("old", DATA)
        file.writestr("nested.zip", nested.getvalue())
        file.comment = comment
    subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    store = ZipStore(path)
    with pytest.warns(UserWarning, match="not finished by its last writer"):
        assert list(store.keys()) == ["nested.zip", "old"]
    assert value(store, "old") == DATA
    store.close()
    store = ZipStore(path, mode="a")
    with pytest.warns(UserWarning, match="not finished"):
        store.put("more", b"value")
    store.close()
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        assert sorted(file.namelist()) == ["more", "nested.zip", "old"]
        assert file.comment == comment


def test_a_directory_above_4_gib_is_found_again(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("first", DATA)
        # A hole, instead of so much data.
        file.start_dir = 5 << 30
        file.writestr("old", DATA)
    subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    with pytest.warns(UserWarning, match="not finished"):
        assert value(ZipStore(path), "old") == DATA


@pytest.mark.parametrize("cut", [1, 21, 22, 40, 6000])
def test_an_entry_that_is_an_archive_is_not_taken_for_all(tmp_path, cut):
    nested = io.BytesIO()
    archive(nested, [("inner", DATA)])
    path = archive(
        tmp_path / "a.zip", [("x", DATA), ("nested.zip", nested.getvalue()), ("z", DATA)]
    )
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(CorruptError, match="not a zip archive"):
        ZipStore(path).get("x")
