"""The contract against an S3 server: versitygw where it is installed, else moto, which is a mock.

`go install github.com/versity/versitygw/cmd/versitygw@latest` installs it.
"""

import importlib.util
import itertools
import shutil
import socket
import subprocess
import time
import zipfile
from pathlib import Path
from urllib.request import Request, urlopen

import numpy as np
import obstore.store
import pytest

import blazarr
from blazarr.stores import store_from
from blazarr.testing.store_contract import StoreContract

# Tests are no package.
_path = Path(__file__).parent / "test_published.py"
_spec = importlib.util.spec_from_file_location("published", _path)
published = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(published)
Published, Contract = published.Published, published.Contract
archive_of = published.archive_of


GATEWAY = shutil.which("versitygw")
NUMBERS = itertools.count()

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    pytest.fail("the server did not start")


@pytest.fixture(scope="module")
def make_bucket(tmp_path_factory):
    """A function that makes a bucket and returns its URL and the options to reach it."""
    if GATEWAY is None:
        yield from moto_buckets()
        return
    root, port = tmp_path_factory.mktemp("buckets"), free_port()
    command = [GATEWAY, "--access", "key", "--secret", "secret", "--port", f"127.0.0.1:{port}"]
    with subprocess.Popen(
        [*command, "posix", str(root)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        wait_for(port)

        def make(name):
            (root / name).mkdir()
            return f"s3://{name}", options(port)

        yield make
        process.terminate()


def moto_buckets():
    server = pytest.importorskip("moto.server").ThreadedMotoServer(port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()

    def make(name):
        urlopen(Request(f"http://127.0.0.1:{port}/{name}", method="PUT")).close()
        return f"s3://{name}", options(port)

    yield make
    server.stop()


def options(port):
    return {"endpoint_url": f"http://127.0.0.1:{port}", "key": "key", "secret": "secret"}


class TestS3(StoreContract):
    @pytest.fixture
    def store(self, make_bucket):
        url, storage_options = make_bucket(f"bucket{next(NUMBERS)}")
        return store_from(f"{url}/some/prefix", None, storage_options)[0]

    if GATEWAY is None:
        test_no_update_is_lost = None  # moto looks at conditions first and writes later


class TestObstore(TestS3):
    @pytest.fixture
    def store(self, make_bucket):
        url, given = make_bucket(f"bucket{next(NUMBERS)}")
        made = obstore.store.S3Store(
            url.removeprefix("s3://"),
            prefix="some/prefix",
            endpoint=given["endpoint_url"],
            access_key_id=given["key"],
            secret_access_key=given["secret"],
            region="us-east-1",
            client_options={"allow_http": True},
        )
        return store_from(made)[0]


class TestZip(Contract):
    @pytest.fixture
    def store(self, make_bucket):
        url, storage_options = make_bucket(f"bucket{next(NUMBERS)}")
        bucket = store_from(url, None, storage_options)[0]

        def publish(values):
            bucket.put("folder/a.zip", archive_of(values, zipfile.ZIP_STORED))
            return store_from(f"{url}/folder/a.zip", None, storage_options)[0]

        return Published(publish)


def test_arrays_and_groups(make_bucket):
    url, storage_options = make_bucket(f"bucket{next(NUMBERS)}")
    values = np.arange(600).reshape(20, 30)
    group = blazarr.open_group(f"{url}/root", mode="w", storage_options=storage_options)
    array = group.create_array("a b/ü", shape=(20, 30), chunks=(5, 5), shards=(10, 10), dtype="i4")
    array[:] = values
    array[3:8, 4] = -1
    values[3:8, 4] = -1
    array.attrs["unit"] = "m"
    again = blazarr.open_group(f"{url}/root", mode="r", storage_options=storage_options)
    assert sorted(again.keys()) == ["a b"]
    assert np.array_equal(again["a b/ü"][:], values)
    assert np.array_equal(again["a b/ü"][15:2:-4, 3:9], values[15:2:-4, 3:9])
    assert again["a b/ü"].attrs["unit"] == "m"


def test_a_shard_that_was_replaced_is_looked_at_anew(make_bucket):
    """Indexes are kept between reads, but no index of one version leads into another."""
    url, storage_options = make_bucket(f"bucket{next(NUMBERS)}")
    given = {"chunks": (128, 128), "shards": (1024, 1024), "storage_options": storage_options}
    random = np.random.default_rng(0)
    values = random.integers(0, 1 << 30, (1024, 1024), dtype="u4")
    writer = blazarr.create_array(f"{url}/a", data=values, **given)
    reader = blazarr.open_array(f"{url}/a", mode="r", storage_options=storage_options)
    rows, columns = slice(100, 400, 7), slice(900, 1000)
    for _ in range(2):
        assert np.array_equal(reader[rows, columns], values[rows, columns])
    # Another order of magnitude: other lengths, so that every inner chunk lies elsewhere.
    for limit in (10, 1 << 20):
        values = random.integers(0, limit, (1024, 1024), dtype="u4")
        writer[:] = values
        for _ in range(2):
            assert np.array_equal(reader[rows, columns], values[rows, columns])
    values[:128, :896] = 0
    writer[:128, :896] = 0
    assert np.array_equal(reader[rows, columns], values[rows, columns])
    writer[:] = 0
    assert not reader[rows, columns].any()


def test_a_wrong_secret_is_no_empty_store(make_bucket):
    if GATEWAY is None:
        pytest.skip("moto looks at no signatures")
    url, storage_options = make_bucket(f"bucket{next(NUMBERS)}")
    wrong = store_from(url, None, storage_options | {"secret": "wrong"})[0]
    with pytest.raises(blazarr.errors.StoreError) as caught:
        wrong.get("zarr.json")
    assert caught.value.kind == "permission"
