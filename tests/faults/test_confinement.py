"""No key leads out of a store."""

import io
import os
import random
import zipfile

import fsspec
import pytest

from blazarr._core import parse_key
from blazarr.errors import BlazarrError
from blazarr.stores import LocalStore, MemoryStore, PrefixStore, ZipStore
from blazarr.stores.fsspec import FsspecStore

SEGMENTS = ("", ".", "..", "...", "a", "b", "zarr.json", "..a", "%2e%2e", "~", "\0", "a\0", "a\\..")
SECRET = b"secret"


def generated(count):
    source = random.Random(7)
    for _ in range(count):
        yield "/".join(source.choices(SEGMENTS, k=source.randint(1, 6)))


def leads_out(key):
    """Decide by the file system's rules, not by those under test."""
    return "\0" in key or key != os.path.normpath(f"/{key}").removeprefix("/") or not key


def test_keys_are_paths_below_the_root():
    accepted = 0
    for key in generated(100_000):
        try:
            parse_key(key)
        except BlazarrError:
            continue
        accepted += 1
        assert not leads_out(key), key
    assert accepted > 1000


@pytest.fixture
def root(tmp_path):
    """A folder with things around it that are nobody's business."""
    for folder in (tmp_path, tmp_path / "x", tmp_path / "x" / "y"):
        folder.mkdir(exist_ok=True)
        for name in ("a", "b", "zarr.json", "..a"):
            (folder / name).write_bytes(SECRET)
    root = tmp_path / "x" / "y" / "root"
    root.mkdir()
    return root


def around(root):
    top = root.parent.parent.parent
    files = (path for path in top.rglob("*") if root not in path.parents)
    return {path: path.read_bytes() if path.is_file() else None for path in files}


def stores(root):
    yield LocalStore(root / "local")
    yield PrefixStore(LocalStore(root), "prefix")
    yield FsspecStore(fsspec.filesystem("file"), str(root / "fsspec"))


def test_stores_stay_in_their_folder(root):
    before = around(root)
    for store in stores(root):
        written = 0
        for key in generated(4000):
            try:
                found = store.get(key)
                assert found is None or bytes(found[0]) != SECRET
                store.put(key, b"own")
                written += 1
                if written % 3 == 0:
                    store.delete(key)
            except BlazarrError:
                continue
        assert written > 50
        store.delete_folder()
    assert around(root) == before


def test_entries_of_an_archive_are_read_by_keys_alone():
    # What follows a NUL is no part of an entry's name.
    names = dict.fromkeys(name.partition("\0")[0] or "x" for name in generated(100_000))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), b"1")
    store = ZipStore(file)
    listed = list(store.keys())
    assert listed == sorted(set(listed))
    assert not any(leads_out(key) for key in listed)
    assert len(listed) > 100


def test_a_metadata_document_names_no_other_place():
    store = MemoryStore()
    for path in ("../a", "/etc", "a/../../b"):
        with pytest.raises(ValueError):
            PrefixStore(store, path).get("zarr.json")
