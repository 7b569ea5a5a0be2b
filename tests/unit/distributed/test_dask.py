"""Dask: lazy arrays, and conversions by worker processes, one of which is killed."""

import os
import signal

import numpy as np
import pytest

import blazarr
from blazarr import distributed
from blazarr.conversion.boxes import Boxes
from blazarr.errors import BlazarrError, CorruptError, NotFoundError, UnsupportedError
from blazarr.nodes import Array
from blazarr.stores import MemoryStore, PrefixStore

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")
from distributed import Client, LocalCluster  # noqa: E402 - after the skip

VALUES = np.random.default_rng(4).integers(0, 99, (30, 24, 16)).astype("u2")

# Dask warns of its own affairs, such as a worker that takes long to end.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.zarr"
    blazarr.create_array(path, data=VALUES, chunks=(1, 24, 16))
    return path


@pytest.mark.parametrize("shards", [None, (10, 12, 16)])
def test_to_dask(shards):
    store = {}
    array = blazarr.create_array(store, data=VALUES, chunks=(5, 6, 16), shards=shards)
    lazy = distributed.to_dask(array)
    assert lazy.chunksize == (shards or (5, 6, 16))
    assert lazy.dtype == VALUES.dtype
    assert np.array_equal(lazy[3:17, ::2].compute(scheduler="sync"), VALUES[3:17, ::2])
    assert lazy.name == distributed.to_dask(array).name
    assert distributed.to_dask(array, chunks=(30, 1, 16)).chunksize == (30, 1, 16)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"chunks": (4, 4, 4)},
        {"chunks": (4, 4, 4), "shards": (8, 12, 16)},
        {"chunks": (30, 24, 16), "zarr_format": 2},
        {"chunks": ((7, 23), (24,), (9, 7))},
    ],
    ids=str,
)
def test_from_dask_writes_each_object_once(options, monkeypatch):
    lazy = da.from_array(VALUES, chunks=((7, 7, 7, 9), (5, 19), 16))
    store = MemoryStore()
    events = []
    with monkeypatch.context() as patch:
        patch.setattr(
            Array, "__setitem__", lambda _, region, value: events.append((region, value.shape))
        )
        array = distributed.from_dask(lazy, store, **options)
    objects = Boxes.of_grid(array.metadata.grid, array.shape)
    touched = [place for region, _ in events for place in objects.touched(region)]
    assert len(touched) == len(set(touched)) == len(objects)
    array = distributed.from_dask(lazy, store, overwrite=True, **options)
    assert np.array_equal(array[...], VALUES)


def test_from_dask_later_and_over():
    lazy = da.zeros((4, 4), chunks=2, dtype="i4") + 1
    store = {}
    write = distributed.from_dask(lazy, store, compute=False)
    assert blazarr.open_array(store)[...].sum() == 0
    write.compute(scheduler="sync")
    assert blazarr.open_array(store)[...].sum() == 16
    with pytest.raises(BlazarrError):
        distributed.from_dask(lazy, store)
    distributed.from_dask(lazy * 2, store, overwrite=True)
    assert blazarr.open_array(store)[...].sum() == 32


def test_from_dask_of_unknown_sizes():
    lazy = da.from_array(np.arange(6), chunks=2)
    with pytest.raises(BlazarrError, match="compute_chunk_sizes"):
        distributed.from_dask(lazy[lazy > 2], {})


@pytest.mark.parametrize(
    "options",
    [{"chunks": (30, 4, 4), "max_memory": 9000}, {"shards": (10, 24, 16)}, {"zarr_format": 3}],
    ids=str,
)
def test_convert_by_processes(client, source, tmp_path, options):
    target = tmp_path / "target.zarr"
    array = distributed.convert(source, target, dask=client, verify=True, **options)
    assert np.array_equal(array[...], VALUES)
    assert not (target / "__blazarr__").exists()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_worker_that_dies_does_no_harm(client, source, tmp_path, share):
    target = tmp_path / "target.zarr"
    killed = []

    def kill(progress):
        if not killed and progress.done > share * progress.total:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    array = distributed.rechunk(
        source, target, (30, 4, 4), dask=client, max_memory=9000, progress=kill
    )
    assert killed
    assert np.array_equal(array[...], VALUES)
    assert not list(target.rglob("*.__lock"))
    client.wait_for_workers(2, timeout=60)


def test_damage_is_told_as_it_is_here(client, source, tmp_path):
    chunk = source / "c/7/0/0"
    chunk.write_bytes(chunk.read_bytes()[:-2])
    with pytest.raises(CorruptError) as caught:
        distributed.convert(source, tmp_path / "t", chunks=(5, 5, 5), dask=client)
    assert caught.value.key == "c/7/0/0"
    with pytest.raises(NotFoundError):
        blazarr.open(tmp_path / "t", mode="r")
    report = distributed.check(source, dask=client, max_memory=9000)
    assert [found.key for found in report.findings] == ["c/7/0/0"]


@pytest.mark.parametrize("changes", [{}, {"chunks": (5, 5, 5)}])
def test_stores_that_others_do_not_reach(client, source, tmp_path, changes):
    """A store in memory pickles, as a copy: what workers write to it would be lost."""
    memory = {}
    for target in (memory, PrefixStore(MemoryStore(), "x"), tmp_path / "x.zip"):
        with pytest.raises(UnsupportedError, match="other processes"):
            distributed.convert(source, target, dask=client, **changes)
    blazarr.create_array(memory, data=VALUES, overwrite=True)
    with pytest.raises(UnsupportedError, match="other processes"):
        distributed.convert(memory, tmp_path / "y", dask=client, **changes)
    lazy = da.from_array(VALUES, chunks=8)
    with pytest.raises(UnsupportedError, match="other processes"):
        distributed.from_dask(lazy, {})


def test_the_command_line(client, source, tmp_path, capsys):
    pytest.importorskip("typer")
    from blazarr.cli.app import run

    address = client.scheduler.address
    target = str(tmp_path / "target.zarr")
    assert run(["convert", str(source), target, "--chunks", "8,8,8", "--dask", address]) == 0
    assert np.array_equal(blazarr.open_array(target)[...], VALUES)
    assert run(["check", target, "--dask", address, "--json"]) == 0
    assert '"ok": true' in capsys.readouterr().out
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        assert run(["check", target, "--dask", "tcp://127.0.0.1:1"]) == 7
    assert capsys.readouterr().err.startswith("blazarr: ")
