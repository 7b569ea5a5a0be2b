"""The contract against an S3 server: versitygw where it is installed, else moto, which is a mock.

`go install github.com/versity/versitygw/cmd/versitygw@latest` installs it.
"""

import itertools
import shutil
import socket
import subprocess
import time
from urllib.request import Request, urlopen

import numpy as np
import pytest

import blazarr
from blazarr.stores import store_from
from blazarr.testing.store_contract import StoreContract

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


def test_a_wrong_secret_is_no_empty_store(make_bucket):
    if GATEWAY is None:
        pytest.skip("moto looks at no signatures")
    url, storage_options = make_bucket(f"bucket{next(NUMBERS)}")
    wrong = store_from(url, None, storage_options | {"secret": "wrong"})[0]
    with pytest.raises(blazarr.errors.StoreError) as caught:
        wrong.get("zarr.json")
    assert caught.value.kind == "permission"
