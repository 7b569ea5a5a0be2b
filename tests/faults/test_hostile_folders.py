"""Folders that somebody prepared: a clear error, at once, and no memory for it."""

import os
import resource
import sys

import numpy as np
import pytest

import blazarr
from blazarr.errors import BlazarrError, CorruptError, LimitError, NotFoundError, StoreError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pipes, links and sparse files")

TEBIBYTE = 1 << 40


@pytest.fixture
def array(tmp_path):
    made = blazarr.create_array(tmp_path, shape=(8, 8), chunks=(8, 8), dtype="int32")
    made[...] = 1
    return made


@pytest.fixture(autouse=True)
def memory_stays_bounded():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 200 << 10, "kibibytes"


def make_sparse(path):
    with path.open("wb") as file:
        file.truncate(TEBIBYTE)


def test_an_endless_document(tmp_path, array):
    make_sparse(tmp_path / "zarr.json")
    with pytest.raises(LimitError):
        blazarr.open_array(tmp_path)


def test_an_endless_chunk(tmp_path, array):
    make_sparse(tmp_path / "c/0/0")
    with pytest.raises((LimitError, CorruptError)) as caught:
        array[...]
    assert "c/0/0" in str(caught.value)


def test_an_endless_device(tmp_path, array):
    (tmp_path / "c/0/0").unlink()
    (tmp_path / "c/0/0").symlink_to("/dev/zero")
    with pytest.raises((LimitError, CorruptError)):
        array[...]


@pytest.mark.parametrize("key", ["zarr.json", "c/0/0"])
def test_a_pipe_does_not_hang(tmp_path, array, key):
    (tmp_path / key).unlink()
    os.mkfifo(tmp_path / key)
    with pytest.raises(BlazarrError):
        blazarr.open_array(tmp_path)[...]


def test_a_folder_in_place_of_a_file_is_no_object(tmp_path, array):
    for key in ("c/0/0", "zarr.json"):
        (tmp_path / key).unlink()
        (tmp_path / key).mkdir()
    np.testing.assert_array_equal(array[...], np.zeros((8, 8)))
    with pytest.raises(StoreError) as caught:
        array[...] = 2
    assert caught.value.key == "c/0/0"
    with pytest.raises(NotFoundError):
        blazarr.open_array(tmp_path)


def test_a_loop_of_links(tmp_path, array):
    (tmp_path / "c/0/0").unlink()
    (tmp_path / "c/0/0").symlink_to("0")
    with pytest.raises(StoreError):
        array[...]


def test_a_file_in_place_of_a_folder_means_missing_chunks(tmp_path, array):
    (tmp_path / "c/0/0").unlink()
    (tmp_path / "c/0").rmdir()
    (tmp_path / "c/0").write_bytes(b"not a folder")
    np.testing.assert_array_equal(array[...], np.zeros((8, 8)))
    with pytest.raises(StoreError):
        array[...] = 2
