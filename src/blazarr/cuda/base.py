"""What reads and writes in waves share: streams, memory, and giving it back whatever happens."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from blazarr.cuda.device import Device, Event, Stream
from blazarr.cuda.slots import Sizes, Slot
from blazarr.errors import ConflictError

Wave = TypeVar("Wave")

# Rows of a selection that are planned at once.
WINDOW_ROWS = 65_536


# How often something is done again that another writer came between.
ATTEMPTS = 100

Result = TypeVar("Result")


def unless_changed(run: Callable[[], Result]) -> Result:
    """Do something, and again where a shard was replaced between the look at its index and the rest."""
    for _ in range(ATTEMPTS - 1):
        with contextlib.suppress(ConflictError):
            return run()
    return run()


@dataclass
class Report:
    """What a read or a write did.

    Attributes
    ----------
    waves
        How many waves it took.
    device_rows, host_rows, absent_rows
        Chunks that the device decoded or encoded (or only placed), those that the host did, and
        those that were filled, or left out because they hold nothing but the fill value.
    retried
        Chunks that the device could not do, so that the host did.
    """

    waves: int = 0
    device_rows: int = 0
    host_rows: int = 0
    absent_rows: int = 0
    retried: int = 0


class Run(Generic[Wave]):
    """One read or write on a device: its streams, its memory, and the waves in flight.

    Parameters
    ----------
    device
        Where it runs.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.report = Report()
        self._copying: Stream = None
        self._computing: Stream = None
        self._flying: deque[Wave] = deque()
        self._free: list[Slot] = []
        self._slots: list[Slot] = []
        self._tables: Any = None
        self._after: Event = None

    def _begin(self, after: Event) -> None:
        self._after = after
        self._copying, self._computing = self.device.stream(), self.device.stream()
        if after is not None:
            # Memory from a pool may still be in use on the stream that it was last freed on.
            self.device.wait(self._copying, after)
            self.device.wait(self._computing, after)

    @contextlib.contextmanager
    def _cleaning_up(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            for stream in (self._copying, self._computing):
                # A device that fails may fail here too; memory is given back all the same.
                with contextlib.suppress(Exception):
                    if stream is not None:
                        self.device.drain(stream)
            self._close()
            raise

    def _take_memory(self, sizes: Sizes, slots: int, tables: Any) -> None:
        """Take memory for the waves of some rows, and for their tables of indices."""
        if tables.nbytes:
            self._tables = self.device.alloc(tables.nbytes)
            self._upload(tables)
        for _ in range(slots):
            self._slots.append(Slot(self.device, sizes))
        self._free = list(self._slots)

    def _upload(self, tables: Any) -> None:
        pinned = self.device.alloc_pinned(tables.nbytes)
        try:
            pinned.array[:] = tables.view(np.uint8)
            self.device.to_device(self._tables.address, pinned.array, self._computing)
            self.device.drain(self._computing)
        finally:
            pinned.free()

    @property
    def _tables_at(self) -> int:
        """Address of the tables."""
        return int(self._tables.address) if self._tables else 0

    def _close(self) -> None:
        self._flying.clear()
        for slot in self._slots:
            slot.free()
        self._slots, self._free = [], []
        if self._tables is not None:
            self._tables.free()
            self._tables = None
