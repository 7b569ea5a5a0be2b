"""Killed conversions: nothing half can be opened, and the same call goes on where it was."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import blazarr
from blazarr.conversion import Here
from blazarr.conversion.journal import FOLDER
from blazarr.errors import CorruptError, ExistsError, NotFoundError

VALUES = np.random.default_rng(6).integers(0, 99, (40, 24, 16)).astype("u2")
# Planes to columns on a small budget: two passes of several boxes.
OPTIONS = {"chunks": (40, 4, 4), "max_memory": 9000}


class Killed(BaseException):
    """Stands for the end of the process."""


class Dies:
    """Runs a number of tasks, and ends between two of them."""

    def __init__(self, after):
        self.left = after

    def run(self, tasks):
        for done in Here().run(tasks):
            yield done
            self.left -= 1
            if self.left < 0:
                raise Killed


class Counts:
    """Counts the tasks that it runs."""

    def __init__(self):
        self.count = 0

    def run(self, tasks):
        for done in Here().run(tasks):
            self.count += 1
            yield done


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.zarr"
    blazarr.create_array(path, data=VALUES, chunks=(1, 24, 16))
    return path


def steps(source):
    plan = blazarr.convert(source, {}, dry_run=True, **OPTIONS)
    return [step["boxes"] for step in plan.steps()]


@pytest.mark.parametrize("after", [0, 1, 7, 39, 40, 41, 50])
def test_goes_on_where_it_was(source, tmp_path, after):
    target = tmp_path / "target.zarr"
    with pytest.raises(Killed):
        blazarr.convert(source, target, executor=Dies(after), **OPTIONS)
    with pytest.raises(NotFoundError):
        blazarr.open(target, mode="r")
    rest = Counts()
    events = []
    array = blazarr.convert(source, target, executor=rest, progress=events.append, **OPTIONS)
    assert np.array_equal(array[...], VALUES)
    assert rest.count == sum(steps(source)) - after - 1
    assert 0 < events[0].kept < events[0].total
    assert not (target / FOLDER).exists()


def test_twice(source, tmp_path):
    target = tmp_path / "target.zarr"
    for _ in range(2):
        with pytest.raises(Killed):
            blazarr.convert(source, target, executor=Dies(12), **OPTIONS)
    assert np.array_equal(blazarr.convert(source, target, **OPTIONS)[...], VALUES)


def test_between_the_metadata_and_the_end(source, tmp_path, monkeypatch):
    target = tmp_path / "target.zarr"
    with monkeypatch.context() as patch:
        patch.setattr("blazarr.conversion.journal.Journal.remove", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            blazarr.convert(source, target, **OPTIONS)
    rest = Counts()
    blazarr.convert(source, target, executor=rest, **OPTIONS)
    assert rest.count == 0
    assert not (target / FOLDER).exists()


def test_with_another_budget_it_begins_anew(source, tmp_path):
    target = tmp_path / "target.zarr"
    with pytest.raises(Killed):
        blazarr.convert(source, target, executor=Dies(20), **OPTIONS)
    array = blazarr.convert(source, target, **{**OPTIONS, "max_memory": 12000})
    assert np.array_equal(array[...], VALUES)


def test_another_conversion_is_refused_unless_it_may_replace_the_first(source, tmp_path):
    target = tmp_path / "target.zarr"
    with pytest.raises(Killed):
        blazarr.convert(source, target, executor=Dies(5), **OPTIONS)
    with pytest.raises(ExistsError, match="did not finish"):
        blazarr.convert(source, target, chunks=(8, 8, 8))
    array = blazarr.convert(source, target, chunks=(8, 8, 8), overwrite=True)
    assert np.array_equal(array[...], VALUES)
    assert not (target / FOLDER).exists()


def test_a_journal_that_was_cut_says_that_nothing_is_done(source, tmp_path):
    target = tmp_path / "target.zarr"
    with pytest.raises(Killed):
        blazarr.convert(source, target, executor=Dies(5), **OPTIONS)
    journal = target / FOLDER / "journal.json"
    journal.write_bytes(journal.read_bytes()[:20])
    assert np.array_equal(blazarr.convert(source, target, **OPTIONS)[...], VALUES)


@pytest.mark.parametrize(
    "garbage",
    [
        b"[]",
        b"\xff",
        b"{}",
        b'{"version": 1, "done": 3}',
        b'{"version": 1, "identity": "%s", "done": {"in ": ["", "zz"]}}',
    ],
)
def test_a_journal_of_nonsense_is_not_believed(source, tmp_path, garbage):
    target = tmp_path / "target.zarr"
    plan = blazarr.convert(source, target, dry_run=True, **OPTIONS)
    document = garbage.replace(b"%s", plan.identity.encode())
    blazarr.stores.LocalStore(target).put(f"{FOLDER}/journal.json", document)
    assert np.array_equal(blazarr.convert(source, target, **OPTIONS)[...], VALUES)


def test_a_damaged_chunk_is_named_and_nothing_appears(source, tmp_path):
    chunk = source / "c" / "17" / "0" / "0"
    chunk.write_bytes(chunk.read_bytes()[:-3])
    target = tmp_path / "target.zarr"
    with pytest.raises(CorruptError, match="c/17/0/0"):
        blazarr.convert(source, target, **OPTIONS)
    with pytest.raises(NotFoundError):
        blazarr.open(target, mode="r")


SCRIPT = """
import sys, blazarr, time

def tell(event):
    print("box", flush=True)
    time.sleep(0.05)

blazarr.convert(sys.argv[1], sys.argv[2], chunks=(40, 4, 4), max_memory=9000, progress=tell)
"""


def test_killed_by_the_system(source, tmp_path):
    """A process that is really killed, twice; the journal's last second may be lost."""
    target = tmp_path / "target.zarr"
    for boxes in (5, 25):
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(source), str(target)], stdout=subprocess.PIPE
        )
        for _ in range(boxes):
            assert process.stdout.readline() == b"box\n"
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        process.stdout.close()
        with pytest.raises(NotFoundError):
            blazarr.open(target, mode="r")
    assert (target / FOLDER).is_dir()
    array = blazarr.convert(source, target, verify=True, **OPTIONS)
    assert np.array_equal(array[...], VALUES)
    assert not list(target.rglob("*.__lock"))


# Not ru_maxrss, which a new process has from the one that started it.
MEMORY = """
import sys, blazarr
from pathlib import Path

def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) << 10

source, target, budget = sys.argv[1], sys.argv[2], int(sys.argv[3])
blazarr.convert(source + "-small", target + "-small", chunks=(8, 8), compressors=None)
before = peak()
blazarr.rechunk(source, target, (48, 64, 64), max_memory=budget)
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
def test_memory_stays_in_the_budget(tmp_path):
    """What the process takes beyond what it took before is counted by the system."""
    source, target, budget = tmp_path / "s", tmp_path / "t", 24 << 20
    blazarr.create_array(f"{source}-small", data=VALUES[0], chunks=(5, 5))
    array = blazarr.create_array(source, shape=(48, 1024, 1024), chunks=(1, 1024, 1024), dtype="u2")
    array[...] = np.random.default_rng(1).integers(0, 200, array.shape, "u2")
    command = [sys.executable, "-c", MEMORY, str(source), str(target), str(budget)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < budget < array.nbytes / 3
    assert np.array_equal(blazarr.open_array(target)[:, 7, :], array[:, 7, :])
