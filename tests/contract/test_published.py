"""The contract of stores that only read: zip archives on servers, references, WebDAV and fsspec's HTTP.

What is written goes into memory and is published anew before the next read. WebDAV needs wsgidav and cheroot, which
the group ``interop`` has.
"""

import importlib.util
import io
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

import blazarr
from blazarr.stores import ANY, Capabilities, MemoryStore, Store, ZipStore
from blazarr.stores.object_store import ObjectStore
from blazarr.stores.references import ReferenceStore
from blazarr.testing.store_contract import StoreContract

# Tests are no package.
_path = Path(__file__).parent.parent / "faults" / "servers.py"
_spec = importlib.util.spec_from_file_location("servers", _path)
servers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(servers)


class Published(Store):
    """What `publish` makes of values in memory, each time that they have changed."""

    def __init__(self, publish):
        self.values = MemoryStore()
        self.publish = publish
        self.present = None

    @property
    def capabilities(self):
        return Capabilities(ranges=True)

    def reader(self):
        if self.present is None:
            values = {key: self.values.get(key)[0] for key in list(self.values.keys())}
            self.present = self.publish(values)
        return self.present

    def get(self, key, range=None):
        return self.reader().get(key, range)

    def get_many(self, keys, ranges=None):
        return self.reader().get_many(keys, ranges)

    def size(self, key):
        return self.reader().size(key)

    def list(self, prefix="", start_after=""):
        return self.reader().list(prefix, start_after)

    def children(self, folder=""):
        return self.reader().children(folder)

    def put(self, key, data, if_generation=ANY):
        self.values.put(key, data)
        self.present = None
        return self.get(key)[1]

    def delete(self, key, if_generation=ANY):
        self.present = None
        return self.values.delete(key)


class Contract(StoreContract):
    test_pickle = None  # what publishes is this process
    test_long_listing = None  # each of thousands of writes publishes all


def archive_of(values, compression):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for key, value in values.items():
            archive.writestr(key, bytes(value))
    return file.getvalue()


class TestZipOverHttp(Contract):
    @pytest.fixture(params=[zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    def store(self, request):
        with servers.serve({}) as server:

            def publish(values):
                server.files["/a.zip"] = archive_of(values, request.param)
                return ZipStore((ObjectStore(server.url), "a.zip"))

            yield Published(publish)


class TestReferences(Contract):
    @pytest.fixture
    def store(self, tmp_path):
        def publish(values):
            references, data = {}, b"head"
            for key, value in values.items():
                references[key] = [str(tmp_path / "data"), len(data), len(value)]
                data += bytes(value)
            (tmp_path / "data").write_bytes(data)
            return ReferenceStore({"version": 1, "refs": references}, allow=[tmp_path])

        return Published(publish)


class WebDav(Store):
    """A folder that a WebDAV server serves: read through the server, written and listed beside it."""

    def __init__(self, folder, url):
        self.folder = blazarr.stores.LocalStore(folder)
        self.web = ObjectStore(url)

    capabilities = Capabilities(ranges=True)

    def get(self, key, range=None):
        return self.web.get(key, range)

    def get_many(self, keys, ranges=None):
        return self.web.get_many(keys, ranges)

    def size(self, key):
        return self.web.size(key)

    def put(self, key, data, if_generation=ANY):
        self.folder.put(key, data)
        return self.web.get(key)[1]

    def delete(self, key, if_generation=ANY):
        return self.folder.delete(key)

    def list(self, prefix="", start_after=""):
        return self.folder.list(prefix, start_after)


@pytest.fixture
def webdav(tmp_path):
    cheroot = pytest.importorskip("cheroot.wsgi")
    wsgidav = pytest.importorskip("wsgidav.wsgidav_app")
    config = {
        "provider_mapping": {"/": str(tmp_path)},
        "simple_dc": {"user_mapping": {"*": True}},
        "logging": {"enable": False},
        "verbose": 0,
    }
    server = cheroot.Server(("127.0.0.1", 0), wsgidav.WsgiDAVApp(config))
    server.prepare()
    thread = threading.Thread(target=server.serve)
    thread.start()
    yield f"http://127.0.0.1:{server.bind_addr[1]}"
    server.stop()
    thread.join()


class TestWebDav(StoreContract):
    @pytest.fixture
    def store(self, webdav, tmp_path):
        return WebDav(tmp_path, webdav)

    test_pickle = None  # the server is this process's
    test_generations = test_conditions = test_no_update_is_lost = None


def test_sessions_of_icechunk(tmp_path):
    icechunk = pytest.importorskip("icechunk")
    repository = icechunk.Repository.create(icechunk.local_filesystem_storage(str(tmp_path)))
    session = repository.writable_session("main")
    values = np.arange(600).reshape(20, 30)
    group = blazarr.open_group(session.store, mode="w")
    array = group.create_array("a/b", shape=(20, 30), chunks=(5, 5), shards=(10, 10), dtype="i4")
    array[:] = values
    array[3:8, 4] = -1
    values[3:8, 4] = -1
    array.attrs["unit"] = "m"
    group.create_array("gone", shape=(3,), dtype="u1")[:] = 1
    del group["gone"]
    session.commit("first")
    found = blazarr.open_group(repository.readonly_session("main").store, mode="r")
    assert sorted(found.keys()) == ["a"]
    assert sorted(found["a"].keys()) == ["b"]
    assert np.array_equal(found["a/b"][:], values)
    assert np.array_equal(found["a/b"][15:2:-4, 3:9], values[15:2:-4, 3:9])
    assert found["a/b"].attrs["unit"] == "m"
    assert found["a/b"].nchunks_initialized == 24
    with pytest.raises(blazarr.errors.BlazarrError, match="read"):
        found["a/b"][0] = 0


def test_references_of_virtualizarr(tmp_path):
    h5py = pytest.importorskip("h5py")
    virtualizarr = pytest.importorskip("virtualizarr")
    registry = pytest.importorskip("obspec_utils.registry")
    obstore = pytest.importorskip("obstore.store")
    values = np.arange(600, dtype="f4").reshape(20, 30)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("a", data=values, chunks=(5, 10), compression="gzip")
    known = registry.ObjectStoreRegistry({"file://": obstore.LocalStore()})
    with virtualizarr.open_virtual_dataset(
        f"file://{tmp_path}/a.h5", registry=known, parser=virtualizarr.parsers.HDFParser()
    ) as dataset:
        dataset.vz.to_kerchunk(str(tmp_path / "refs.json"), format="json")
    options = {"allow": [tmp_path]}
    group = blazarr.open_group(
        f"reference://{tmp_path}/refs.json", mode="r", storage_options=options
    )
    assert np.array_equal(group["a"][:], values)
    assert np.array_equal(group["a"][3:17:2, 25], values[3:17:2, 25])
