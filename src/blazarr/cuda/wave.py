"""One wave: copied, decoded, checked, filtered and placed by a handful of calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from blazarr.cuda import checks
from blazarr.cuda.device import Batch, Device, Format, Stream, Words
from blazarr.cuda.filtering import BYTES, Chunks, Launcher, Queue
from blazarr.cuda.program import Filter, Program, Unshuffle, content_bytes
from blazarr.cuda.rows import Rows, Staged, State, ends_of
from blazarr.cuda.slots import Slot, spread_of


@dataclass(frozen=True)
class Target:
    """Where a result goes.

    Attributes
    ----------
    address
        Of its first element, on the device.
    strides
        In bytes, along the flat axes of the selection.
    item
        Bytes of an element.
    fill
        The bytes of the fill value.
    cast
        Where elements become another type: the letters of both types, and bytes of the result's.
    """

    address: int
    strides: tuple[int, ...]
    item: int
    fill: bytes
    cast: tuple[int, int, int] | None = None

    @property
    def variant(self) -> str:
        """The placing kernels' name for elements of this size and alignment."""
        if self.cast:
            return "cast"
        everything = (self.address, *self.strides)
        fits = self.item in {1, 2, 4, 8, 16} and all(n % self.item == 0 for n in everything)
        return str(self.item) if fits else "any"


