"""A store that logs and counts what is asked of another one."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from blazarr.stores.base import ANY, Children, Data, Expect, Generation, Page
from blazarr.stores.wrappers import WrapperStore

_LOGGER = logging.getLogger("blazarr.stores")


@dataclass(frozen=True)
class Metrics:
    """What calls of one method came to.

    Attributes
    ----------
    calls, failed
        How many there were, and how many of them ended with an error.
    seconds
        What they took together, in the threads that made them.
    bytes
        How many bytes of values they read or wrote.
    """

    calls: int = 0
    failed: int = 0
    seconds: float = 0.0
    bytes: int = 0

    def with_call(self, seconds: float, *, failed: bool, count: int) -> Metrics:
        """Return these with one more call."""
        return Metrics(
            self.calls + 1, self.failed + failed, self.seconds + seconds, self.bytes + count
        )


@dataclass(frozen=True)
class LoggingStore(WrapperStore):
    """Another store, with a line in the log (logger ``blazarr.stores``) for every call.

    Parameters
    ----------
    store
        The other store.
    log_level
        Level of the lines; unlike zarr-python's, this store leaves the logger's own level alone.
    log_handler
        Handler to add to the logger; without one, lines go where the program sends its log.

    Attributes
    ----------
    counter
        How often each method was called.
    metrics
        `Metrics` of each method.
    """

    log_level: str = "DEBUG"
    log_handler: logging.Handler | None = field(default=None, compare=False, repr=False)
    counter: Counter[str] = field(default_factory=Counter, init=False, compare=False)
    metrics: dict[str, Metrics] = field(default_factory=dict, init=False, compare=False)
    _lock: threading.Lock = field(
        default_factory=threading.Lock, init=False, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        if self.log_handler is not None:
            _LOGGER.addHandler(self.log_handler)

    def __reduce__(self) -> tuple[Any, ...]:
        return LoggingStore, (self.store, self.log_level)

    @contextmanager
    def _log(self, method: str, what: object) -> Iterator[list[Data]]:
        """Log what the block does, to which it adds the values that it reads or writes."""
        with self._lock:
            self.counter[method] += 1
        moved: list[Data] = []
        failed = True
        start = time.perf_counter()
        try:
            yield moved
            failed = False
        finally:
            spent = time.perf_counter() - start
            count = 0 if failed else sum(memoryview(data).nbytes for data in moved)
            with self._lock:
                before = self.metrics.get(method, Metrics())
                self.metrics[method] = before.with_call(spent, failed=failed, count=count)
            level = logging.getLevelNamesMapping()[self.log_level]
            _LOGGER.log(level, "%s.%s(%r): %.6f s", self.store, method, what, spent)

    def get(self, key: str, range: slice | None = None) -> tuple[Data, Generation] | None:
        """Return what is under a key; see `Store.get`."""
        with self._log("get", key) as moved:
            found = super().get(key, range)
            moved.extend([] if found is None else [found[0]])
            return found

    def get_many(
        self, keys: Sequence[str], ranges: Sequence[slice | None] | None = None
    ) -> list[tuple[Data, Generation] | None]:
        """Return what is under many keys; see `Store.get_many`."""
        with self._log("get_many", keys) as moved:
            found = super().get_many(keys, ranges)
            moved.extend(value[0] for value in found if value is not None)
            return found

    def put(self, key: str, data: Data, if_generation: Generation | Expect = ANY) -> Generation:
        """Replace what is under a key; see `Store.put`."""
        with self._log("put", key) as moved:
            moved.append(data)
            return super().put(key, data, if_generation)

    def delete(self, key: str, if_generation: Generation | Expect = ANY) -> bool:
        """Delete a key; see `Store.delete`."""
        with self._log("delete", key):
            return super().delete(key, if_generation)

    def list(self, prefix: str = "", start_after: str = "") -> Iterator[Page]:
        """Yield keys and sizes by pages; see `Store.list`."""
        with self._log("list", prefix):
            return super().list(prefix, start_after)

    def children(self, folder: str = "") -> Children:
        """Return the names of what is directly in a folder."""
        with self._log("children", folder):
            return super().children(folder)

    def size(self, key: str) -> int | None:
        """Return the size of a value; None where the key does not exist."""
        with self._log("size", key):
            return super().size(key)

    def delete_folder(self, folder: str = "") -> None:
        """Delete every key in a folder and below."""
        with self._log("delete_folder", folder):
            super().delete_folder(folder)
