"""Saving and loading whole arrays."""

import numpy as np
import pytest

import blazarr


def test_one_array(tmp_path):
    blazarr.save(tmp_path / "x", np.arange(4))
    assert blazarr.load(tmp_path / "x").tolist() == [0, 1, 2, 3]
    with pytest.raises(blazarr.errors.ContainsArrayError):
        blazarr.save_array(tmp_path / "x", np.arange(3))
    blazarr.save_array(tmp_path / "x", np.arange(3), mode="w")
    assert blazarr.load(tmp_path / "x").tolist() == [0, 1, 2]
    blazarr.save_array(tmp_path, np.float32(2), path="deep/y", zarr_format=2)
    assert blazarr.load(tmp_path, "deep/y") == 2


def test_several_arrays(tmp_path):
    blazarr.save(tmp_path, np.arange(2), np.arange(3), named=np.eye(2), path="g")
    loaded = blazarr.load(tmp_path, path="g")
    assert sorted(loaded) == ["arr_0", "arr_1", "named"]
    assert loaded["named"].tolist() == [[1, 0], [0, 1]]
    blazarr.save_group(tmp_path, only=np.arange(1), path="g")
    assert list(blazarr.load(tmp_path, path="g")) == ["only"]


def test_only_arrays_can_be_saved(tmp_path):
    for wrong in ([1, 2], "text"):
        with pytest.raises(TypeError, match="only arrays"):
            blazarr.save(tmp_path, wrong)
    with pytest.raises(ValueError, match="at least one"):
        blazarr.save_group(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_debug_info(capsys):
    blazarr.print_debug_info()
    printed = capsys.readouterr().out
    assert f"numpy: {np.__version__}" in printed
    assert "cupy: " in printed
