"""Tests of the codec pipeline for zarr-python."""

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", reason="zarr-python is not installed")

import blazarr  # noqa: E402

OWN = "zarr.core.codec_pipeline.BatchedCodecPipeline"


@pytest.fixture(autouse=True)
def pipeline():
    """Every test of this folder runs with the pipeline, unless it says otherwise."""
    with blazarr.enable():
        yield


@pytest.fixture
def own_pipeline():
    """Configuration under which zarr-python's own pipeline does the work."""
    return lambda: zarr.config.set({"codec_pipeline.path": OWN})


@pytest.fixture(params=["memory", "local", "zip", "wrapped"])
def store(request, tmp_path):
    """Stores that are used natively, and stores that are not."""
    from zarr.storage import LocalStore, LoggingStore, MemoryStore, ZipStore

    if request.param == "memory":
        yield MemoryStore()
    elif request.param == "local":
        yield LocalStore(tmp_path / "data")
    elif request.param == "wrapped":
        yield LoggingStore(MemoryStore(), log_level="CRITICAL")
    else:
        with ZipStore(tmp_path / "data.zip", mode="w") as opened:
            yield opened


@pytest.fixture
def numbers():
    """An array whose elements all differ."""
    return np.arange(13 * 11 * 7, dtype="i4").reshape(13, 11, 7)
