"""Places for nodes: a folder and memory, in both formats."""

import pytest

import blazarr
from blazarr.stores import MemoryStore


@pytest.fixture(params=["local", "memory"])
def store(request, tmp_path):
    return tmp_path / "store" if request.param == "local" else MemoryStore()


@pytest.fixture(params=[2, 3], ids=["v2", "v3"])
def zarr_format(request):
    return request.param


@pytest.fixture
def group(store, zarr_format):
    return blazarr.open_group(store, mode="w", zarr_format=zarr_format)
