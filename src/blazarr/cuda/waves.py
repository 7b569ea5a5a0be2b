"""The wave executor: a plan runs on a device in waves of chunks, within a budget of memory."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from blazarr import _core
from blazarr.cuda.device import Device, Event, Stream, Words
from blazarr.cuda.options import Options
from blazarr.cuda.program import Program
from blazarr.cuda.rows import Rows, Staged, State
from blazarr.cuda.slots import Demand, Slot, aligned, fit, stage_factor
from blazarr.cuda.wave import Target, Wave

# Rows of a selection that are planned at once, and bytes of their tables.
WINDOW_ROWS = 65_536


@dataclass
class Report:
    """What a read did.

    Attributes
    ----------
    waves
        How many waves it took.
    device_rows, host_rows, absent_rows
        Chunks that the device decoded (or only placed), that the host decoded, that were filled.
    retried
        Chunks that the device could not decode, so that the host did.
    """

    waves: int = 0
    device_rows: int = 0
    host_rows: int = 0
    absent_rows: int = 0
    retried: int = 0


@dataclass
class _Window:
    """Rows that are planned, and which of them are still to do."""

    rows: Rows
    pending: Words
    host: Any


class WaveRead:
    """One read on a device: `issue` queues it all but the end, `finish` waits and checks.

    Parameters
    ----------
    device
        Where it runs.
    array
        What is read.
    program
        What the device undoes of the array's chain.
    options
        Memory and what is left to the CPU.
    target
        Where the result goes.
    """

    def __init__(
        self,
        device: Device,
        array: _core.Array,
        program: Program,
        options: Options,
        target: Target,
    ) -> None:
        self.device = device
        self.array = array
        self.program = program
        self.options = options
        self.target = target
        self.report = Report()
        self._copying: Stream = None
        self._computing: Stream = None
        self._flying: deque[Wave] = deque()
        self._free: list[Slot] = []
        self._slots: list[Slot] = []
        self._tables: Any = None
        self._window: _Window | None = None

    def issue(self, selection: Any, after: Event = None, missing_is_error: bool = False) -> None:
        """Queue the read; its first work waits for an event."""
        with self._cleaning_up():
            self._copying, self._computing = self.device.stream(), self.device.stream()
            if after is not None:
                # Memory from a pool may still be in use on the stream that it was last freed on.
                self.device.wait(self._copying, after)
                self.device.wait(self._computing, after)
            for rows in self._windows(selection, missing_is_error):
                self._settle_all()
                self._open(rows)
                self._run()

    def done(self) -> Event:
        """Return an event for what is queued."""
        return self.device.record(self._computing)

    def finish(self) -> Report:
        """Wait for the end, check everything, and give memory back."""
        with self._cleaning_up():
            self._settle_all()
        self._close()
        return self.report

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

    def _windows(self, selection: Any, missing_is_error: bool) -> Iterator[Rows]:
        first: int | None = 0
        while first is not None:
            core = _core.wave_rows(
                self.array,
                selection,
                list(self.target.strides),
                first,
                rows=WINDOW_ROWS,
                nbytes=max(1, self.options.memory // 8),
                missing_is_error=missing_is_error,
            )
            if len(core):
                yield Rows.of(core)
            first = core.next

    def _open(self, rows: Rows) -> None:
        """Take memory for the waves of some rows."""
        self._close()
        spread = self._spread(rows.decoded)
        tables = rows.tables.nbytes
        demand = Demand(int(spread.max()), int(spread.sum()), len(rows), rows.rank, tables)
        sizes, slots = fit(self.device, self.program, demand, self.options.memory)
        if tables:
            self._tables = self.device.alloc(tables)
            self._upload(rows.tables)
        for _ in range(slots):
            self._slots.append(Slot(self.device, sizes))
        self._free = list(self._slots)
        self._window = _Window(rows, np.arange(len(rows)), self._for_host(rows))

    def _spread(self, decoded: Words) -> Words:
        """Aligned bytes that chunks hold while they are decoded."""
        spread: Words = aligned((decoded * stage_factor(self.program)).astype(np.int64))
        return spread

    def _upload(self, tables: Any) -> None:
        pinned = self.device.alloc_pinned(tables.nbytes)
        try:
            pinned.array[:] = tables.view(np.uint8)
            self.device.to_device(self._tables.address, pinned.array, self._computing)
            self.device.drain(self._computing)
        finally:
            pinned.free()

    def _for_host(self, rows: Rows) -> Any:
        """Which rows the host decodes, decided before anything is read."""
        program, options = self.program, self.options
        if program.frame is None:
            return np.full(len(rows), bool(program.reason))
        host = rows.decoded < options.crossover
        one_stream_each = program.frame in ("zstd", "gzip", "zlib")
        if one_stream_each and np.count_nonzero(~host) < options.least_streams:
            host[:] = True
        if options.strict and not program.checked:
            host[:] = True
        return host

    def _run(self) -> None:
        window = self._window
        assert window is not None
        while len(window.pending):
            if not self._free:
                self._settle(self._flying.popleft())
                continue
            self._issue_wave(window, self._free.pop())

    def _issue_wave(self, window: _Window, slot: Slot) -> None:
        numbers = self._take(window, slot)
        staged = Staged.of(
            window.rows.core.stage(
                numbers.tolist(),
                window.host[numbers].tolist(),
                slot.staging,
                device_steps=self.program.device_steps,
                frame=self.program.frame,
                most_streams=slot.sizes.streams,
                threads=self.options.threads,
            )
        )
        self._again(window, numbers, staged)
        live = np.flatnonzero(~np.isin(staged.state, (State.DEFERRED, State.FOR_HOST)))
        if not len(live):
            # What has no room alone when encoded is decoded straight into its place.
            window.host[numbers[:1]] = True
            self._free.append(slot)
            return
        tables = self._tables.address if self._tables else 0
        wave = Wave(self.device, slot, window.rows, numbers, staged, program=self.program)
        wave.issue(live, self.target, tables, self._copying, self._computing)
        self._flying.append(wave)
        self._count(staged.state[live])

    def _take(self, window: _Window, slot: Slot) -> Words:
        """The next rows, as many as a wave holds when decoded."""
        first = window.pending[: slot.sizes.rows]
        ends = np.cumsum(self._spread(window.rows.decoded[first]))
        count = max(1, int(np.searchsorted(ends, slot.sizes.chunks, side="right")))
        window.pending = window.pending[count:]
        return first[:count]

    @staticmethod
    def _again(window: _Window, numbers: Words, staged: Staged) -> None:
        """Queue what found no room, and what turned out to need the host."""
        window.host[numbers[staged.state == State.FOR_HOST]] = True
        waiting = np.isin(staged.state, (State.DEFERRED, State.FOR_HOST))
        window.pending = np.concatenate([numbers[waiting], window.pending])

    def _count(self, states: Any) -> None:
        self.report.waves += 1
        self.report.absent_rows += int((states == State.ABSENT).sum())
        self.report.host_rows += int((states == State.DECODED).sum())
        self.report.device_rows += int((states >= State.PLAIN).sum())

    def _settle(self, wave: Wave) -> None:
        """Wait for a wave; what the device could not decode is left to the host, which names it."""
        failed = wave.settle()
        self._free.append(wave.slot)
        if len(failed):
            assert self._window is not None
            self.report.retried += len(failed)
            self.report.device_rows -= len(failed)
            self._window.host[failed] = True
            self._window.pending = np.concatenate([self._window.pending, failed])

    def _settle_all(self) -> None:
        while self._flying:
            self._settle(self._flying.popleft())
            if self._window is not None and len(self._window.pending):
                self._run()

    def _close(self) -> None:
        self._flying.clear()
        for slot in self._slots:
            slot.free()
        self._slots, self._free = [], []
        if self._tables is not None:
            self._tables.free()
            self._tables = None
