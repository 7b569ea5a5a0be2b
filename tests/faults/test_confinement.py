"""No key leads out of a store."""

import contextlib
import io
import itertools
import json
import os
import pickle
import random
import zipfile

import fsspec
import pytest

import blazarr
from blazarr._core import parse_key
from blazarr.errors import BlazarrError, StoreError
from blazarr.stores import LocalStore, MemoryStore, PrefixStore, ZipStore
from blazarr.stores.fsspec import FsspecStore
from blazarr.stores.references import ReferenceStore

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


LINKS = {
    "file": "../../a",
    "folder": "../../../x",
    "far": "/etc",
    "nowhere": "../../new",
    "c/0": "../../../y",
    "through": "folder",
    "inner": "own",
}


@pytest.fixture
def linked(root):
    """A folder with links out of it, and one that stays in it."""
    for name, target in LINKS.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).symlink_to(target)
    (root / "own").mkdir()
    (root / "own" / "a").write_bytes(b"own")
    return root


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_that_lead_out_are_not_followed(linked):
    before = around(linked)
    store = LocalStore(linked, links="inside")
    source = random.Random(8)
    written = 0
    for _ in range(20_000):
        names = source.choices((*LINKS, *SEGMENTS), k=source.randint(1, 4))
        key = "/".join(names)
        try:
            found = store.get(key)
            assert found is None or bytes(found[0]) in {b"own", b"new"}, key
            assert store.size(key) in {None, 3}
            assert not {"x", "passwd", "root"} & {*itertools.chain(*store.children(key))}
            store.put(key, b"new")
            written += 1
            if written % 3 == 0:
                store.delete(key)
        except BlazarrError:
            continue
    assert written > 100
    (linked / "target").mkdir()
    (linked / "again").symlink_to("target")
    store.put("again/kept", b"own")
    assert (linked / "target" / "kept").read_bytes() == b"own"
    listed = list(store.keys())
    assert "again/kept" in listed
    assert not any(key.startswith(("far/", "folder/", "through/", "c/0/")) for key in listed)
    for folder in LINKS:
        if folder != "inner":
            with contextlib.suppress(BlazarrError):
                store.delete_folder(folder)
    assert around(linked) == before


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_are_followed_by_default(linked):
    store = LocalStore(linked)
    assert bytes(store.get("file")[0]) == SECRET
    strict = LocalStore(linked, links="inside")
    with pytest.raises(StoreError, match="lead out"):
        strict.get("file")
    with pytest.raises(StoreError, match="lead out"):
        strict.put("nowhere", b"new")
    assert pickle.loads(pickle.dumps(strict)).links == "inside"
    with pytest.raises(StoreError, match="lead out"):
        strict.with_read_only().get("folder/y/a")


def test_consolidated_members_name_no_other_place(root):
    """Of 10^5 names in consolidated metadata, none brings anything from outside the group."""
    made = blazarr.create_array(root.parent / "beside", shape=(3,), chunks=(3,), dtype="u1")
    made[:] = 7
    document = json.loads((root.parent / "beside" / "zarr.json").read_bytes())
    out = ("../beside", "../../y/beside", str(root.parent / "beside"), "a/../../beside")
    names = {*generated(100_000), *out}
    # Text in JSON may have NUL in it, but names of members are checked one by one.
    members = dict.fromkeys(names, document)
    group = {
        "zarr_format": 3,
        "node_type": "group",
        "attributes": {},
        "consolidated_metadata": {
            "kind": "inline",
            "must_understand": False,
            "metadata": members,
        },
    }
    (root / "zarr.json").write_text(json.dumps(group))
    before = around(root)
    try:
        opened = blazarr.open_group(root, mode="r+")
        found = list(opened.members(max_depth=None))
    except BlazarrError:
        found = []
    for name, member in found:
        assert not leads_out(name), name
        assert isinstance(member, blazarr.Group) or not member[:].any(), name
    for name in out:
        with pytest.raises((BlazarrError, KeyError)):
            blazarr.open_group(root, mode="r")[name][:]
    assert around(root) == before


def test_references_point_where_they_may(root):
    """Of 10^5 references, none brings what lies outside the folder that is allowed."""
    for folder in (root, root / "a"):
        folder.mkdir(exist_ok=True)
        (folder / "b").write_bytes(b"own")
    before = around(root)
    targets = list(dict.fromkeys(generated(50_000)))
    places = [
        *targets,
        *(f"{root}/{name}" for name in targets),
        *(f"file://{root}/{n}" for n in targets),
    ]
    store = ReferenceStore({f"k{n}": [place] for n, place in enumerate(places)}, allow=[root])
    own = 0
    for number in range(len(places)):
        try:
            found = store.get(f"k{number}")
        except BlazarrError:
            continue
        if found is not None:
            assert bytes(found[0]) == b"own", places[number]
            own += 1
    assert own > 5
    assert around(root) == before


def test_a_metadata_document_names_no_other_place():
    store = MemoryStore()
    for path in ("../a", "/etc", "a/../../b"):
        with pytest.raises(ValueError):
            PrefixStore(store, path).get("zarr.json")
