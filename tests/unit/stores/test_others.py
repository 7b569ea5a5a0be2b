"""Stores and URLs of other libraries."""

import sys
from datetime import timedelta

import fsspec
import numpy as np
import obstore
import pytest
import upath
import zarr
from obstore.store import AzureStore, GCSStore, HTTPStore, S3Store
from zarr.abc.store import RangeByteRequest

import blazarr
from blazarr.errors import BlazarrError, ConflictError, ReadOnlyError, UnsupportedError
from blazarr.stores import LocalStore, MemoryStore, store_from
from blazarr.stores.fsspec import FsspecStore
from blazarr.stores.object_store import ObjectStore
from blazarr.stores.zarr_python import ZarrPythonStore

VALUES = np.arange(600, dtype="u2").reshape(20, 30)


def filled(store, **options):
    """A sharded array, written through a store and read back by zarr-python's side of it."""
    array = blazarr.create_array(
        store, shape=(20, 30), chunks=(5, 5), shards=(10, 10), dtype="u2", **options
    )
    array[:] = VALUES
    array[3:5, 7] = 9
    array.attrs["note"] = "ü"
    return array


def check(store, **options):
    expected = VALUES.copy()
    expected[3:5, 7] = 9
    array = blazarr.open_array(store, mode="r", **options)
    assert np.array_equal(array[:], expected)
    assert np.array_equal(array[17:2:-3, [1, 8]], expected[17:2:-3, [1, 8]])
    assert array.attrs["note"] == "ü"


def test_stores_of_zarr_python(tmp_path):
    memory = zarr.storage.MemoryStore()
    filled(memory, name="a/b")
    check(memory, path="a/b")
    assert zarr.open_array(memory, path="a/b", mode="r")[19, 29] == 599
    group = blazarr.open_group(memory, mode="r")
    assert sorted(group.keys()) == ["a"]
    wrapped = zarr.storage.WrapperStore(memory)
    check(wrapped, path="a/b")
    check(zarr.storage.StorePath(memory, "a/b"))
    with pytest.raises(ReadOnlyError):
        blazarr.open_array(memory.with_read_only(True), path="a/b", mode="r+")


class Strict(zarr.storage.WrapperStore):
    """As Icechunk's: what lies beyond the end of a value is an error."""

    async def get(self, key, prototype, byte_range=None):
        if isinstance(byte_range, RangeByteRequest) and await self.exists(key):
            assert byte_range.end <= await self.getsize(key)
        return await super().get(key, prototype, byte_range)


def test_a_store_that_cuts_nothing_off():
    store = Strict(zarr.storage.MemoryStore())
    filled(store)
    check(store)
    assert store_from(store)[0].get("zarr.json", slice(1 << 20, 1 << 30))[0] == b""


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_local_store_of_zarr_python_is_our_own(tmp_path):
    found, _ = store_from(zarr.storage.LocalStore(tmp_path, read_only=True))
    assert found == LocalStore(tmp_path, read_only=True)
    archive = zarr.storage.ZipStore(tmp_path / "a.zip", mode="w")
    filled(archive)
    archive.close()
    check(tmp_path / "a.zip")


def test_memory_of_obstore():
    memory = obstore.store.MemoryStore()
    filled(memory)
    check(memory)
    store = store_from(memory)[0]
    assert store.capabilities.conditional
    generation = store.get("zarr.json")[1]
    store.put("zarr.json", bytes(store.get("zarr.json")[0]) + b" ", generation)
    with pytest.raises(ConflictError):
        store.put("zarr.json", b"{}", generation)
    assert bytes(obstore.get(memory, "zarr.json").bytes()).endswith(b" ")


def test_a_folder_of_obstore_is_our_own(tmp_path):
    assert store_from(obstore.store.LocalStore(tmp_path))[0] == LocalStore(tmp_path)


