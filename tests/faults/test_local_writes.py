"""Local writes under kills, full disks and forks: the old value or the new one."""

import errno
import fcntl
import itertools
import json
import multiprocessing
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from blazarr import _core
from blazarr.errors import ReadOnlyError, StoreError
from blazarr.stores import LocalStore
from blazarr.testing.store_contract import increment, value_of

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="kills, forks and mounts of Linux"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

FORK = multiprocessing.get_context("fork")

CHUNK = 16 << 20
KILLS = 60


def overwrite_for_ever(root: Path, begun) -> None:
    store = LocalStore(root)
    for i in itertools.count():
        store.put("c/0", bytes([i % 251]) * CHUNK)
        begun.set()


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_a_killed_overwrite_leaves_the_old_value_or_the_new(tmp_path):
    store = LocalStore(tmp_path)
    rng = random.Random(1)
    for _ in range(KILLS):
        begun = FORK.Event()
        writer = FORK.Process(target=overwrite_for_ever, args=(tmp_path, begun))
        writer.start()
        begun.wait()
        time.sleep(rng.uniform(0, 0.05))
        writer.kill()
        writer.join()
        value = value_of(store, "c/0")
        assert len(value) == CHUNK
        assert value == value[:1] * CHUNK
        assert set(names(tmp_path / "c")) <= {"0", "0.__lock"}
        assert list(store.keys()) == ["c/0"]
    store.put("c/0", b"after")
    assert value_of(store, "c/0") == b"after"
    assert names(tmp_path / "c") == ["0"]


@contextmanager
def small_disk(folder: Path):
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"no mount command: {error}")
    if done.returncode:
        pytest.skip(f"may not mount: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_keeps_the_old_value(tmp_path):
    disk = tmp_path / "disk"
    with small_disk(disk):
        store = LocalStore(disk)
        generation = store.put("c/0", b"old" * 1000)
        for condition in ({}, {"if_generation": generation}):
            with pytest.raises(StoreError) as caught:
                store.put("c/0", bytes(5 << 20), **condition)
            assert (caught.value.kind, caught.value.key) == ("storage-full", "c/0")
            assert value_of(store, "c/0") == b"old" * 1000
            assert names(disk / "c") == ["0"]
        store.put("c/0", b"new")
        assert value_of(store, "c/0") == b"new"


def test_an_error_in_the_middle_of_a_write_keeps_the_old_value(tmp_path):
    store = LocalStore(tmp_path)
    store.put("c/0", b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        with pytest.raises(StoreError) as caught:
            store.put("c/0", bytes(2 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.key == "c/0"
    assert caught.value.__cause__.errno == errno.EFBIG
    assert value_of(store, "c/0") == b"old"
    assert names(tmp_path / "c") == ["0"]


def increment_in_child(root: Path, place: int) -> None:
    increment(LocalStore(root), "a/c/0", place, 25)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_updates_of_many_processes_are_all_kept(tmp_path, method):
    context = multiprocessing.get_context(method)
    children = [context.Process(target=increment_in_child, args=(tmp_path, i)) for i in range(8)]
    for child in children:
        child.start()
    for child in children:
        child.join()
        assert child.exitcode == 0
    assert value_of(LocalStore(tmp_path), "a/c/0") == bytes([25] * 8)
    assert list(LocalStore(tmp_path).keys()) == ["a/c/0"]
    assert names(tmp_path / "a/c") == ["0"]


def test_a_read_only_store_never_touches_the_disk(tmp_path):
    store = LocalStore(tmp_path / "new", read_only=True)
    with pytest.raises(ReadOnlyError):
        store.put("a/b", b"")
    with pytest.raises(ReadOnlyError):
        store.delete("a/b")
    with pytest.raises(ReadOnlyError):
        store.delete_folder()
    assert store.get("a/b") is None
    assert list(store.keys()) == []
    assert names(tmp_path) == []


def test_a_lock_file_that_was_replaced_meanwhile_is_left_to_its_new_owner(tmp_path):
    """The folder is deleted in the middle of an update, and another process begins to write the same key."""
    begun, go_on = threading.Event(), threading.Event()

    class Slow:
        name = "slow"
        max_encoded = decode = staticmethod(lambda value: value)

        def encode(self, data: bytes) -> bytes:
            begun.set()
            go_on.wait(timeout=30)
            return data

    spec = {
        "shape": [8],
        "grid": [{"size": 8}],
        "item": 1,
        "fill": "00",
        "keys": {"prefix": "a/", "kind": "default", "separator": "/"},
        "chain": {"steps": [{"id": "external", "index": 0}]},
        "max_chunk_bytes": 1000,
    }
    array = _core.Array(json.dumps(spec).encode(), _core.LocalStore(str(tmp_path)), [Slow()])
    with ThreadPoolExecutor(1) as threads:
        update = threads.submit(array.write, ([], [(0, 0, 1, 4)]), np.full(4, 2, "u1"))
        begun.wait()
        shutil.rmtree(tmp_path / "a")
        lock = tmp_path / "a" / "c" / "0.__lock"
        lock.parent.mkdir(parents=True)
        with lock.open("wb", buffering=0) as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            other.write(b"half")
            go_on.set()
            with pytest.raises(StoreError, match="deleted while it was written"):
                update.result()
        assert names(lock.parent) == ["0.__lock"]
        assert lock.read_bytes() == b"half"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_what_a_killed_writer_of_another_user_left_is_used():
    # The folders of pytest belong to root alone.
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for folder in (root, root / "c"):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o777)
        leftover = root / "c" / "0.__lock"
        leftover.write_bytes(b"left")
        leftover.chmod(0o666)

        def write() -> None:
            os.setresuid(65534, 65534, 65534)
            LocalStore(root).put("c/0", b"new")

        writer = FORK.Process(target=write)
        writer.start()
        writer.join()
        assert writer.exitcode == 0
        assert value_of(LocalStore(root), "c/0") == b"new"
        assert names(root / "c") == ["0"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler for a library without flock")
def test_no_lock_files_are_left_where_nothing_can_be_locked(tmp_path):
    source, library = tmp_path / "noflock.c", tmp_path / "noflock.so"
    source.write_text(
        "#include <errno.h>\nint flock(int d, int o) { errno = ENOLCK; return -1; }\n"
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    # A large chunk is written to its file band by band.
    spec = {
        "shape": [4 << 20],
        "grid": [{"size": 4 << 20}],
        "item": 1,
        "fill": "00",
        "keys": {"prefix": "", "kind": "default", "separator": "/"},
        "chain": {},
        "max_chunk_bytes": 4 << 20,
    }
    program = (
        "import sys\n"
        "import numpy as np\n"
        "from blazarr import _core\n"
        "from blazarr.stores import LocalStore\n"
        "LocalStore(sys.argv[1]).put('c/1', b'value')\n"
        "array = _core.Array(sys.argv[2].encode(), _core.LocalStore(sys.argv[1]), [])\n"
        "array.write(([], [(0, 0, 1, 4 << 20)]), np.full(4 << 20, 9, 'u1'))\n"
    )
    environment = os.environ | {"LD_PRELOAD": str(library)}
    root = tmp_path / "store"
    command = [sys.executable, "-c", program, root, json.dumps(spec)]
    subprocess.run(command, env=environment, check=True)
    assert set(names(root / "c")) == {"0", "1"}
    assert (root / "c" / "0").read_bytes() == bytes([9]) * (4 << 20)
