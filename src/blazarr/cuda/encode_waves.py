"""The wave executor's writes: a plan runs the other way, within the same budgets."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from blazarr import _core
from blazarr.cuda.base import WINDOW_ROWS, Run
from blazarr.cuda.collecting import Collector, Kind
from blazarr.cuda.device import Device, Event, Words
from blazarr.cuda.encode_slots import write_sizes
from blazarr.cuda.encode_wave import EncodeWave
from blazarr.cuda.encoding import MOST_ENCODED, EncodeProgram
from blazarr.cuda.options import Options
from blazarr.cuda.rows import Cover, Rows
from blazarr.cuda.slots import Demand, Slot, aligned, fit
from blazarr.cuda.wave import Target
from blazarr.errors import InternalError, UnsupportedError


@dataclass
class _Window:
    """Chunks that are planned, and which of them are still to be made."""

    rows: Rows
    pending: Words
    host: npt.NDArray[np.bool_]


class WaveWrite(Run[EncodeWave]):
    """One write from a device.

    Chunks that are replaced as a whole are encoded on the device. Of the others only the elements
    come back, and the core changes what is stored, under the store's own guard against other
    writers; it stores whole chunks under the same guard.

    Parameters
    ----------
    device
        Where the value is.
    array
        What is written to.
    program
        What the device does.
    options
        Memory, and what is left to the CPU.
    source
        The value: its memory, and the array's fill value.
    elide
        Whether chunks of nothing but the fill value are not stored.
    """

    def __init__(
        self,
        device: Device,
        array: _core.Array,
        program: EncodeProgram,
        options: Options,
        source: Target,
        *,
        elide: bool,
    ) -> None:
        super().__init__(device)
        self.array = array
        self.program = program
        self.options = options
        self.source = source
        self.elide = elide

    def run(self, selection: Any, after: Event = None) -> None:
        """Write; the first work waits for an event. Everything is stored when this returns."""
        with self._cleaning_up():
            self._begin(after)
            for rows in self._windows(selection):
                self._open(rows)
                self._close()

    def _windows(self, selection: Any) -> Iterator[Rows]:
        program = self.program
        first: int | None = 0
        while first is not None:
            core = _core.wave_chunks(
                self.array,
                selection,
                list(self.source.strides),
                first,
                rows=WINDOW_ROWS,
                nbytes=max(1, self.options.memory // 8),
                device_steps=program.device_steps,
                frame=program.frame,
                checked=bool(program.check),
                block=program.block,
            )
            if len(core):
                yield Rows.of(core)
            first = core.next

    def _open(self, rows: Rows) -> None:
        """Write the chunks of a window."""
        window = _Window(rows, np.arange(len(rows)), self._for_host(rows))
        spread: Words = aligned(rows.decoded)
        demand = Demand.of(spread, rows.rank, rows.tables.nbytes)
        sizes_of = functools.partial(write_sizes, self.device, self.program, demand)
        sizes, slots = fit(sizes_of, demand, self.options)
        self._take_memory(sizes, slots, rows.tables)
        while len(window.pending) or self._flying:
            if self._free and len(window.pending):
                self._issue_wave(window, self._free.pop())
            else:
                self._settle(window, self._flying.popleft())
        if rows.core.store(threads=self.options.threads, write_empty=not self.elide):
            raise InternalError("chunks of a write were not made")

    def _for_host(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Which rows the core encodes, decided before anything is encoded."""
        program, options = self.program, self.options
        part: npt.NDArray[np.bool_] = rows.cover == Cover.PART
        if program.format is None:
            return np.ones(len(rows), bool)
        if program.device_only:
            self._refuse_parts(part)
            return part
        longest = np.minimum(rows.decoded, program.block) if program.block else rows.decoded
        host: npt.NDArray[np.bool_] = (
            part | (rows.decoded < options.crossover) | (longest > MOST_ENCODED[program.format])
        )
        one_stream_each = program.frame in {"zstd", "gzip", "zlib"}
        if one_stream_each and np.count_nonzero(~host) < options.least_streams:
            host[:] = True
        return host

    def _refuse_parts(self, part: npt.NDArray[np.bool_]) -> None:
        if part.any():
            raise UnsupportedError(
                f"the selection changes only a part of {np.count_nonzero(part)} chunks, and no CPU "
                f"decodes codec {self.program.frame!r}; write whole chunks",
                codec=self.program.frame,
            )

    def _issue_wave(self, window: _Window, slot: Slot) -> None:
        numbers = self._take(window, slot)
        host = window.host[numbers]
        wave = EncodeWave(self.device, slot, window.rows, numbers, host, program=self.program)
        self._flying.append(wave)
        wave.issue(self.source, self._tables_at, self._copying, self._computing)
        self.report.waves += 1

    @staticmethod
    def _take(window: _Window, slot: Slot) -> Words:
        """The next rows, as many as a wave holds."""
        first = window.pending[: slot.sizes.rows]
        ends = np.cumsum(aligned(window.rows.decoded[first]))
        count = max(1, int(np.searchsorted(ends, slot.sizes.chunks, side="right")))
        window.pending = window.pending[count:]
        return first[:count]

    def _settle(self, window: _Window, wave: EncodeWave) -> None:
        """Take a wave's chunks, and store the keys that are complete."""
        core, threads = window.rows.core, self.options.threads
        parts = wave.parts(elide=self.elide)
        collector = Collector(self.device, wave.slot, self._copying, core, threads)
        refused = collector.collect(parts, wave.numbers)
        refused += wave.numbers[parts.failed].tolist()
        self._free.append(wave.slot)
        made = {kind: int(np.count_nonzero(parts.kinds == kind)) for kind in Kind}
        self.report.absent_rows += made[Kind.EMPTY]
        self.report.host_rows += made[Kind.ELEMENTS]
        self.report.device_rows += made[Kind.STREAMS] - len(refused)
        if len(refused):
            if self.program.device_only:
                raise InternalError(f"the device did not encode {len(refused)} chunks")
            self.report.retried += len(refused)
            window.host[refused] = True
            again = np.array(sorted(refused), np.int64)
            window.pending = np.concatenate([again, window.pending])
        core.store(threads=threads, write_empty=not self.elide)
