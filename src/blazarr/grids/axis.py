"""How one axis of an array is cut into chunks."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate, groupby

from blazarr.errors import SelectionError


@dataclass(frozen=True, slots=True)
class Axis:
    """Chunks of one size, or chunks of listed lengths.

    Attributes
    ----------
    size
        The chunk size of a regular axis; 0 where `lengths` say it.
    lengths
        Each chunk's length, of a rectilinear axis. They may reach beyond the array's extent.
    """

    size: int = 0
    lengths: tuple[int, ...] | None = None

    @property
    def is_regular(self) -> bool:
        """Whether all chunks have one size."""
        return self.lengths is None

    @property
    def edges(self) -> tuple[int, ...]:
        """Where the chunks of a rectilinear axis begin, and where the last one ends."""
        return (0, *accumulate(self.lengths or ()))

    def count(self, extent: int) -> int:
        """Count the chunks that hold something of an axis of this extent."""
        if self.lengths is None:
            return -(-extent // self.size)
        return bisect_right(self.edges, extent - 1) if extent else 0

    def bounds(self, index: int, extent: int) -> tuple[int, int]:
        """Give the first position of a chunk and the one after its last, within the extent."""
        if not 0 <= index < self.count(extent):
            raise SelectionError(
                f"chunk {index} is outside the grid of {self.count(extent)} chunks along this axis"
            )
        if self.lengths is None:
            return index * self.size, min((index + 1) * self.size, extent)
        start = sum(self.lengths[:index])
        return start, min(start + self.lengths[index], extent)

    def full_length(self, index: int) -> int:
        """Give the length of a chunk as it is encoded, which may pass the array's end."""
        return self.size if self.lengths is None else self.lengths[index]

    def sizes(self, extent: int) -> tuple[int, ...]:
        """Give each chunk's length within the extent."""
        count = self.count(extent)
        if not count:
            return ()
        if self.lengths is None:
            return (self.size,) * (count - 1) + (extent - (count - 1) * self.size,)
        kept = self.lengths[:count]
        return (*kept[:-1], extent - sum(kept[:-1]))

    def grown(self, extent: int) -> Axis:
        """Give the axis for a new extent: one more chunk where the listed ones don't reach."""
        if self.lengths is None or (missing := extent - sum(self.lengths)) <= 0:
            return self
        return Axis(lengths=(*self.lengths, missing))

    def to_json(self) -> int | list[int | list[int]]:
        """Give the form of the rectilinear grid's document: run-length coded where shorter."""
        if self.lengths is None:
            return self.size
        runs = [(length, len(list(run))) for length, run in groupby(self.lengths)]
        if len(runs) == len(self.lengths):
            return list(self.lengths)
        return [[length, count] if count > 1 else length for length, count in runs]
