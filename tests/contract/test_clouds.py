"""The contract against web servers, and against emulators of Azure and Google Cloud where they are installed.

`npm install azurite` brings the one, `go install github.com/fsouza/fake-gcs-server@latest` the other.
"""

import base64
import contextlib
import hashlib
import hmac
import importlib.util
import itertools
import json
import shutil
import socket
import subprocess
import time
from email.utils import formatdate
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen

import numpy as np
import pytest

import blazarr
from blazarr.stores import ANY, Capabilities, MemoryStore, Store, WrapperStore, store_from
from blazarr.stores.object_store import ObjectStore
from blazarr.testing.store_contract import StoreContract

# Tests are no package.
_path = Path(__file__).parent.parent / "faults" / "servers.py"
_spec = importlib.util.spec_from_file_location("servers", _path)
servers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(servers)

NUMBERS = itertools.count()


class Uploaded(Store):
    """What is read from a web server; written and listed is what the server has."""

    def __init__(self, server):
        self.server = server
        self.web = ObjectStore(server.url)

    @property
    def capabilities(self):
        return Capabilities(ranges=True)

    def get(self, key, range=None):
        return self.web.get(key, range)

    def get_many(self, keys, ranges=None):
        return self.web.get_many(keys, ranges)

    def size(self, key):
        return self.web.size(key)

    def _files(self):
        return MemoryStore({path[1:]: data for path, data in self.server.files.items()})

    def put(self, key, data, if_generation=ANY):
        self._files().put(key, data)
        self.server.files[f"/{key}"] = bytes(data)
        return self.web.get(key)[1]

    def delete(self, key, if_generation=ANY):
        self._files().delete(key)
        return self.server.files.pop(f"/{key}", None) is not None

    def list(self, prefix="", start_after=""):
        return self._files().list(prefix, start_after)


class TestHttp(StoreContract):
    @pytest.fixture
    def store(self):
        with servers.serve({}) as server:
            yield Uploaded(server)

    test_pickle = None  # the server's files are this process's


@pytest.mark.filterwarnings("ignore:.*no range requests")
class TestHttpWithoutRanges(StoreContract):
    @pytest.fixture
    def store(self):
        with servers.serve({}) as server:
            server.ranges = False
            yield Uploaded(server)

    test_pickle = None  # likewise


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(command, port):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as process:
        try:
            for _ in range(600):
                with socket.socket() as probe:
                    if not probe.connect_ex(("127.0.0.1", port)):
                        break
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


# The account that every copy of the emulator has.
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)


def make_container(port, name):
    date, version = formatdate(usegmt=True), "2021-08-06"
    headers = f"x-ms-date:{date}\nx-ms-version:{version}"
    resource = f"/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
    text = "PUT" + "\n" * 12 + f"{headers}\n{resource}"
    digest = hmac.new(base64.b64decode(ACCOUNT_KEY), text.encode(), hashlib.sha256).digest()
    signature = f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
    sent = {"x-ms-date": date, "x-ms-version": version, "Authorization": signature}
    url = f"http://127.0.0.1:{port}/{ACCOUNT}/{name}?restype=container"
    urlopen(Request(url, method="PUT", headers=sent)).close()


@pytest.fixture(scope="module")
def azure(tmp_path_factory):
    emulator = shutil.which("azurite-blob")
    if emulator is None:
        pytest.skip("azurite-blob is not installed")
    port, folder = free_port(), tmp_path_factory.mktemp("azurite")
    command = [emulator, "--blobPort", str(port), "--location", str(folder), "--silent"]
    with running([*command, "--skipApiVersionCheck"], port):

        def make(name):
            make_container(port, name)
            endpoint = f"http://127.0.0.1:{port}/{ACCOUNT}"
            options = {"endpoint_url": endpoint, "account_name": ACCOUNT}
            return f"az://{name}", options | {"account_key": ACCOUNT_KEY}

        yield make


@pytest.fixture(scope="module")
def google():
    emulator = shutil.which("fake-gcs-server")
    if emulator is None:
        pytest.skip("fake-gcs-server is not installed")
    port = free_port()
    address = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(port)]
    public = ["-public-host", f"127.0.0.1:{port}", "-backend", "memory"]
    with running([emulator, *address, *public], port):

        def make(name):
            body = json.dumps({"name": name}).encode()
            headers = {"Content-Type": "application/json"}
            url = f"http://127.0.0.1:{port}"
            urlopen(Request(f"{url}/storage/v1/b?project=test", body, headers)).close()
            # What is anonymous may only read; this account needs no token.
            account = {"gcs_base_url": url, "disable_oauth": True}
            account |= dict.fromkeys(("client_email", "private_key", "private_key_id"), "")
            return f"gs://{name}", {"service_account_key": json.dumps(account)}, url

        yield make


class TestAzure(StoreContract):
    @pytest.fixture
    def store(self, azure):
        url, options = azure(f"container{next(NUMBERS)}")
        return store_from(f"{url}/some/prefix", None, options)[0]


class GoogleReads(WrapperStore):
    """A bucket whose objects the emulator is given by its other interface: it lacks the plain PUT of Google's."""

    def upload(self, key, data):
        base, bucket = self.emulator
        name = quote(f"some/prefix/{key}", safe="")
        place = f"{base}/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}"
        headers = {"Content-Type": "application/octet-stream"}
        urlopen(Request(place, bytes(data), headers, method="POST")).close()

    capabilities = Capabilities(ranges=True)

    def put(self, key, data, if_generation=ANY):
        MemoryStore().put(key, data)
        self.upload(key, data)
        return self.get(key)[1]


class TestGoogle(StoreContract):
    @pytest.fixture
    def store(self, google):
        url, options, base = google(f"bucket{next(NUMBERS)}")
        store = GoogleReads(store_from(f"{url}/some/prefix", None, options)[0])
        object.__setattr__(store, "emulator", (base, url.removeprefix("gs://")))
        return store

    # Written by conditions that the emulator's other interface is not told.
    test_conditions = test_no_update_is_lost = test_pickle = None


def test_arrays_and_groups(azure):
    url, options = azure(f"arrays{next(NUMBERS)}")
    values = np.arange(600).reshape(20, 30)
    group = blazarr.open_group(f"{url}/root", mode="w", storage_options=options)
    array = group.create_array("a b/c", shape=(20, 30), chunks=(5, 5), shards=(10, 10), dtype="i4")
    array[:] = values
    array[3:8, 4] = -1
    values[3:8, 4] = -1
    array.attrs["unit"] = "m"
    again = blazarr.open_group(f"{url}/root", mode="r", storage_options=options)
    assert np.array_equal(again["a b/c"][:], values)
    assert again["a b/c"].attrs["unit"] == "m"
