"""Small uncompressed chunks are read by one call, which tells their size as well."""

from pathlib import Path

import numpy as np
import pytest

import blazarr
from blazarr.errors import CorruptError


@pytest.fixture
def array(tmp_path: Path) -> blazarr.Array:
    array = blazarr.create_array(
        tmp_path / "a", shape=(64, 64), dtype="u2", chunks=(16, 16), compressors=None
    )
    array[...] = np.arange(64 * 64, dtype="u2").reshape(64, 64)
    return array


@pytest.mark.parametrize("length", [0, 1, 511, 513, 1024, 100_000])
def test_a_chunk_of_another_size_is_damaged(
    array: blazarr.Array, tmp_path: Path, length: int
) -> None:
    (tmp_path / "a" / "c" / "1" / "2").write_bytes(bytes(length))
    with pytest.raises(CorruptError, match=f"{length} bytes are stored, but the chunk has 512"):
        array[...]


def test_values_missing_chunks_and_folders_in_place_of_chunks(
    array: blazarr.Array, tmp_path: Path
) -> None:
    expected = np.arange(64 * 64, dtype="u2").reshape(64, 64)
    assert np.array_equal(array[...], expected)
    assert np.array_equal(array[16:48, ::-1], expected[16:48, ::-1])
    (tmp_path / "a" / "c" / "1" / "2").unlink()
    (tmp_path / "a" / "c" / "1" / "3").unlink()
    (tmp_path / "a" / "c" / "1" / "3").mkdir()
    expected[16:32, 32:64] = 0
    assert np.array_equal(array[...], expected)