def test_servers_of_obstore():
    def provider():
        return {"access_key_id": "a", "secret_access_key": "b", "expires_at": None}

    store = S3Store(
        "bucket",
        prefix="a/b",
        region="eu-west-1",
        endpoint="https://host",
        client_options={"connect_timeout": "3s"},
        retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=9)},
        credential_provider=provider,
    )
    found = store_from(store)[0].server
    assert (found.url, found.prefix) == ("s3://bucket", "a/b")
    assert dict(found.options) == {"endpoint": "https://host", "region": "eu-west-1"}
    assert dict(found.client)["connect_timeout"] == "3s"
    assert (found.retries, found.patience) == (2, 9)
    assert found.credentials()() == ({"access_key_id": "a", "secret_access_key": "b"}, None)
    assert str(store_from(GCSStore("bucket", skip_signature=True))[0]) == "gs://bucket"
    azure = AzureStore("box", account_name="name", skip_signature=True)
    assert str(store_from(azure)[0]) == "az://box"
    assert store_from(HTTPStore("https://host/a"))[0] == store_from("https://host/a/")[0]


def test_fsspec(tmp_path):
    url = f"memory://{tmp_path}/a"
    filled(url)
    check(url)
    check(fsspec.get_mapper(url))
    check(upath.UPath(url))
    assert isinstance(store_from(upath.UPath(url))[0], FsspecStore)
    assert store_from(upath.UPath(tmp_path))[0] == LocalStore(tmp_path)
    check(f"simplecache::{url}")


def test_a_failing_file_system_is_an_error_and_never_a_missing_chunk(monkeypatch, tmp_path):
    url = f"memory://{tmp_path}/a"
    filled(url)
    fs = type(fsspec.filesystem("memory"))
    original = fs.cat_file

    def failing(self, path, **options):
        if "/c/" in path:
            raise PermissionError("no")
        return original(self, path, **options)

    monkeypatch.setattr(fs, "cat_file", failing)
    with pytest.raises(blazarr.errors.StoreError, match="PermissionError"):
        blazarr.open_array(url, mode="r")[:]


def server(url, **storage_options):
    return store_from(url, None, storage_options)[0].server


def test_urls():
    found = server("s3://bucket/a/b%20c/", endpoint_url="http://host:1", key="k", secret="s")
    assert (found.url, found.prefix) == ("s3://bucket", "a/b c")
    options = {"endpoint": "http://host:1", "access_key_id": "k", "secret_access_key": "s"}
    assert dict(found.options) == options | {"region": "us-east-1"}
    assert "secret_access_key" not in repr(found)
    assert dict(server("s3://bucket/a", anonymous=True).options) == {"skip_signature": "true"}
    times = dict(server("gs://bucket", read_timeout=0.25, skip_signature=True).client)
    assert (times["connect_timeout"], times["read_timeout"]) == ("5000ms", "250ms")
    assert server("https://host/a/") == server("https://host/a")
    assert store_from("https://host/a")[0].read_only
    store = store_from("s3://bucket/a", "r", {"requests": 7, "deadline": 5, "anon": True})[0]
    assert store.read_only
    assert (store.server.requests, store.server.deadline) == (7, 5)
    assert store.with_read_only(False).with_read_only() == store


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("https://host/a", {"endpoint_url": "x"}),
        ("s3://bucket/a", {"no_such_option": "x"}),
        ("s3://bucket/a", {"client_options": {"no_such_option": "x"}}),
        ("s3://bucket/a", {"retry_config": {"no_such_option": 1}}),
        ("s3://bucket/a", {"deadline": -1}),
        ("s3://bucket/a", {"profile": "no-such-profile"}),
        ("az://a.b/c", {}),
    ],
)
def test_options_that_mean_nothing(url, options):
    with pytest.raises(BlazarrError):
        store_from(url, None, options)


