"""The rows of a selection as arrays, and the table that a placing kernel follows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from blazarr import _core
from blazarr.cuda.device import Words

# Elements or bytes that a block of threads takes at a time; the kernels' TILE.
TILE = 4096


class State(IntEnum):
    """What became of a row; the numbers are the core's."""

    DEFERRED = 0
    ABSENT = 1
    FOR_HOST = 2
    DECODED = 3
    PLAIN = 4
    FRAME = 5


class Cover(IntEnum):
    """How much of a chunk a write replaces; the numbers are the core's."""

    PART = 0
    INSIDE = 1
    WHOLE = 2


def ends_of(counts: Words) -> Words:
    """Return the running number of tiles of work of these sizes."""
    return np.cumsum(-(-counts // TILE))


@dataclass(frozen=True)
class Rows:
    """Some rows of a selection: numbers for each."""

    core: Any
    rank: int
    key: Words
    decoded: Words
    src: Words
    dst: Words
    axes: Words
    tables: Words
    cover: Words

    @classmethod
    def of(cls, core: _core.WaveRows | _core.WaveChunks) -> Rows:
        """Read the core's columns."""
        columns = core.columns()
        rank, count = columns["rank"], len(core)

        def words(name: str) -> Words:
            return np.frombuffer(columns[name], np.int64)

        # In the order of the kernels' AxisColumn.
        names = ("counts", "src_steps", "dst_steps", "src_tables", "dst_tables")
        axes = np.stack([words(name).reshape(count, rank) for name in names], axis=2)
        return cls(
            core,
            rank,
            words("key"),
            words("decoded"),
            words("src"),
            words("dst"),
            axes,
            words("tables"),
            words("cover") if "cover" in columns else np.zeros(count, np.int64),
        )

    def __len__(self) -> int:
        return len(self.decoded)

    def table(self, numbers: Words, bases: Words, shuffled: Words, filled: Any) -> Words:
        """Return the table of the rows with these numbers.

        Parameters
        ----------
        numbers
            Which rows.
        bases
            Addresses of their decoded chunks.
        shuffled
            For each the kind of shuffle, element size and block.
        filled
            For each whether it has the fill value throughout, which then is at its base.
        """
        axes = self.axes[numbers]
        table = np.empty((len(numbers), 8 + axes.shape[2] * self.rank), np.int64)
        # What is filled stands still on one element.
        axes[filled, :, 1] = 0
        axes[filled, :, 3] = -1
        table[:, 0] = bases
        table[:, 1] = np.where(filled, 0, self.src[numbers])
        table[:, 2] = self.dst[numbers]
        table[:, 3] = axes[:, :, 0].prod(axis=1)
        table[:, 4] = self.decoded[numbers]
        table[:, 5:8] = shuffled
        table[:, 8:] = axes.reshape(len(numbers), -1)
        return table


@dataclass(frozen=True)
class Streams:
    """The compressed streams of a wave."""

    row: Words
    format: Words
    source: Words
    length: Words
    to: Words
    makes: Words
    check: Words
    value: Words


@dataclass(frozen=True)
class InFile:
    """A row whose bytes are still in a file: its descriptor, and where in the staging memory they go."""

    row: int
    descriptor: int
    offset: int
    start: int
    nbytes: int


@dataclass(frozen=True)
class Staged:
    """What became of the rows that were staged."""

    state: Words
    offset: Words
    shuffled: Words
    streams: Streams
    files: tuple[InFile, ...]
    used: int

    @classmethod
    def of(cls, columns: dict[str, Any]) -> Staged:
        """Read the core's columns."""

        def words(name: str) -> Words:
            return np.frombuffer(columns[name], np.int64)

        names = ("row", "format", "from", "length", "to", "makes", "check", "value")
        return cls(
            words("state").copy(),
            words("offset"),
            np.stack([words(name) for name in ("planes", "size", "block")], axis=1),
            Streams(*(words(f"stream_{name}") for name in names)),
            tuple(InFile(*file) for file in columns["files"]),
            columns["used"],
        )
