"""One wave of a write: chunks gathered, filtered and encoded, then packed and copied to the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from blazarr.cuda import checks
from blazarr.cuda.collecting import Kind, Parts
from blazarr.cuda.device import Batch, Device, Stream, Words
from blazarr.cuda.encode_slots import stream_counts
from blazarr.cuda.encoding import EncodeProgram
from blazarr.cuda.filtering import Chunks, Launcher, Queue
from blazarr.cuda.rows import Cover, Rows, ends_of
from blazarr.cuda.slots import Packer, Slot, aligned, spread_of
from blazarr.cuda.wave import Target


@dataclass(frozen=True)
class Batches:
    """The streams of a wave that the device encodes, and what it said of them.

    Attributes
    ----------
    row
        For each the position of its row.
    source, length
        Its input.
    target, room
        Its output, and the bytes that this may have.
    made, status
        What the device writes: the output's length, and 0 or a fault.
    made_at, status_at
        Where on the device.
    """

    row: Words
    source: Words
    length: Words
    target: Words
    room: int
    made: Any
    made_at: int
    status: Any
    status_at: int

    @property
    def made_bytes(self) -> Words:
        """Length of each output."""
        lengths: Words = self.made.view(np.int64)
        return lengths


class EncodeWave:
    """Some rows in one slot of memory.

    Parameters
    ----------
    device
        Where it runs.
    slot
        Its memory.
    rows, numbers
        All rows, and which of them the wave holds.
    host
        For each of these whether the core encodes it.
    direct
        Whether the device writes the files of those that the core does not encode.
    program
        What the device does.
    """

    def __init__(
        self,
        device: Device,
        slot: Slot,
        rows: Rows,
        numbers: Words,
        host: npt.NDArray[np.bool_],
        *,
        program: EncodeProgram,
        direct: bool = False,
    ) -> None:
        self.device = device
        self.slot = slot
        self.numbers = numbers
        self._direct = direct
        self._rows = rows
        self._host = host
        self._program = program
        self._lengths = rows.decoded[numbers]
        spread = spread_of(program.filters, self._lengths)
        self._offsets: Words = np.cumsum(spread) - spread
        self._bases: Words = slot.side(0) + self._offsets
        self._batches: Batches | None = None
        self._marks: Any = None
        self._checks: Any = None

    @property
    def changes(self) -> Words:
        """Which rows change a part of what the device decodes first."""
        parts = self._rows.cover[self.numbers] == Cover.PART
        changes: Words = np.flatnonzero(parts & ~self._host)
        return changes

    @property
    def places(self) -> Words:
        """Where each row's chunk begins, in bytes from the first part for decoded bytes."""
        return self._offsets

    def issue(self, source: Target, tables: int, copying: Stream, computing: Stream) -> None:
        """Queue everything up to the encoded streams.

        Parameters
        ----------
        source
            The value that is written.
        tables
            Address of the tables of indices.
        copying, computing
            Streams.
        """
        slot, device = self.slot, self.device
        table, results = slot.table, slot.results
        queue = Queue(device, computing)
        run = Launcher(queue, table, slot.sums)
        self._gather(run, source, tables)
        chosen = np.flatnonzero(~self._host)
        if len(chosen):
            pattern = table.put(stored_fill(source.fill, self._program.swap))
            self._mark(run, results, chosen, pattern, source.item)
            if self._program.format is not None:
                self._encode(run, results, chosen)
        slot.send(device, table.used, copying)
        device.wait(computing, device.record(copying))
        queue.run()
        slot.fetch(device, results.used, computing)
        slot.event = device.record(computing)

    def _gather(self, run: Launcher, source: Target, tables: int) -> None:
        """Chunks are filled where the value leaves gaps, then the value's elements are put in."""
        cover = self._rows.cover[self.numbers]
        swap = self._program.swap
        for host, unit in ((True, 0), (False, swap)):
            rows = np.flatnonzero(self._host == host)
            gaps = rows[cover[rows] == Cover.INSIDE]
            if len(gaps):
                pattern = run.table.put(stored_fill(source.fill, unit))
                to, lengths = self._bases[gaps], self._lengths[gaps]
                self._fill(run, to, lengths, pattern, source.item)
            if len(rows):
                self._scatter(run, rows, source, tables, unit)

    def _fill(self, run: Launcher, to: Words, lengths: Words, pattern: int, size: int) -> None:
        where, counts = run.table.words(to), run.table.words(lengths)
        run.over("fill", lengths, where, counts, after=(pattern, size))

    def _scatter(self, run: Launcher, rows: Words, source: Target, tables: int, unit: int) -> None:
        plain, filled = np.zeros((len(rows), 3), np.int64), np.zeros(len(rows), bool)
        table = self._rows.table(self.numbers[rows], self._bases[rows], plain, filled)
        ends = ends_of(table[:, 3])
        arguments = (
            run.table.words(table),
            self._rows.rank,
            run.table.words(ends),
            len(table),
            tables,
            source.address,
            unit,
            source.item,
        )
        run.queue.launch(f"gather_{source.variant}", int(ends[-1]), *arguments)

    def _mark(self, run: Launcher, results: Packer, chosen: Words, pattern: int, size: int) -> None:
        """Find chunks that hold the fill value throughout."""
        marks, address = results.room(4 * len(chosen))
        self._marks = marks.view(np.uint32)
        nothing = run.table.put(np.zeros(1, np.uint8))
        length = np.array([4 * len(chosen)], np.int64)
        self._fill(run, np.array([address], np.int64), length, nothing, 1)
        lengths = self._lengths[chosen]
        where, counts = run.table.words(self._bases[chosen]), run.table.words(lengths)
        run.over("differ", lengths, where, counts, after=(pattern, size, address))

    def _encode(self, run: Launcher, results: Packer, chosen: Words) -> None:
        sides = tuple(self.slot.side(side) + self._offsets[chosen] for side in (0, 1))
        chunks = Chunks(self._bases[chosen], self._lengths[chosen], (sides[0], sides[1]), side=0)
        run.apply(self._program.filters, chunks)
        self._shuffle(run, chunks)
        if self._program.check:
            found, address = results.room(8 * len(chosen))
            checks.launch(run, self._program.check, chunks.at, chunks.length, address)
            self._checks = found.view(np.int64)
        self._batches = self._streams(results, chosen, chunks)
        self._launch(run, self._batches)

    def _shuffle(self, run: Launcher, chunks: Chunks) -> None:
        """Shuffle the blocks of blosc."""
        blosc = self._program.blosc
        if blosc is None or blosc.planes is None:
            return
        shuffled = np.empty((len(chunks.at), 3), np.int64)
        shuffled[:] = (*blosc.planes, self._program.block)
        run.planes("shuffle", chunks, shuffled)

    def _streams(self, results: Packer, chosen: Words, chunks: Chunks) -> Batches:
        program, lengths, at = self._program, chunks.length, chunks.at
        format = program.format
        assert format is not None
        counts = stream_counts(program, lengths)
        row = np.repeat(np.arange(len(chosen)), counts)
        first = np.repeat(np.cumsum(counts) - counts, counts)
        start = (np.arange(len(row)) - first) * program.block
        length = lengths[row] - start
        if program.block:
            length = np.minimum(length, program.block)
        room = int(aligned(self.device.encode_bound(format, int(length.max()))))
        made, made_at = results.room(8 * len(row))
        status, status_at = results.room(4 * len(row))
        return Batches(
            row=chosen[row],
            source=at[row] + start,
            length=length,
            target=self.slot.encoded + room * np.arange(len(row)),
            room=room,
            made=made,
            made_at=made_at,
            status=status.view(np.int32),
            status_at=status_at,
        )

    def _launch(self, run: Launcher, streams: Batches) -> None:
        format = self._program.format
        assert format is not None
        count = len(streams.row)
        batch = Batch(
            count=count,
            largest=int(streams.length.max()),
            total=int(streams.length.sum()),
            sources=run.table.words(streams.source),
            lengths=run.table.words(streams.length),
            targets=run.table.words(streams.target),
            capacities=run.table.words(np.full(count, streams.room)),
            made=streams.made_at,
            statuses=streams.status_at,
            temp=self.slot.temp,
            temp_bytes=self.slot.sizes.temp,
        )
        run.queue.encode(format, batch, self._program.tuning)

    def parts(self, *, elide: bool) -> Parts:
        """Wait for the wave; return what comes back.

        Parameters
        ----------
        elide
            Whether chunks of nothing but the fill value are left out.
        """
        self.device.synchronize(self.slot.event)
        kinds = np.where(self._host, Kind.ELEMENTS, Kind.FILE if self._direct else Kind.STREAMS)
        failed, checks = np.zeros(len(kinds), bool), np.zeros(len(kinds), np.int64)
        streams, chosen = self._batches, np.flatnonzero(~self._host)
        if streams is not None:
            failed[streams.row[self._wrong(streams)]] = True
        if elide and len(chosen):
            empty = chosen[self._marks == 0]
            kinds[empty], failed[empty] = Kind.EMPTY, False
        if self._checks is not None:
            checks[chosen] = self._checks
        row, address, length = self._places(kinds, failed)
        to_files = np.flatnonzero(kinds == Kind.FILE)
        files = zip(self._bases[to_files].tolist(), self._lengths[to_files].tolist(), strict=True)
        return Parts(kinds, failed, checks, row, address, length, list(files))

    def _wrong(self, streams: Batches) -> npt.NDArray[np.bool_]:
        """Streams that were not made, or grew: an encoder on the CPU knows how to store data."""
        made = streams.made_bytes
        # A block that does not shrink is stored as it is.
        grown = streams.length + streams.length // 128 + 32
        most = streams.room if self._program.block else np.minimum(streams.room, grown)
        wrong: npt.NDArray[np.bool_] = (streams.status != 0) | (made <= 0) | (made > most)
        return wrong

    def _places(self, kinds: Words, failed: npt.NDArray[np.bool_]) -> tuple[Words, Words, Words]:
        """Row, address and length of everything that is copied, in the order of the rows."""
        rows = np.flatnonzero(kinds == Kind.ELEMENTS)
        row, address, length = [rows], [self._bases[rows]], [self._lengths[rows]]
        streams = self._batches
        if streams is not None:
            back = np.flatnonzero((kinds[streams.row] == Kind.STREAMS) & ~failed[streams.row])
            made, plain = streams.made_bytes[back], streams.length[back]
            stored = (made >= plain) & bool(self._program.block)
            row.append(streams.row[back])
            address.append(np.where(stored, streams.source[back], streams.target[back]))
            length.append(np.where(stored, plain, made))
        joined = np.concatenate(row)
        order = np.argsort(joined, kind="stable")
        return joined[order], np.concatenate(address)[order], np.concatenate(length)[order]


def stored_fill(fill: bytes, unit: int) -> npt.NDArray[np.uint8]:
    """The fill value as chunks hold it: each unit reversed."""
    item = np.frombuffer(fill, np.uint8)
    return item.reshape(-1, unit)[:, ::-1].reshape(-1) if unit > 1 else item