class Wave:
    """Some rows in one slot of memory.

    Parameters
    ----------
    device
        Where it runs.
    slot
        Its memory, with the staged bytes.
    rows, numbers
        All rows, and which of them were staged.
    staged
        What became of each.
    program
        What the device undoes.
    """

    def __init__(
        self,
        device: Device,
        slot: Slot,
        rows: Rows,
        numbers: Words,
        staged: Staged,
        *,
        program: Program,
    ) -> None:
        self.device = device
        self.slot = slot
        self._rows = rows
        self._numbers = numbers
        self._staged = staged
        self._program = program
        # Filters that run on their own, and whether an unshuffle at the end is done while placing.
        last = program.filters[-1] if program.filters else None
        fused = isinstance(last, Unshuffle)
        self._last = last if fused else None
        self._filters: tuple[Filter, ...] = program.filters[:-1] if fused else program.filters
        self._bases = np.zeros(len(numbers), np.int64)
        self._shuffled = np.zeros((len(numbers), 3), np.int64)
        # Pairs of an array of rows and what has to hold for them, looked at in the end.
        self._expected: list[tuple[Words, Any, Words]] = []

    def issue(
        self, live: Words, target: Target, tables: int, copying: Stream, computing: Stream
    ) -> None:
        """Queue everything: `live` are the positions of rows that have something to place."""
        slot, device = self.slot, self.device
        table, results = slot.table, slot.results
        queue = Queue(device, computing)
        run = Launcher(queue, table, slot.sums)
        self._locate(target, table)
        self._decode(run, results)
        self._filter(run)
        self._place(run, live, target, tables)
        for start, stop in self._on_host():
            device.to_device(slot.memory.address + start, slot.staging[start:stop], copying)
        slot.send(device, table.used, copying)
        device.wait(computing, device.record(copying))
        queue.run()
        slot.fetch(device, results.used, computing)
        slot.event = device.record(computing)

    def settle(self) -> Words:
        """Wait for the wave; return the numbers of the rows that the device could not decode."""
        self.device.synchronize(self.slot.event)
        failed = [rows[found != due] for rows, found, due in self._expected]
        if not failed:
            return np.empty(0, np.int64)
        numbers: Words = self._numbers[np.unique(np.concatenate(failed))]
        return numbers

    def _on_host(self) -> list[tuple[int, int]]:
        """The parts of the staging memory that are to be copied: what was not read to the device."""
        staged = self._staged
        if not staged.files:
            return [(0, staged.used)] if staged.used else []
        state = staged.state.copy()
        state[[file.row for file in staged.files]] = State.ABSENT
        rows = np.flatnonzero((state == State.DECODED) | (state == State.PLAIN))
        ends = staged.offset[rows] + self._rows.decoded[self._numbers[rows]]
        return list(zip(staged.offset[rows].tolist(), ends.tolist(), strict=True))

    def _locate(self, target: Target, table: Any) -> None:
        """Addresses of the rows whose bytes need no decoder."""
        state, staged = self._staged.state, self._staged
        ready = (state == State.DECODED) | (state == State.PLAIN)
        self._bases[ready] = self.slot.memory.address + staged.offset[ready]
        fill = table.put(np.frombuffer(target.fill.ljust(16, b"\0"), np.uint8))
        self._bases[state == State.ABSENT] = fill

    def _contents(self) -> Words:
        """Bytes of each row between its compressor and its filters."""
        content: Words = content_bytes(self._program.filters, self._rows.decoded[self._numbers])
        return content

    def _offsets(self) -> Words:
        """Where each row lies in the parts for decoded bytes."""
        spread = spread_of(self._program.filters, self._rows.decoded[self._numbers])
        held: Words = np.where(np.isin(self._staged.state, (State.PLAIN, State.FRAME)), spread, 0)
        return np.cumsum(held) - held

    def _decode(self, run: Launcher, results: Any) -> None:
        """Batches of streams, one for each format, and the checksums of what they make."""
        streams, offsets = self._staged.streams, self._offsets()
        frames = self._staged.state == State.FRAME
        self._bases[frames] = self.slot.side(0) + offsets[frames]
        self._shuffled[frames] = self._staged.shuffled[frames]
        for number in np.unique(streams.format).tolist():
            chosen = np.flatnonzero(streams.format == number)
            if number == Format.STORED:
                self._copy(run, chosen)
            else:
                self._batch(run, results, Format(number), chosen)
        for kind in np.unique(streams.check).tolist():
            if kind != checks.Check.NONE:
                self._check(run, results, kind, np.flatnonzero(streams.check == kind))

    def _copy(self, run: Launcher, chosen: Words) -> None:
        streams = self._staged.streams
        lengths = streams.length[chosen]
        source = run.table.words(self.slot.memory.address + streams.source[chosen])
        to = run.table.words(self._bases[streams.row[chosen]] + streams.to[chosen])
        run.over("copy", lengths, source, to, run.table.words(lengths))

    def _batch(self, run: Launcher, results: Any, format: Format, chosen: Words) -> None:
        streams = self._staged.streams
        makes = streams.makes[chosen]
        made, made_at = results.room(8 * len(chosen))
        statuses, statuses_at = results.room(4 * len(chosen))
        batch = Batch(
            count=len(chosen),
            largest=int(makes.max()),
            total=int(makes.sum()),
            sources=run.table.words(self.slot.memory.address + streams.source[chosen]),
            lengths=run.table.words(streams.length[chosen]),
            targets=run.table.words(self._bases[streams.row[chosen]] + streams.to[chosen]),
            capacities=run.table.words(makes),
            made=made_at,
            statuses=statuses_at,
            temp=self.slot.temp,
            temp_bytes=self.slot.sizes.temp,
        )
        run.queue.decode(format, batch)
        rows = streams.row[chosen]
        self._expected.append((rows, made.view(np.int64), makes))
        self._expected.append((rows, statuses.view(np.int32), np.zeros(len(chosen), np.int32)))

    def _check(self, run: Launcher, results: Any, kind: int, chosen: Words) -> None:
        streams = self._staged.streams
        found, address = results.room(8 * len(chosen))
        data = self._bases[streams.row[chosen]] + streams.to[chosen]
        checks.launch(run, kind, data, streams.makes[chosen], address)
        # Of the 64 bits the low half counts.
        due = streams.value[chosen]
        self._expected.append((streams.row[chosen], found.view(np.uint32)[::2], due))

    def _filter(self, run: Launcher) -> None:
        state = self._staged.state
        chosen = np.flatnonzero((state == State.PLAIN) | (state == State.FRAME))
        if not len(chosen):
            return
        if self._filters or (self._last and bool(self._shuffled[chosen, 0].any())):
            self._filter_alone(run, chosen)
        if self._last:
            self._shuffled[chosen, 0], self._shuffled[chosen, 1] = BYTES, self._last.size
            self._shuffled[chosen, 2] = np.maximum(self._rows.decoded[self._numbers[chosen]], 1)

    def _filter_alone(self, run: Launcher, chosen: Words) -> None:
        offsets = self._offsets()[chosen]
        sides = (self.slot.side(0) + offsets, self.slot.side(1) + offsets)
        chunks = Chunks(self._bases[chosen], self._contents()[chosen], sides, side=0)
        if self._shuffled[chosen, 0].any():
            run.planes("unshuffle", chunks, self._shuffled[chosen])
            self._shuffled[chosen] = 0
        run.run(self._filters, chunks)
        self._bases[chosen] = chunks.at

    def _place(self, run: Launcher, live: Words, target: Target, tables: int) -> None:
        filled = self._staged.state[live] == State.ABSENT
        # The fill value is in native order already.
        table = self._rows.table(
            self._numbers[live], self._bases[live], self._shuffled[live], filled
        )
        swap = self._program.swap
        for rows, unit in ((~filled, swap), (filled, 0)) if swap else ((live >= 0, 0),):
            self._scatter(run, table[rows], target, tables, unit)

    def _scatter(self, run: Launcher, table: Words, target: Target, tables: int, unit: int) -> None:
        if not len(table):
            return
        ends = ends_of(table[:, 3])
        arguments = (
            run.table.words(table),
            self._rows.rank,
            run.table.words(ends),
            len(table),
            tables,
            target.address,
            unit,
            target.item,
            *(target.cast or ()),
        )
        kernel = f"scatter_{target.variant}"
        if ends[-1]:
            run.queue.launch(kernel, int(ends[-1]), *arguments)
