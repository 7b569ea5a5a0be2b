"""The protocol of what can be converted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy.typing as npt

from blazarr.conversion.boxes import Boxes, Region, Shape
from blazarr.metadata import ArrayMetadata, GroupMetadata
from blazarr.nodes import StorePath


class Readable(Protocol):
    """An array that can be read by regions. It pickles, so that other processes can read it."""

    @property
    def metadata(self) -> ArrayMetadata:
        """What the array is, or would be, in Zarr."""

    @property
    def units(self) -> Boxes:
        """What can only be read as a whole."""

    @property
    def place(self) -> StorePath | None:
        """Where its objects are, if it is an array of Zarr."""

    def read(self, region: Region, out: npt.NDArray[Any]) -> None:
        """Read a region into an array of its shape and the native data type."""

    def stored(self) -> Iterator[Shape] | None:
        """Yield the places of stored objects in the grid of `metadata`; None where all may be."""


@dataclass(frozen=True)
class Source:
    """A hierarchy that can be read.

    Attributes
    ----------
    name
        What it is called, for people and in the journal.
    groups, arrays
        Nodes by path; the root has an empty one.
    place
        Where it is, if it is Zarr.
    consolidated
        Whether it keeps a copy of all metadata.
    left_out
        What it has that has no form in Zarr.
    file
        Where it is, if it is another format's file.
    """

    name: str
    groups: dict[str, GroupMetadata]
    arrays: dict[str, Readable]
    place: StorePath | None = None
    consolidated: bool = False
    left_out: tuple[str, ...] = field(default=())
    file: Path | None = None
