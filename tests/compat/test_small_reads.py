"""Little work is done at once, without another thread."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

zarr = pytest.importorskip("zarr")


def array_of(folder: Path, chunks: tuple[int, int], shards: tuple[int, int] | None) -> Any:
    name = "blazarr.compat.zarr_python.BlazarrCodecPipeline"
    with zarr.config.set({"codec_pipeline.path": name}):
        array = zarr.create_array(
            folder, shape=(1024, 1024), dtype="u2", chunks=chunks, shards=shards
        )
        array[...] = np.arange(1 << 20, dtype="u4").reshape(1024, 1024) % 9999
        return array


def test_a_column_of_a_shard_is_much_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    array = array_of(tmp_path / "a", (128, 128), (1024, 1024))
    seen = []
    to_thread = asyncio.to_thread
    monkeypatch.setattr(asyncio, "to_thread", lambda work: seen.append(work) or to_thread(work))
    assert np.array_equal(array[:, 7], (np.arange(1024) * 1024 + 7) % 9999)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("chunks", "shards", "threads"),
    [
        ((64, 64), None, 0),
        ((64, 64), (1024, 1024), 0),
        ((512, 512), None, 0),
        ((512, 512), (1024, 1024), 0),
        ((1024, 1024), None, 1),
    ],
)
def test_a_window_goes_to_another_thread_where_its_chunk_is_large(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    chunks: tuple[int, int],
    shards: tuple[int, int] | None,
    threads: int,
) -> None:
    array = array_of(tmp_path / "a", chunks, shards)
    seen = []
    to_thread = asyncio.to_thread
    monkeypatch.setattr(asyncio, "to_thread", lambda work: seen.append(work) or to_thread(work))
    window = array[100:110, 200:210]
    rows, columns = np.ogrid[100:110, 200:210]
    assert np.array_equal(window, (rows * 1024 + columns) % 9999)
    assert len(seen) == threads


def test_a_window_of_two_chunks_is_for_two_threads(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    array = array_of(tmp_path / "a", (512, 512), None)
    seen = []
    to_thread = asyncio.to_thread
    monkeypatch.setattr(asyncio, "to_thread", lambda work: seen.append(work) or to_thread(work))
    rows, columns = np.ogrid[100:110, 507:517]
    assert np.array_equal(array[100:110, 507:517], (rows * 1024 + columns) % 9999)
    assert len(seen) == 1


def test_a_chunk_is_encoded_in_another_thread(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    array = array_of(tmp_path / "a", (512, 512), None)
    seen = []
    to_thread = asyncio.to_thread
    monkeypatch.setattr(asyncio, "to_thread", lambda work: seen.append(work) or to_thread(work))
    array[:512, :512] = 7
    assert len(seen) == 1
    assert np.all(array[:512, :512] == 7)
