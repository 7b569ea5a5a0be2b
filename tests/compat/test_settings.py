"""zarr-python's settings, and those of zarrs-python."""

import threading

import numpy as np
import pytest
import zarr

from blazarr import _core
from blazarr.compat import zarr_python
from blazarr.compat.zarr_python import settings


@pytest.mark.parametrize(
    ("workers", "most", "least", "threads"),
    [
        (None, None, None, None),
        (3, None, None, 3),
        (None, 2, None, 2),
        (3, 2, None, 2),
        (2, 3, None, 2),
        (1, None, 4, 4),
        (None, 0, None, 1),
        (None, None, 4, None),
    ],
)
def test_threads(workers, most, least, threads):
    given = {
        "threading.max_workers": workers,
        "codec_pipeline.chunk_concurrent_maximum": most,
        "codec_pipeline.chunk_concurrent_minimum": least,
    }
    with zarr.config.set(given):
        assert settings.threads() == threads


@pytest.fixture
def at_work(monkeypatch):
    """How many threads a codec was run by at once, at most."""
    from numcodecs import registry
    from numcodecs.abc import Codec

    lock, meeting = threading.Lock(), threading.Event()
    counts = {"now": 0, "most": 0}

    class Counting(Codec):
        codec_id = "blazarr-tests-counting"

        def encode(self, buf):
            return bytes(buf)

        def decode(self, buf, out=None):
            with lock:
                counts["now"] += 1
                counts["most"] = max(counts["most"], counts["now"])
            # Waits without the interpreter's lock, so that others can come.
            meeting.wait(0.02)
            with lock:
                counts["now"] -= 1
            return bytes(buf)

    registry.register_codec(Counting)
    counts["codec"] = Counting()
    return counts


@pytest.mark.parametrize("callers", [1, 4])
@pytest.mark.parametrize("most", [1, 2, 4])
def test_threads_of_all_callers_share_one_budget(at_work, most, callers):
    """A caller works itself; others join while fewer than the budget are at work, whoever called."""
    array = zarr.create_array(
        {}, shape=32 << 11, chunks=1 << 11, dtype="i4", zarr_format=2, compressors=at_work["codec"]
    )
    array[:] = range(32 << 11)
    before = _core.threads()
    _core.set_threads(most)
    try:
        threads = [threading.Thread(target=lambda: array[:]) for _ in range(callers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        _core.set_threads(before)
    assert min(most, 2) <= at_work["most"] <= most + callers - 1


@pytest.mark.parametrize("order", ["C", "F"])
def test_order_of_results(order):
    numbers = np.arange(12).reshape(3, 4)
    array = zarr.create_array({}, data=numbers, chunks=(2, 2), config={"order": order})
    found = array[:]
    assert found.flags[f"{order}_CONTIGUOUS"]
    np.testing.assert_array_equal(found, numbers)


def test_direct_io_changes_nothing(tmp_path):
    numbers = np.arange(1000)
    with zarr.config.set({"codec_pipeline.direct_io": True}):
        array = zarr.create_array(tmp_path, data=numbers, chunks=100)
        np.testing.assert_array_equal(array[:], numbers)


@pytest.mark.parametrize("name", ["DiscontiguousArrayError", "CollapsedDimensionError"])
def test_errors_of_zarrs_python(name):
    assert issubclass(getattr(zarr_python, name), Exception)


def test_chosen_by_an_environment_variable(tmp_path):
    import os
    import subprocess
    import sys

    program = (
        "import zarr\n"
        "array = zarr.create_array({}, data=__import__('numpy').arange(9))\n"
        "print(type(array._async_array.codec_pipeline).__name__, array[:].sum())\n"
    )
    path = "blazarr.compat.zarr_python.BlazarrCodecPipeline"
    environment = os.environ | {"ZARR_CODEC_PIPELINE__PATH": path}
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "BlazarrCodecPipeline 36\n"
