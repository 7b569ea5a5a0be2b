"""An executor whose tasks run in the workers of a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from blazarr.config import config
from blazarr.conversion.tasks import Room, Task
from blazarr.errors import BlazarrError, StoreError, UnsupportedError
from blazarr.stores import MemoryStore, PrefixStore, ReadOnlyStore, Store, ZipStore

# Tasks that wait for each worker's thread. More would only make the scheduler's list longer.
AHEAD: Final = 4

# How often a task is tried again whose worker died or whose store failed.
RETRIES: Final = 3


@dataclass(frozen=True)
class DaskExecutor:
    """Runs tasks in the workers of a cluster.

    A task writes whole stored objects, and no two tasks the same one. So one that runs twice, since
    its worker died, does no harm. The stores must be ones that the workers reach too.

    Attributes
    ----------
    client
        A ``distributed.Client``.
    retries
        How often a task is tried again.
    """

    client: Any
    retries: int = RETRIES

    def run(self, tasks: Iterable[tuple[int, Task]]) -> Iterator[tuple[int, Any]]:
        """Run tasks; see `blazarr.conversion.Executor`."""
        from distributed import as_completed

        waiting = iter(tasks)
        numbers: dict[Any, int] = {}

        def submit(count: int) -> Iterator[Any]:
            for number, task in islice(waiting, count):
                future = self._submit(task)
                numbers[future] = number
                yield future

        running = as_completed(list(submit(AHEAD * max(1, self._threads()))))
        try:
            for future in running:
                yield numbers.pop(future), _value(future.result())
                running.update(submit(1))
        finally:
            self.client.cancel(list(numbers))

    def _threads(self) -> int:
        return sum(self.client.nthreads().values())

    def _submit(self, task: Task) -> Any:
        _require_reachable(task)
        threads = config.get("threading.max_workers")
        return self.client.submit(_run, task, threads, pure=False, retries=self.retries)


@dataclass(frozen=True)
class _Failed:
    """An error that trying again does not mend."""

    error: BlazarrError


def _run(task: Task, threads: int | None) -> Any:
    """Run a task in a worker."""
    with config.set({"threading.max_workers": threads}):
        try:
            return task.run(Room())
        except StoreError:
            raise
        except BlazarrError as error:
            return _Failed(error)


def _value(outcome: Any) -> Any:
    if isinstance(outcome, _Failed):
        raise outcome.error
    return outcome


def _require_reachable(task: Task) -> None:
    if is_in_memory(task.reads) or is_in_memory(task.writes):
        raise UnsupportedError(
            "a store in memory is not reached from other processes; use a folder or URL that all "
            "workers reach"
        )
    if isinstance(task.writes, ZipStore):
        raise UnsupportedError(
            "a zip archive cannot be written from other processes; use a folder or another store"
        )


def is_in_memory(store: Store | None) -> bool:
    """Return whether a store pickles as a copy of its values, wrapped or not."""
    while isinstance(store, ReadOnlyStore | PrefixStore):
        store = store.store
    return isinstance(store, MemoryStore)


@contextmanager
def cluster(address: Any) -> Iterator[Any]:
    """Give a client of a cluster, and let go of what was made for it.

    Parameters
    ----------
    address
        A ``distributed.Client``, the address of a scheduler, or ``"local"`` for a worker process
        on each processor of this machine.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise UnsupportedError(
            "Dask clusters need the package distributed: pip install 'dask[distributed]'",
            package="distributed",
        ) from error
    if not isinstance(address, str):
        yield address
        return
    if address != "local":
        with Client(address) as client:
            yield client
        return
    workers = len(os.sched_getaffinity(0))
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as made,
        Client(made) as client,
    ):
        yield client
