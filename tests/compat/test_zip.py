"""Archives that zarr-python has open: read by their place in the file, and by their own methods where these differ."""

import threading
import zipfile

import numpy as np
import pytest
import zarr
from zarr.storage import ZipStore

from blazarr.errors import CorruptError

NUMBERS = np.arange(60 * 50, dtype="i4").reshape(60, 50)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data.zip"


@pytest.fixture
def opened(monkeypatch):
    """Entries that were read through zipfile."""
    names = []
    original = zipfile.ZipFile.open

    def spy(self, name, *args, **kwargs):
        names.append(getattr(name, "filename", name))
        return original(self, name, *args, **kwargs)

    monkeypatch.setattr(zipfile.ZipFile, "open", spy)
    return names


def fill(store, **options):
    array = zarr.create_array(store, shape=NUMBERS.shape, chunks=(16, 16), dtype="i4", **options)
    array[:] = NUMBERS
    return array


@pytest.mark.parametrize("shards", [None, (32, 32)], ids=["chunks", "shards"])
@pytest.mark.parametrize("selection", [..., (slice(3, 20), slice(None, None, 7)), (59, 49)])
def test_reads_from_the_file(path, shards, selection, opened):
    with ZipStore(path, mode="w") as store:
        fill(store, shards=shards)
    with ZipStore(path) as store:
        array = zarr.open_array(store, mode="r")
        opened.clear()
        np.testing.assert_array_equal(array[selection], NUMBERS[selection])
    assert opened == []


@pytest.mark.parametrize("shards", [None, (32, 32)], ids=["chunks", "shards"])
@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_compressed_entries(path, compression, shards):
    with ZipStore(path, mode="w", compression=compression) as store:
        array = fill(store, shards=shards)
        np.testing.assert_array_equal(array[3:20, 5], NUMBERS[3:20, 5])
    with ZipStore(path) as store:
        np.testing.assert_array_equal(zarr.open_array(store, mode="r")[:], NUMBERS)


def test_what_was_just_written_is_read(path):
    with ZipStore(path, mode="w") as store:
        array = fill(store)
        np.testing.assert_array_equal(array[:], NUMBERS)
        with pytest.warns(UserWarning, match="Duplicate name"):
            array[:5, :5] = 0
        assert (array[:5, :5] == 0).all()
        np.testing.assert_array_equal(array[5:], NUMBERS[5:])


def test_a_closed_store_opens_again(path):
    store = ZipStore(path, mode="a")
    array = fill(store)
    store.close()
    np.testing.assert_array_equal(array[:], NUMBERS)
    store.close()


def test_missing_chunks_are_filled(path):
    with ZipStore(path, mode="w") as store:
        array = zarr.create_array(store, shape=8, chunks=2, dtype="i4", fill_value=-1)
        array[2:4] = 5
        np.testing.assert_array_equal(array[:], [-1, -1, 5, 5, -1, -1, -1, -1])


def test_damaged_entries_are_an_error(path):
    with ZipStore(path, mode="w") as store:
        fill(store, compressors=None)
    data = bytearray(path.read_bytes())
    at = data.index(NUMBERS[0, :16].tobytes())
    data[at] ^= 0xFF
    path.write_bytes(data)
    with ZipStore(path) as store, pytest.raises(CorruptError, match="checksum"):
        zarr.open_array(store, mode="r")[:]


def test_an_archive_that_was_cut_off_is_an_error(path):
    with ZipStore(path, mode="w") as store:
        fill(store)
    with ZipStore(path) as store:
        array = zarr.open_array(store, mode="r")
        array[0, 0]
        data = path.read_bytes()
        path.write_bytes(data[:200])
        with pytest.raises(CorruptError):
            array[:]


def test_changed_methods_are_called(path, monkeypatch):
    with ZipStore(path, mode="w") as store:
        array = fill(store)
        seen = []
        original = ZipStore.get

        async def get(self, key, *args, **kwargs):
            seen.append(key)
            return await original(self, key, *args, **kwargs)

        monkeypatch.setattr(ZipStore, "get", get)
        np.testing.assert_array_equal(array[0, :16], NUMBERS[0, :16])
        assert seen == ["c/0/0"]


def test_many_threads(path):
    with ZipStore(path, mode="w") as store:
        fill(store)
    with ZipStore(path) as store:
        array = zarr.open_array(store, mode="r")
        found = [None] * 8

        def read(number):
            found[number] = array[number::8]

        threads = [threading.Thread(target=read, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        for number, got in enumerate(found):
            np.testing.assert_array_equal(got, NUMBERS[number::8])


@pytest.mark.skipif(
    "IO" not in str(ZipStore.__init__.__annotations__), reason="this zarr-python opens paths alone"
)
def test_file_objects(path):
    with ZipStore(path, mode="w") as store:
        fill(store)
    with path.open("rb") as file, ZipStore(file, mode="r") as store:
        np.testing.assert_array_equal(zarr.open_array(store, mode="r")[:], NUMBERS)
