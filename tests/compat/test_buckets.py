"""zarr-python's stores of servers: read by blazarr's own client."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import zarr

from blazarr.errors import StoreError

obstore = pytest.importorskip("obstore", reason="the oldest packages are tested without obstore")
from obstore.store import HTTPStore, MemoryStore  # noqa: E402 - where it is there
from zarr.storage import ObjectStore  # noqa: E402

# Tests are no package.
_path = Path(__file__).parent.parent / "faults" / "servers.py"
_spec = importlib.util.spec_from_file_location("servers", _path)
servers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(servers)

NUMBERS = np.arange(60 * 50, dtype="i4").reshape(60, 50)


@pytest.fixture
def asked(monkeypatch):
    """Keys that were asked for through obstore."""
    keys = []

    def spying(original):
        def spy(store, path, *args, **kwargs):
            keys.append(path)
            return original(store, path, *args, **kwargs)

        return spy

    for name in ("get_async", "get_range_async", "get_ranges_async"):
        monkeypatch.setattr(obstore, name, spying(getattr(obstore, name)))
    return keys


@pytest.fixture(params=[None, (32, 32)], ids=["chunks", "shards"])
def server(request):
    memory = zarr.storage.MemoryStore()
    made = zarr.create_array(
        memory, shape=NUMBERS.shape, chunks=(16, 16), shards=request.param, dtype="i4"
    )
    made[:] = NUMBERS
    files = {key: value.to_bytes() for key, value in memory._store_dict.items()}
    with servers.serve(files) as script:
        yield script


def opened(server):
    store = HTTPStore(server.url, client_options={"allow_http": True})
    return zarr.open_array(ObjectStore(store, read_only=True), mode="r")


@pytest.mark.parametrize("selection", [..., (slice(3, 20), slice(None, None, 7)), (59, 49)])
def test_reads(server, asked, selection):
    array = opened(server)
    asked.clear()
    np.testing.assert_array_equal(array[selection], NUMBERS[selection])
    assert asked == []


def test_absent_chunks_and_refused_ones(server):
    array = opened(server)
    key = "/c/0/1"
    del server.files[key]
    found = array[:]
    assert (found == 0).any()
    assert (found[found != NUMBERS] == 0).all()
    server.fail(key, servers.status(403))
    with pytest.raises(StoreError, match="403"):
        array[:]


def test_memory_is_asked_through_obstore(asked):
    array = zarr.create_array(
        ObjectStore(MemoryStore()), shape=NUMBERS.shape, chunks=(16, 16), dtype="i4"
    )
    array[:] = NUMBERS
    asked.clear()
    np.testing.assert_array_equal(array[:], NUMBERS)
    assert asked
