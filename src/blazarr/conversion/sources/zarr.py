"""Arrays and groups of Zarr as a source."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy.typing as npt

from blazarr.conversion.boxes import Boxes, Region, Shape
from blazarr.conversion.layouts import side_of
from blazarr.conversion.sources.base import Readable, Source
from blazarr.errors import UnsupportedError
from blazarr.metadata import ArrayMetadata
from blazarr.nodes import Array, Group, StorePath, layout


@dataclass(frozen=True)
class ZarrArray:
    """An array of Zarr as something to read.

    Attributes
    ----------
    array
        The array.
    """

    array: Array

    @property
    def metadata(self) -> ArrayMetadata:
        """What the array is."""
        return self.array.metadata

    @cached_property
    def units(self) -> Boxes:
        """The chunks."""
        return side_of(self.metadata).units

    @property
    def place(self) -> StorePath:
        """Where the chunks are."""
        return self.array.store_path

    def read(self, region: Region, out: npt.NDArray[Any]) -> None:
        """Read a region; see `Readable.read`."""
        self.array.read(region, out=out)

    def stored(self) -> Iterator[Shape] | None:
        """Yield the places of stored objects; None where the store can't be listed."""
        counts = layout.grid_shape(self.metadata)
        try:
            found = layout.stored_objects(self.metadata, self.place)
            first = next(found, None)
        except UnsupportedError:
            return None
        return _inside(first, found, counts)

    def __reduce__(self) -> tuple[Any, ...]:
        return ZarrArray, (self.array,)


def _inside(
    first: tuple[str, int, Shape] | None, others: Iterator[tuple[str, int, Shape]], counts: Shape
) -> Iterator[Shape]:
    if first is None:
        return
    for _, _, place in itertools.chain([first], others):
        if all(index < count for index, count in zip(place, counts, strict=True)):
            yield place


def zarr_source(node: Array | Group) -> Source:
    """Return an array, or a group with all that is below it, as a source."""
    name = str(node.store_path)
    if isinstance(node, Array):
        return Source(name, {}, {"": ZarrArray(node)}, node.store_path)
    members = node.members(None)
    groups = {path: member.metadata for path, member in members if isinstance(member, Group)}
    arrays: dict[str, Readable] = {
        path: ZarrArray(member) for path, member in members if isinstance(member, Array)
    }
    consolidated = node.metadata.consolidated_metadata is not None
    return Source(name, {"": node.metadata, **groups}, arrays, node.store_path, consolidated)
