"""Arrays under forks, kills, many writers and Ctrl-C."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blazarr
from blazarr.errors import StoreError

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="forks and kills of Linux"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

FORK = multiprocessing.get_context("fork")
WRITERS = 8


def shared_chunk(path: Path, *, sharded: bool) -> Any:
    """One key, a part of which belongs to each writer."""
    return blazarr.create_array(
        path,
        shape=(WRITERS * 16, 64),
        chunks=(4, 32) if sharded else (WRITERS * 16, 64),
        shards=(WRITERS * 16, 64) if sharded else None,
        dtype="int32",
        fill_value=-1,
    )


def write_own_part(path: Path, writer: int) -> None:
    array = blazarr.open_array(path, mode="r+")
    for row in range(writer * 16, writer * 16 + 16, 2):
        array[row : row + 2, ::3] = row
        array[row : row + 2, 1::3] = row
        array[row : row + 2, 2::3] = row


def assert_nothing_lost(path: Path) -> None:
    rows = np.arange(WRITERS * 16) // 2 * 2
    np.testing.assert_array_equal(blazarr.open_array(path)[...], np.repeat(rows[:, None], 64, 1))


@pytest.mark.parametrize("sharded", [False, True], ids=["chunk", "shard"])
@pytest.mark.parametrize("how", ["threads", "processes"])
def test_writers_of_parts_of_one_key_lose_nothing(tmp_path: Path, how: str, sharded: bool) -> None:
    path = tmp_path / "a"
    shared_chunk(path, sharded=sharded)
    make = threading.Thread if how == "threads" else FORK.Process
    writers = [make(target=write_own_part, args=(path, n)) for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert_nothing_lost(path)


def test_a_forked_child_reads(tmp_path: Path) -> None:
    path = tmp_path / "a"
    data = np.arange(200 * 300, dtype="uint32").reshape(200, 300)
    array = blazarr.create_array(path, data=data, chunks=(50, 50), shards=(100, 100))
    np.testing.assert_array_equal(array[...], data)
    for _ in range(100):
        child = os.fork()
        if child == 0:
            right = np.array_equal(array[...], data)
            os._exit(0 if right else 1)
        assert wait_for(child, seconds=20) == 0
        np.testing.assert_array_equal(array[3:180:7], data[3:180:7])


def wait_for(child: int, seconds: float) -> int:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail(f"the child did not end in {seconds} s")


def overwrite_for_ever(path: Path, begun: Any, *, rows: bool) -> None:
    """With rows, they are written from where they lie; a single value is copied to each element first."""
    array = blazarr.open_array(path, mode="r+")
    values = np.empty(array.shape, array.dtype)
    value = 0
    while True:
        value = value % 200 + 1
        values.fill(value)
        array[...] = values if rows else value
        begun.set()


@pytest.mark.parametrize("rows", [False, True], ids=["one value", "rows"])
def test_killed_overwrites_leave_no_torn_chunk(tmp_path: Path, rows: bool) -> None:
    path = tmp_path / "a"
    side = 4096
    blazarr.create_array(
        path, shape=(side, side), chunks=(side, side), dtype="uint8", compressors=None
    )
    rng = random.Random(2)
    for _ in range(60):
        begun = FORK.Event()
        writer = FORK.Process(target=overwrite_for_ever, args=(path, begun), kwargs={"rows": rows})
        writer.start()
        assert begun.wait(60)
        time.sleep(rng.uniform(0, 0.03))
        writer.kill()
        writer.join()
        values = blazarr.open_array(path, mode="r")[...]
        assert values.min() == values.max() != 0
        assert {file.name for file in (path / "c" / "0").iterdir()} <= {"0", "0.__lock"}


@pytest.mark.parametrize("dtype", ["<u2", ">u2"])
def test_an_error_in_the_middle_of_a_large_chunk_keeps_the_old_one(
    tmp_path: Path, dtype: str
) -> None:
    old = np.full((1024, 4096), 3, dtype)
    array = blazarr.create_array(tmp_path / "a", data=old, chunks=(1024, 2048), compressors=None)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((1 << 20) + 100, limits[1]))
    try:
        with pytest.raises(StoreError) as caught:
            array[...] = np.full((1024, 4096), 4, dtype)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.key in {"c/0/0", "c/0/1"}
    assert caught.value.__cause__.errno == errno.EFBIG
    np.testing.assert_array_equal(array[...], old)
    assert {file.name for file in (tmp_path / "a" / "c" / "0").iterdir()} == {"0", "1"}


def read_until_interrupted(path: Path, started: Any, result: Any) -> None:
    array = blazarr.open_array(path, mode="r")
    started.set()
    try:
        while True:
            array[...]
    except KeyboardInterrupt:
        result.put(("interrupted", time.monotonic()))
        result.put(("read", bool((array[:10] == 3).all())))


def test_ctrl_c_ends_a_read_and_the_next_one_works(tmp_path: Path) -> None:
    path = tmp_path / "a"
    array = blazarr.create_array(
        path, shape=(4000, 4000), chunks=(500, 500), dtype="uint8", fill_value=0
    )
    array[...] = 3
    started, result = FORK.Event(), FORK.Queue()
    reader = FORK.Process(target=read_until_interrupted, args=(path, started, result))
    reader.start()
    assert started.wait(60)
    time.sleep(0.3)
    os.kill(reader.pid, signal.SIGINT)
    assert result.get(timeout=30)[0] == "interrupted"
    assert result.get(timeout=30) == ("read", True)
    reader.join()
