"""The wave executor: a plan runs on a device in waves of chunks, within a budget of memory."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blazarr import _core
from blazarr.cuda.base import WINDOW_ROWS, Report, Run
from blazarr.cuda.device import Device, Event, FilePart, Words
from blazarr.cuda.options import Options
from blazarr.cuda.program import Program
from blazarr.cuda.rows import Rows, Staged, State
from blazarr.cuda.slots import Demand, Slot, fit, read_sizes, spread_of
from blazarr.cuda.wave import Target, Wave
from blazarr.errors import CorruptError, UnsupportedError

# Files of one wave that a device reads itself: each is held open.
MOST_FILES = 256


@dataclass
class _Window:
    """Rows that are planned, and which of them are still to do."""

    rows: Rows
    pending: Words
    host: Any
    # Whether the device reads files itself.
    direct: bool


def rows_of(
    array: _core.Array,
    selection: Any,
    strides: Sequence[int],
    options: Options,
    *,
    missing_is_error: bool = False,
) -> Iterator[Rows]:
    """Yield the rows of a selection, a window at a time.

    Parameters
    ----------
    array
        What is read.
    selection
        As the core takes it.
    strides
        Of the result, in bytes.
    options
        The budget.
    missing_is_error
        Whether chunks that are not there are an error.
    """
    first: int | None = 0
    while first is not None:
        core = _core.wave_rows(
            array,
            selection,
            list(strides),
            first,
            rows=WINDOW_ROWS,
            nbytes=max(1, options.memory // 8),
            missing_is_error=missing_is_error,
        )
        if len(core):
            yield Rows.of(core)
        first = core.next


class WaveRead(Run[Wave]):
    """One read on a device: `issue` queues it all but the end, `finish` waits and checks.

    Parameters
    ----------
    device
        Where it runs.
    program
        What the device undoes of the array's chain.
    options
        Memory and what is left to the CPU.
    target
        Where the result goes.
    direct
        Whether the device may read files itself, where their bytes are what it needs.
    """

    def __init__(
        self,
        device: Device,
        program: Program,
        options: Options,
        target: Target,
        *,
        direct: bool = False,
    ) -> None:
        super().__init__(device)
        self.program = program
        self.options = options
        self.target = target
        self.direct = direct
        # Numbers of rows that turned out to be absent.
        self.absent: list[Words] = []
        self._window: _Window | None = None

    def issue(self, windows: Iterable[Rows], after: Event = None) -> None:
        """Queue the read of rows, a window of them at a time; the first work waits for an event."""
        with self._cleaning_up():
            self._begin(after)
            for rows in windows:
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

    def _open(self, rows: Rows) -> None:
        """Take memory for the waves of some rows."""
        self._close()
        spread = spread_of(self.program.filters, rows.decoded)
        demand = Demand.of(spread, rows.rank, rows.tables.nbytes)
        sizes_of = functools.partial(read_sizes, self.device, self.program, demand)
        sizes, slots = fit(sizes_of, demand, self.options)
        self._take_memory(sizes, slots, rows.tables)
        direct = self.direct and self.program.plain
        direct = direct and int(rows.decoded.min()) >= self.options.crossover
        self._window = _Window(rows, np.arange(len(rows)), self._for_host(rows), direct)

    def _for_host(self, rows: Rows) -> Any:
        """Which rows the host decodes, decided before anything is read."""
        program, options = self.program, self.options
        if program.frame is None:
            return np.full(len(rows), bool(program.reason))
        if program.device_only:
            if options.strict and not program.checked:
                raise UnsupportedError(
                    f"chunks of codec {program.frame!r} are decoded by a GPU only, and carry no "
                    "checksum; read them without `strict`",
                    codec=program.frame,
                )
            return np.zeros(len(rows), bool)
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
                direct=window.direct,
                threads=self.options.threads,
            )
        )
        self._read_files(staged, slot)
        self._again(window, numbers, staged)
        self.absent.append(numbers[staged.state == State.ABSENT])
        live = np.flatnonzero(~np.isin(staged.state, (State.DEFERRED, State.FOR_HOST)))
        if not len(live):
            # What has no room alone when encoded is decoded straight into its place.
            window.host[numbers[:1]] = True
            self._free.append(slot)
            return
        wave = Wave(self.device, slot, window.rows, numbers, staged, program=self.program)
        wave.issue(live, self.target, self._tables_at, self._copying, self._computing)
        self._flying.append(wave)
        self._count(staged.state[live])

    def _read_files(self, staged: Staged, slot: Slot) -> None:
        """Read rows from their files straight to the device; the host names what is wrong with one that is short."""
        if not staged.files:
            return
        parts = [
            FilePart(file.descriptor, file.offset, slot.memory.address + file.start, file.nbytes)
            for file in staged.files
        ]
        try:
            # What reads files knows no streams, on which the memory may still be in use.
            if self._after is not None:
                self.device.synchronize(self._after)
            came = self.device.read_files(parts)
        finally:
            for file in staged.files:
                os.close(file.descriptor)
        for file, nbytes in zip(staged.files, came, strict=True):
            if nbytes != file.nbytes:
                staged.state[file.row] = State.FOR_HOST

    def _take(self, window: _Window, slot: Slot) -> Words:
        """The next rows, as many as a wave holds when decoded."""
        first = window.pending[: min(slot.sizes.rows, MOST_FILES if window.direct else WINDOW_ROWS)]
        ends = np.cumsum(spread_of(self.program.filters, window.rows.decoded[first]))
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
            if self.program.device_only:
                raise self._damaged(int(failed[0]))
            self.report.retried += len(failed)
            self.report.device_rows -= len(failed)
            self._window.host[failed] = True
            self._window.pending = np.concatenate([self._window.pending, failed])

    def _damaged(self, number: int) -> CorruptError:
        """The error of a chunk that no CPU can look at."""
        assert self._window is not None
        key, chunk = self._window.rows.core.place(number)
        codec = self.program.frame
        return CorruptError(
            f"{codec}: the device could not decode the chunk", key=key, chunk=chunk, codec=codec
        )

    def _settle_all(self) -> None:
        while self._flying:
            self._settle(self._flying.popleft())
            if self._window is not None and len(self._window.pending):
                self._run()
