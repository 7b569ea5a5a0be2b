"""Directories of zip archives: as `zipfile` reads them, in a fraction of the memory."""

import io
import itertools
import random
import struct
import zipfile
import zlib

import pytest

from blazarr.errors import CorruptError
from blazarr.stores import Children, MemoryStore, ZipStore
from blazarr.stores.base import Store
from blazarr.stores.directory import is_key


def archive(names):
    """Return an archive of which each entry holds its place in the order of writing."""
    file = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *args, **options: None)  # duplicate names
        with zipfile.ZipFile(file, "w") as written:
            for number, name in enumerate(names):
                written.writestr(name, str(number))
    return file


def generated(count, seed=1):
    """Names of keys with all kinds of characters, some of them twice, in no order."""
    draw = random.Random(seed)
    segments = ["a", "b", "a.b", "a0", "ü", "☃", "\U0001f600", "c", "10", "9", "x y", "\x01"]
    names = ["/".join(draw.choices(segments, k=draw.randint(1, 4))) for _ in range(count)]
    return names + draw.sample(names, count // 4) + ["../x", "a/", "/a", "b//c"]


@pytest.mark.parametrize("count", [1, 7, 8, 9, 16, 17, 400])
def test_keys_are_those_of_zipfile(count):
    file = archive(generated(count))
    store = ZipStore(file)
    with zipfile.ZipFile(file) as read:
        expected = {name: read.read(name) for name in read.namelist() if is_key(name)}
    assert list(store.keys()) == sorted(expected)
    assert dict(itertools.chain(*store.list())) == {k: len(v) for k, v in expected.items()}
    for key, value in expected.items():
        assert store.get(key)[0] == value
        assert store.get(f"{key}0x") is None


def test_parts_of_the_order():
    keys = {name for name in generated(300) if is_key(name)}
    store, same = ZipStore(archive(keys)), MemoryStore()
    for key in keys:
        same.put(key, b"")
    for prefix, after in itertools.product(
        ["", "a", "a/", "a/b", "ü/", "zz"], ["", "a/b", "c", "☃"]
    ):
        assert list(store.keys(prefix, after)) == list(same.keys(prefix, after))
    for folder in ("", "a", "a/", "a.b", "ü", "missing"):
        assert store.children(folder) == same.children(folder) == Store.children(store, folder)


def test_a_listing_is_of_the_time_it_began():
    store = ZipStore(archive(f"{number:04}" for number in range(2500)), mode="r+")
    store.put("new", b"")
    keys = store.keys()
    first = next(keys)
    for key in ("0001", "1700", "2499"):
        store.delete(key)
    assert [first, *keys] == [*(f"{number:04}" for number in range(2500)), "new"]
    assert len([*store.keys()]) == 2498
    assert store.children() == Children([*store.keys()], [])


def test_names_in_other_encodings():
    name = "große/☃"
    extra = struct.pack("<BL", 1, zlib.crc32(b"gro\xe1e/?")) + name.encode()
    extra = struct.pack("<HH", 0x9999, 3) + b"abc" + struct.pack("<HH", 0x7075, len(extra)) + extra
    stale = struct.pack("<HHBL", 0x7075, 8, 1, 7) + b"abc"
    file = directory(
        [
            (b"gro\xe1/x", 0, b""),
            (b"gro\xe1/y", 0, stale),
            (b"gro\xe1e/?", 0, extra),
            ("größe".encode(), 0x800, b""),
            ("groß/x".encode(), 0x800, b""),
        ]
    )
    store = ZipStore(file)
    assert list(store.keys()) == sorted([name, "größe", "groß/x", "groß/y"])
    assert all(map(store.exists, store.keys()))
    assert store.children() == Children(["größe"], ["groß", "große"])


def test_what_follows_a_nul_is_no_reason_to_read_another_entry():
    for mode in ("r", "r+"):
        file = directory([(b"a", 0, b""), (b"a\0/x", 0, b"")])
        store = ZipStore(file, mode=mode)
        if mode == "r+":
            store.put("b", b"1")
        assert store.get_many(["c"]) == [None]
        assert next(store.keys()) == "a"
        assert store._opened().entries.get("a").header_offset == 0


def test_large_numbers_are_in_extra_fields():
    numbers = struct.pack("<HHQQQ", 1, 24, 5 << 32, 5 << 32, 7 << 32)
    file = directory([(b"a", 0, numbers)], stored=0xFFFFFFFF, size=0xFFFFFFFF, offset=0xFFFFFFFF)
    store = ZipStore(file)
    assert store.size("a") == 5 << 32
    assert store._opened().entries.get("a").header_offset == 7 << 32
    with pytest.raises(CorruptError, match="beyond the end"):
        store.get("a")
    file = directory([(b"a", 0, numbers[:6])], size=0xFFFFFFFF)
    with pytest.raises(CorruptError, match="lacks its size"):
        ZipStore(file).size("a")


@pytest.mark.parametrize("count", [3, 70_000])
def test_data_before_an_archive(count):
    """Self-extracting archives; above 65,535 entries they have the records of ZIP64."""
    content = archive(["a", "b/c", *map(str, range(count))]).getvalue()
    store = ZipStore(io.BytesIO(b"#!/bin/sh\n" * 100 + content))
    assert len([*store.keys()]) == count + 2
    assert store.get("b/c")[0] == b"1"


@pytest.mark.parametrize("place", [0, 28, 29, 30, 31, 32, 46])
def test_damaged_records(place):
    file = directory([(b"abc", 0x800, b""), (b"def", 0x800, b"")])
    content = bytearray(file.getvalue())
    content[place] ^= 0xFF
    with pytest.raises(CorruptError, match="not a zip archive"):
        ZipStore(io.BytesIO(bytes(content))).get("a")


def test_many_readings_from_another_store_are_few_requests():
    asked = []

    class Asked(MemoryStore):
        def get_many(self, keys, ranges=None):
            asked.extend(ranges)
            return super().get_many(keys, ranges)

    store = Asked()
    store.put("a.zip", archive(map(str, range(1000))).getvalue())
    assert ZipStore((store, "a.zip")).get("77")[0] == b"77"
    # The end of the archive with its directory, the entry's header, the entry.
    assert len(asked) == 3


def directory(records, stored=0, size=0, offset=0):
    """Return an archive that is a directory alone."""
    content = b"".join(
        struct.pack(
            "<4sHHHHHHIIIHHHHHII", b"PK\1\2", 20, 20, flags, 0, 0, 33, 0, stored, size,
            len(name), len(extra), 0, 0, 0, 0, offset,
        ) + name + extra
        for name, flags, extra in records
    )  # fmt: skip
    count = min(len(records), 0xFFFF)
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, count, count, len(content), 0, 0)
    return io.BytesIO(content + end)
