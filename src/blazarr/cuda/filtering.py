"""Launches of the kernels that undo filters, and do them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from blazarr.cuda.device import Batch, Device, Format, Stream, Tuning, Words
from blazarr.cuda.program import Filter, Swap, Undelta, Unscale, Unshuffle
from blazarr.cuda.rows import ends_of
from blazarr.cuda.slots import Packer

# Elements that one thread sums up; the kernels' RUN.
RUN = 256

BYTES = 1


@dataclass
class Chunks:
    """Chunks on their way through filters.

    Attributes
    ----------
    at
        Where each is now.
    length
        Bytes of each now.
    sides
        For both parts of the memory, where each chunk may lie there.
    side
        The part that holds them; the other one is free.
    """

    at: Words
    length: Words
    sides: tuple[Words, Words]
    side: int

    def other(self) -> Words:
        """Where the chunks go when a filter can't work in place."""
        return self.sides[1 - self.side]

    def moved(self) -> None:
        """They went there."""
        self.at, self.side = self.other(), 1 - self.side


@dataclass
class Queue:
    """Calls that are made once everything they name was packed and is on its way."""

    device: Device
    stream: Stream
    calls: list[Callable[[], None]] = field(default_factory=list)

    def launch(self, kernel: str, tiles: int, *arguments: int) -> None:
        """Queue a kernel."""
        self.calls.append(lambda: self.device.launch(kernel, tiles, arguments, self.stream))

    def encode(self, format: Format, batch: Batch, tuning: Tuning) -> None:
        """Queue a batch of streams that are to be encoded."""
        self.calls.append(lambda: self.device.encode(format, batch, tuning, self.stream))

    def decode(self, format: Format, batch: Batch) -> None:
        """Queue a batch of streams."""
        self.calls.append(lambda: self.device.decode(format, batch, self.stream))

    def run(self) -> None:
        """Make the calls."""
        for call in self.calls:
            call()


@dataclass(frozen=True)
class Launcher:
    """Launches over the chunks of one wave."""

    queue: Queue
    table: Packer
    sums: int

    def over(self, kernel: str, counts: Words, *before: int, after: tuple[int, ...] = ()) -> None:
        """Launch a kernel over work of these sizes, one for each chunk."""
        ends = ends_of(counts)
        if not len(ends) or not ends[-1]:
            return
        arguments = (*before, self.table.words(ends), len(counts), *after)
        self.queue.launch(kernel, int(ends[-1]), *arguments)

    def unshuffle(self, chunks: Chunks, shuffled: Words) -> None:
        """Undo shuffles: for each chunk the kind, element size and block."""
        table = np.column_stack([chunks.at, chunks.length, shuffled])
        to = self.table.words(chunks.other())
        self.over("unshuffle", chunks.length, self.table.words(table), to)
        chunks.moved()

    def run(self, filters: tuple[Filter, ...], chunks: Chunks) -> None:
        """Undo filters, in their order."""
        for undone in filters:
            match undone:
                case Unshuffle(size):
                    shuffled = np.empty((len(chunks.at), 3), np.int64)
                    shuffled[:, 0], shuffled[:, 1] = BYTES, size
                    shuffled[:, 2] = np.maximum(chunks.length, 1)
                    self.unshuffle(chunks, shuffled)
                case Swap(size):
                    self._reverse(chunks, size)
                case Undelta(size):
                    self._sum_up(chunks, size)
                case Unscale():
                    self._unscale(chunks, undone)

    def apply(self, filters: tuple[Unshuffle | Swap | Undelta, ...], chunks: Chunks) -> None:
        """Do filters, each given by what undoes it, in their order."""
        for done in filters:
            match done:
                case Unshuffle(size):
                    self._moving("shuffle", chunks, chunks.length, size)
                case Swap(size):
                    self._reverse(chunks, size)
                case Undelta(size):
                    self._moving("differences", chunks, chunks.length // size, size)

    def _moving(self, kernel: str, chunks: Chunks, counts: Words, size: int) -> None:
        source, target = self.table.words(chunks.at), self.table.words(chunks.other())
        self.over(kernel, counts, source, target, self.table.words(counts), after=(size,))
        chunks.moved()

    def _reverse(self, chunks: Chunks, size: int) -> None:
        counts = chunks.length // size
        data, pointer = self.table.words(chunks.at), self.table.words(counts)
        self.over("reverse_units", counts, data, pointer, after=(size,))

    def _sum_up(self, chunks: Chunks, size: int) -> None:
        counts = chunks.length // size
        runs = -(-counts // RUN)
        sums = self.table.words(self.sums + 8 * (np.cumsum(runs) - runs))
        data, lengths = self.table.words(chunks.at), self.table.words(counts)
        self.over("delta_sums", runs, data, lengths, sums, after=(size,))
        self.queue.launch("delta_scan", len(runs), lengths, sums, len(runs))
        self.over("delta_apply", runs, data, lengths, sums, after=(size,))

    def _unscale(self, chunks: Chunks, undone: Unscale) -> None:
        counts = chunks.length // undone.size
        numbers = self.table.put(np.array([undone.scale, undone.offset]))
        after = (ord(undone.kind), undone.size, undone.wide, numbers)
        source, target = self.table.words(chunks.at), self.table.words(chunks.other())
        self.over("unscale", counts, source, target, self.table.words(counts), after=after)
        chunks.moved()
        chunks.length = counts * undone.wide
