"""``categorize``: texts as the numbers of their labels, in both formats."""

import json

import numcodecs
import numpy as np
import pytest

import blazarr
from blazarr.codecs.numcodecs import Categorize

VALUES = ["a", "bb", "a", "other", "bb"]
SEEN = ["a", "bb", "a", "", "bb"]
LABELS = ["a", "bb"]


def test_format_2_of_fixed_length(tmp_path):
    codec = numcodecs.Categorize(labels=LABELS, dtype="<U5")
    array = blazarr.create_array(
        tmp_path, shape=(5,), chunks=(4,), dtype="<U5", filters=[codec], compressors=None,
        zarr_format=2,
    )  # fmt: skip
    array[...] = np.array(VALUES)
    assert array[...].tolist() == SEEN
    assert (tmp_path / "0").read_bytes() == bytes([1, 2, 1, 0])
    array[2:] = "bb"
    assert array[1:4].tolist() == ["bb", "bb", "bb"]


def test_format_2_of_objects(tmp_path):
    codec = numcodecs.Categorize(labels=LABELS, dtype=object, astype="u2")
    array = blazarr.create_array(
        tmp_path, shape=(5,), chunks=(4,), dtype=str, filters=[codec], compressors=None,
        zarr_format=2,
    )  # fmt: skip
    array[...] = np.array(VALUES, dtype=object)
    assert blazarr.open_array(tmp_path)[...].tolist() == SEEN
    assert np.frombuffer((tmp_path / "0").read_bytes(), "<u2").tolist() == [1, 2, 1, 0]
    (stored,) = json.loads((tmp_path / ".zarray").read_bytes())["filters"]
    assert stored == codec.get_config()


def test_format_3(tmp_path):
    array = blazarr.create_array(
        tmp_path, shape=(5,), chunks=(4,), dtype="<U5", compressors=None,
        filters=[Categorize(labels=LABELS, dtype="<U5", astype="|u1")],
    )  # fmt: skip
    array[...] = np.array(VALUES)
    assert blazarr.open_array(tmp_path)[...].tolist() == SEEN
    assert (tmp_path / "c/0").read_bytes() == bytes([1, 2, 1, 0])


def test_zarr_python_reads_it_and_is_read(tmp_path):
    zarr = pytest.importorskip("zarr")
    options = {
        "shape": (5,), "chunks": (4,), "dtype": "<U5", "zarr_format": 2,
        "filters": [numcodecs.Categorize(labels=LABELS, dtype="<U5")],
    }  # fmt: skip
    for writer, reader in ((blazarr, zarr), (zarr, blazarr)):
        folder = tmp_path / writer.__name__
        writer.create_array(folder, **options)[...] = np.array(VALUES)
        assert reader.open_array(folder, mode="r")[...].tolist() == SEEN
