"""`Boxes`: an array cut along each of its axes."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blazarr.grids import ChunkGrid

Shape = tuple[int, ...]
Region = tuple[slice, ...]


@dataclass(frozen=True)
class Boxes:
    """Boxes that cover an array without overlap, numbered in C order.

    Attributes
    ----------
    edges
        For each axis, where the boxes begin, and where the last one ends.
    """

    edges: tuple[Shape, ...]

    @classmethod
    def of_grid(cls, grid: ChunkGrid, shape: Shape) -> Boxes:
        """Return the boxes that the chunks of a grid are, clipped to the array."""
        sizes = grid.chunk_sizes(shape)
        return cls(tuple(tuple(np.cumsum([0, *axis]).tolist()) for axis in sizes))

    @classmethod
    def of_shape(cls, box: Shape, shape: Shape) -> Boxes:
        """Return boxes of one shape, clipped to the array."""
        return cls.of_grid(ChunkGrid.regular(tuple(max(1, size) for size in box)), shape)

    def joined(self, factors: Shape) -> Boxes:
        """Return boxes that each hold some neighbours of these.

        Parameters
        ----------
        factors
            How many along each axis.
        """
        return Boxes(
            tuple(
                (*axis[:-1:factor], axis[-1])
                for axis, factor in zip(self.edges, factors, strict=True)
            )
        )

    @cached_property
    def counts(self) -> Shape:
        """Number of boxes along each axis."""
        return tuple(len(axis) - 1 for axis in self.edges)

    def __len__(self) -> int:
        return math.prod(self.counts)

    @cached_property
    def shape(self) -> Shape:
        """Shape of the array."""
        return tuple(axis[-1] for axis in self.edges)

    @cached_property
    def largest(self) -> Shape:
        """The largest length along each axis."""
        return tuple(int(max(np.diff(axis), default=0)) for axis in self.edges)

    def region(self, number: int) -> Region:
        """Return a box as slices of the array."""
        slices = []
        for count, axis in zip(reversed(self.counts), reversed(self.edges), strict=True):
            number, place = divmod(number, count)
            slices.append(slice(axis[place], axis[place + 1]))
        return tuple(reversed(slices))

    def regions(self) -> Iterator[Region]:
        """Yield all boxes in their order."""
        return map(self.region, range(len(self)))

    def region_at(self, place: Shape) -> Region:
        """Return the box at a place in the grid of boxes as slices of the array."""
        return tuple(slice(axis[i], axis[i + 1]) for axis, i in zip(self.edges, place, strict=True))

    def all_places(self) -> Iterator[Shape]:
        """Yield the places in the grid of all boxes."""
        return itertools.product(*map(range, self.counts))

    def places(self, region: Region) -> Iterator[Shape]:
        """Yield the places in the grid of the boxes that a region touches."""
        ranges = []
        for axis, part in zip(self.edges, region, strict=True):
            first = bisect_right(axis, part.start) - 1
            ranges.append(range(first, bisect_left(axis, part.stop)))
        return itertools.product(*ranges)

    def touched(self, region: Region) -> Iterator[int]:
        """Yield the numbers of the boxes that a region touches."""
        return map(self._number, self.places(region))

    def number(self, element: Shape) -> int:
        """Return the number of the box that an element is in."""
        return self._number(
            tuple(bisect_right(axis, i) - 1 for axis, i in zip(self.edges, element, strict=True))
        )

    def _number(self, place: Shape) -> int:
        number = 0
        for index, count in zip(place, self.counts, strict=True):
            number = number * count + index
        return number


def covered(boxes: Shape, units: Shape) -> float:
    """Return how often each element of an axis is read, on average.

    Parameters
    ----------
    boxes
        Edges of what is read at a time.
    units
        Edges of what can only be read as a whole.
    """
    if boxes[-1] == 0:
        return 1.0
    cuts = np.asarray(units)
    starts = cuts[np.searchsorted(cuts, boxes[:-1], "right") - 1]
    stops = cuts[np.searchsorted(cuts, boxes[1:], "left")]
    return float(int((stops - starts).sum()) / boxes[-1])


def nbytes(region: Region, itemsize: int) -> int:
    """Return the size of a region's elements."""
    lengths: list[int] = [part.stop - part.start for part in region]
    return math.prod(lengths) * itemsize
