"""The wave executor's writes: a plan runs the other way, within the same budgets."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from blazarr import _core
from blazarr.cuda.base import ATTEMPTS, WINDOW_ROWS, Run
from blazarr.cuda.collecting import Collector, Kind
from blazarr.cuda.device import Device, Event, Words
from blazarr.cuda.encode_slots import write_sizes
from blazarr.cuda.encode_wave import EncodeWave, stored_fill
from blazarr.cuda.encoding import BLOSC_LEAST, MOST_ENCODED, EncodeProgram
from blazarr.cuda.options import Options
from blazarr.cuda.program import Program, content_bytes, whole
from blazarr.cuda.rows import Cover, Rows
from blazarr.cuda.slots import Demand, Sizes, Slot, fit, read_sizes, spread_of
from blazarr.cuda.wave import Target
from blazarr.cuda.waves import WaveRead
from blazarr.errors import ConflictError, InternalError


@dataclass
class _Window:
    """Chunks that are planned, and which of them are still to be made."""

    rows: Rows
    pending: Words
    host: npt.NDArray[np.bool_]
    # Whether the device writes files itself.
    direct: bool


def chunks_of(
    array: _core.Array,
    selection: Any,
    strides: Sequence[int],
    options: Options,
    program: EncodeProgram,
) -> Iterator[Rows]:
    """Yield the chunks that a selection writes, a window at a time.

    Parameters
    ----------
    array
        What is written to.
    selection
        As the core takes it.
    strides
        Of the value, in bytes.
    options
        The budget.
    program
        What the device does.
    """
    first: int | None = 0
    while first is not None:
        core = _core.wave_chunks(
            array,
            selection,
            list(strides),
            first,
            rows=WINDOW_ROWS,
            nbytes=max(1, options.memory // 8),
            device_steps=program.device_steps,
            frame=program.for_core,
        )
        if len(core):
            yield Rows.of(core)
        first = core.next


class WaveWrite(Run[EncodeWave]):
    """One write from a device.

    Chunks that are replaced as a whole are encoded on the device. Of the others only the elements
    come back, and the core changes what is stored, under the store's own guard against other
    writers; it stores whole chunks under the same guard. Where no CPU decodes the chunks, the
    device decodes what is there and encodes it changed; the core stores that only if the same is
    still there, or has it made again.

    Parameters
    ----------
    device
        Where the value is.
    program
        What the device does.
    undo
        What it does to read the same chunks.
    options
        Memory, and what is left to the CPU.
    source
        The value: its memory, and the array's fill value.
    elide
        Whether chunks of nothing but the fill value are not stored.
    direct
        Whether the device may write files itself.
    """

    def __init__(
        self,
        device: Device,
        program: EncodeProgram,
        undo: Program,
        options: Options,
        source: Target,
        *,
        elide: bool,
        direct: bool = False,
    ) -> None:
        super().__init__(device)
        self.program = program
        self.options = options
        self.source = source
        self.elide = elide
        self.direct = direct and program.plain
        # Chunks are changed as they are stored, in their own byte order.
        self._undo = replace(undo, swap=0)
        self._changed = 0

    def run(self, windows: Iterable[Rows], after: Event = None) -> None:
        """Write rows, a window of them at a time; the first work waits for an event.

        Everything is stored when this returns.
        """
        with self._cleaning_up():
            self._begin(after)
            for rows in windows:
                self._open(rows)
                self._close()

    def _open(self, rows: Rows) -> None:
        """Write the chunks of a window."""
        direct = self.direct and int(rows.decoded.min()) >= self.options.crossover
        host = self._for_host(rows, direct=direct)
        window = _Window(rows, np.arange(len(rows)), host, direct)
        sizes, slots = self._fit(window)
        self._take_memory(sizes, slots, rows.tables)
        while len(window.pending) or self._flying:
            if self._free and len(window.pending):
                self._issue_wave(window, self._free.pop())
            else:
                self._settle(window, self._flying.popleft())
        if rows.core.store(threads=self.options.threads, write_empty=not self.elide)[0]:
            raise InternalError("chunks of a write were not made")

    def _fit(self, window: _Window) -> tuple[Sizes, int]:
        rows = window.rows
        spread = spread_of(self.program.filters, rows.decoded)
        demand = Demand.of(spread, rows.rank, rows.tables.nbytes)
        changes = bool(((rows.cover == Cover.PART) & ~window.host).any())
        beside = functools.partial(read_sizes, self.device, self._undo, demand)
        sizes_of = functools.partial(
            write_sizes, self.device, self.program, demand, beside=beside if changes else None
        )
        return fit(sizes_of, demand, self.options)

    def _for_host(self, rows: Rows, *, direct: bool) -> npt.NDArray[np.bool_]:
        """Which rows the core encodes, decided before anything is encoded."""
        program, options = self.program, self.options
        part: npt.NDArray[np.bool_] = rows.cover == Cover.PART
        if program.format is None:
            return part if direct else np.ones(len(rows), bool)
        if program.device_only:
            return np.zeros(len(rows), bool)
        content = content_bytes(program.filters, rows.decoded)
        longest = np.minimum(content, program.block) if program.block else content
        host: npt.NDArray[np.bool_] = (
            part
            | (rows.decoded < options.crossover)
            | (longest > MOST_ENCODED[program.format])
            | ~whole(program.filters, rows.decoded)
        )
        if program.blosc is not None:
            # Its writers store what is as short as that.
            host |= content < BLOSC_LEAST
        one_stream_each = program.frame in {"zstd", "gzip", "zlib"}
        if one_stream_each and np.count_nonzero(~host) < options.least_streams:
            host[:] = True
        return host

    def _issue_wave(self, window: _Window, slot: Slot) -> None:
        numbers = self._take(window, slot)
        wave = EncodeWave(
            self.device,
            slot,
            window.rows,
            numbers,
            window.host[numbers],
            program=self.program,
            direct=window.direct,
        )
        self._flying.append(wave)
        if len(wave.changes):
            self._decode_old(window, wave)
        wave.issue(self.source, self._tables_at, self._copying, self._computing)
        self.report.waves += 1

    def _decode_old(self, window: _Window, wave: EncodeWave) -> None:
        """Decode what is stored of chunks of which a part is written to their places in a wave."""
        slot, source, chosen = wave.slot, self.source, wave.changes
        old = window.rows.core.old(wave.numbers[chosen].tolist(), wave.places[chosen].tolist())
        fill = stored_fill(source.fill, self.program.swap).tobytes()
        target = Target(slot.side(0), (source.item,), source.item, fill)
        options = replace(self.options, memory=slot.sizes.beside, pinned=slot.sizes.pinned_beside)
        read = WaveRead(self.device, self._undo, options, target)
        read.issue([Rows.of(old)], self._after)
        read.finish()

    def _take(self, window: _Window, slot: Slot) -> Words:
        """The next rows, as many as a wave holds."""
        first = window.pending[: slot.sizes.rows]
        ends = np.cumsum(spread_of(self.program.filters, window.rows.decoded[first]))
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
        self.report.device_rows += made[Kind.STREAMS] + made[Kind.FILE] - len(refused)
        if len(refused):
            if self.program.device_only:
                raise InternalError(f"the device did not encode {len(refused)} chunks")
            self.report.retried += len(refused)
            window.host[refused] = True
            self._again(window, refused)
        _, changed = core.store(threads=threads, write_empty=not self.elide)
        if changed:
            self._changed += 1
            if self._changed == ATTEMPTS:
                raise ConflictError(
                    f"other writers changed {len(changed)} chunks whenever a part of them was to "
                    "be written"
                )
            self._again(window, changed)

    @staticmethod
    def _again(window: _Window, rows: list[int]) -> None:
        window.pending = np.concatenate([np.array(sorted(rows), np.int64), window.pending])
