"""What users pass for a store."""

from pathlib import Path
from urllib.parse import quote

import pytest

from blazarr import _core
from blazarr.errors import BlazarrError, ReadOnlyError, UnsupportedError
from blazarr.stores import (
    LocalStore,
    MemoryStore,
    PrefixStore,
    ReadOnlyStore,
    ZipStore,
    native,
    store_from,
)

NAMES = ("plain", "with space", "ü#1", "100%", "a%20b", "q?x=1", "c#d/e")


def made(store, mode=None, options=None):
    found, path = store_from(store, mode, options)
    assert path == ""
    return found


@pytest.mark.parametrize("name", NAMES)
def test_paths_and_urls_are_the_same_folder(tmp_path, name):
    expected = LocalStore(tmp_path / name)
    assert made(str(tmp_path / name)) == expected
    assert made(tmp_path / name) == expected
    assert made(f"file://{quote(str(tmp_path / name))}") == expected
    expected.put("key", b"")
    assert made(f"file://{tmp_path / name}") == expected


def test_a_relative_path_stays_where_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stores = made("x"), made(Path("x")), made("file://x"), made("./x/../x/")
    monkeypatch.chdir("/")
    assert {store.root for store in stores} == {tmp_path / "x"}


def test_dicts_and_memory():
    values = {}
    made(values).put("a/b", b"1")
    assert values == {"a/b": b"1"}
    assert made(None) == MemoryStore()
    store = MemoryStore()
    assert made(store) is store


@pytest.mark.parametrize("mode", ["r", "r+", "a", "w", "w-", None])
def test_modes(tmp_path, mode):
    for argument in (tmp_path, {}, None, PrefixStore(MemoryStore(), "a")):
        assert made(argument, mode).read_only == (mode == "r")
    read_only = MemoryStore(read_only=True)
    if mode in {"r", None}:
        assert made(read_only, mode).read_only
    else:
        with pytest.raises(ReadOnlyError):
            made(read_only, mode)


def test_opening_makes_nothing(tmp_path):
    for mode in ("r", "w", None):
        made(tmp_path / "x", mode)
    assert list(tmp_path.iterdir()) == []


def test_options_are_the_local_stores(tmp_path):
    store = made(str(tmp_path), options={"durability": "fsync", "locking": "none"})
    assert (store.durability, store.locking) == ("fsync", "none")
    with pytest.raises(BlazarrError, match="storage_options"):
        made({}, options={"anon": True})
    with pytest.raises(TypeError):
        made(str(tmp_path), options={"anon": True})


@pytest.mark.parametrize("argument", ["nonsense://bucket/x", 5, object(), b"path"])
def test_what_is_not_a_store(argument):
    with pytest.raises(UnsupportedError):
        made(argument)


def test_a_file_is_not_a_folder(tmp_path):
    (tmp_path / "x.zarr").write_bytes(b"PK")
    with pytest.raises(UnsupportedError, match="zip"):
        made(tmp_path / "x.zarr")
    (tmp_path / "folder.zip").mkdir()
    assert made(tmp_path / "folder.zip") == LocalStore(tmp_path / "folder.zip")
    assert made(tmp_path / "x.zip") == ZipStore(tmp_path / "x.zip", mode="a")


def test_wrong_arguments(tmp_path):
    with pytest.raises(BlazarrError, match="mode"):
        made(None, "rw")
    with pytest.raises(TypeError):
        LocalStore(5)
    with pytest.raises(ValueError, match="durability"):
        LocalStore(tmp_path, durability="yes")
    with pytest.raises(ValueError, match="locking"):
        LocalStore(tmp_path, locking="posix")


def test_the_engine_uses_native_stores_without_python(tmp_path):
    for store in (LocalStore(tmp_path), MemoryStore()):
        assert native(store) is store.values
        for view in (store.with_read_only(), ReadOnlyStore(store)):
            assert "ReadOnly" in repr(native(view))
            assert "PyStore" not in repr(native(view))
    assert isinstance(native(MemoryStore({})), _core.PyStore)
    assert isinstance(native(PrefixStore(MemoryStore(), "a")), _core.PyStore)