def test_profiles(monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_REGION", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    (tmp_path / "credentials").write_text(
        "[default]\naws_access_key_id = a\naws_secret_access_key = b\n"
        "[lab]\naws_access_key_id = c\naws_secret_access_key = d\naws_session_token = e\n"
    )
    (tmp_path / "config").write_text(
        "[profile lab]\nregion = eu-north-1\nendpoint_url = https://lab\n"
        "[profile far]\nrole_arn = arn:x\nsource_profile = default\n"
    )
    keys = {"access_key_id": "a", "secret_access_key": "b"}
    assert dict(server("s3://bucket").options) == keys
    lab = {"access_key_id": "c", "secret_access_key": "d", "session_token": "e"}
    lab |= {"endpoint": "https://lab", "region": "eu-north-1"}
    assert dict(server("s3://bucket", profile="lab").options) == lab
    monkeypatch.setenv("AWS_PROFILE", "lab")
    assert dict(server("s3://bucket").options) == lab
    assert "access_key_id" not in dict(server("s3://bucket", anonymous=True).options)
    with pytest.raises(UnsupportedError, match="credential_provider"):
        server("s3://bucket", profile="far")
    assert server("s3://bucket", profile="far", credential_provider=print).options == ()
    monkeypatch.delenv("AWS_PROFILE")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "environment")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    assert server("s3://bucket").options == ()


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(UnsupportedError, match="pip install fsspec"):
        store_from("ftp://host/a")


def test_equality():
    memory = zarr.storage.MemoryStore()
    assert ZarrPythonStore(memory) == ZarrPythonStore(memory)
    assert ZarrPythonStore(memory) != MemoryStore()
    assert ObjectStore("gs://a/b") == ObjectStore("gs://a/b/")
    assert ObjectStore("gs://a/b") != ObjectStore("gs://a/c")
    assert FsspecStore.from_url("memory://a") == FsspecStore.from_url("memory://a/")
    assert FsspecStore.from_url("memory://a") != FsspecStore.from_url("memory://b")


def test_links_and_denials_of_fsspec(tmp_path, monkeypatch):
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (root / "a" / "x").write_bytes(b"1")
    (root / "link").symlink_to("a")
    (root / "circle").symlink_to(".")
    store = FsspecStore(fsspec.filesystem("file"), str(root))
    # Links to folders are not entered, since they may lead in a circle, but what is there is found.
    assert list(store.keys()) == ["a/x", "circle", "link"]
    assert store.children().folders == ["a", "circle", "link"]
    assert store.get("link/x")[0] == b"1"

    def denied(path, **options):
        raise PermissionError(path)

    monkeypatch.setattr(store.fs, "ls", denied)
    for listing in (lambda: list(store.keys()), store.children):
        with pytest.raises(blazarr.errors.StoreError, match="PermissionError"):
            listing()


def test_names_that_lead_out_of_a_folder_of_fsspec(monkeypatch, tmp_path):
    fs = fsspec.filesystem("memory")
    store = FsspecStore(fs, f"{tmp_path}/a")
    names = ["..", ".", "", "good"]
    found = [{"name": f"{tmp_path}/a/{name}", "type": "file", "size": 1} for name in names]
    found += [
        {"name": f"{tmp_path}/a/{name}", "type": "directory", "size": 0} for name in names[:3]
    ]
    monkeypatch.setattr(fs, "ls", lambda path, **options: found)
    assert list(store.list()) == [[("good", 1)]]
    assert store.children().keys == ["good"]


@pytest.mark.parametrize(
    "url", ["nosuch://bob:secret@host/x", "simplecache::nosuch://b:secret@h/x"]
)
def test_passwords_in_urls_stay_out_of_errors(url):
    with pytest.raises(BlazarrError) as raised:
        blazarr.open_array(url, mode="r")
    assert "secret" not in str(raised.value)


def test_passwords_in_urls_stay_out_of_names(monkeypatch):
    fs = fsspec.filesystem("memory", skip_instance_cache=True)
    assert str(FsspecStore(fs, "/a@b/c")) == "memory:///a@b/c"
    monkeypatch.setattr(fs, "unstrip_protocol", lambda path: f"ftp://bob:secret@host{path}")
    assert str(FsspecStore(fs, "/x")) == "ftp://host/x"
