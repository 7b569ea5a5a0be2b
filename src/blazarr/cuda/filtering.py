"""Launches of the kernels that undo filters, and do them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from blazarr.cuda.device import Batch, Device, Format, Stream, Tuning, Words
from blazarr.cuda.program import Filter, Round, Swap, Undelta, Unscale, Unshuffle
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

    def planes(self, kernel: str, chunks: Chunks, shuffled: Words) -> None:
        """Do or undo shuffles: for each chunk the kind, element size and block."""
        table = np.column_stack([chunks.at, chunks.length, shuffled])
        to = self.table.words(chunks.other())
        self.over(kernel, chunks.length, self.table.words(table), to)
        chunks.moved()

    def whole_planes(self, kernel: str, chunks: Chunks, size: int) -> None:
        """Do or undo a byte shuffle of whole chunks."""
        shuffled = np.empty((len(chunks.at), 3), np.int64)
        shuffled[:, 0], shuffled[:, 1] = BYTES, size
        shuffled[:, 2] = np.maximum(chunks.length, 1)
        self.planes(kernel, chunks, shuffled)

    def run(self, filters: tuple[Filter, ...], chunks: Chunks) -> None:
        """Undo filters, in their order."""
        for undone in filters:
            match undone:
                case Unshuffle(size):
                    self.whole_planes("unshuffle", chunks, size)
                case Swap(size):
                    self._in_place("reverse_units", chunks, size)
                case Undelta(size):
                    self._sum_up(chunks, size)
                case Unscale():
                    self._scale("unscale", chunks, undone, undone.size, undone.wide)
                case Round():
                    pass

    def apply(self, filters: tuple[Filter, ...], chunks: Chunks) -> None:
        """Do filters, each given by what undoes it, in their order."""
        for done in filters:
            match done:
                case Unshuffle(size):
                    self.whole_planes("shuffle", chunks, size)
                case Swap(size):
                    self._in_place("reverse_units", chunks, size)
                case Undelta(size):
                    self._moving("differences", chunks, chunks.length // size, size)
                case Unscale():
                    self._scale("scale", chunks, done, done.wide, done.size)
                case Round(size, dropped):
                    self._in_place("round_bits", chunks, size, dropped)

    def _moving(self, kernel: str, chunks: Chunks, counts: Words, *after: int) -> None:
        source, target = self.table.words(chunks.at), self.table.words(chunks.other())
        self.over(kernel, counts, source, target, self.table.words(counts), after=after)
        chunks.moved()

    def _in_place(self, kernel: str, chunks: Chunks, size: int, *after: int) -> None:
        counts = chunks.length // size
        data, pointer = self.table.words(chunks.at), self.table.words(counts)
        self.over(kernel, counts, data, pointer, after=(size, *after))

    def _sum_up(self, chunks: Chunks, size: int) -> None:
        counts = chunks.length // size
        runs = -(-counts // RUN)
        sums = self.table.words(self.sums + 8 * (np.cumsum(runs) - runs))
        data, lengths = self.table.words(chunks.at), self.table.words(counts)
        self.over("delta_sums", runs, data, lengths, sums, after=(size,))
        self.queue.launch("delta_scan", len(runs), lengths, sums, len(runs))
        self.over("delta_apply", runs, data, lengths, sums, after=(size,))

    def _scale(self, kernel: str, chunks: Chunks, scale: Unscale, size: int, made: int) -> None:
        """Make numbers of `made` bytes of numbers of `size` bytes."""
        counts = chunks.length // size
        numbers = self.table.put(np.array([scale.scale, scale.offset]))
        self._moving(kernel, chunks, counts, ord(scale.kind), scale.size, scale.wide, numbers)
        chunks.length = counts * made
