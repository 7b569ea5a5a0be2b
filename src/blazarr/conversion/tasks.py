"""What is done at a time: one box of one pass. Tasks pickle, and may run twice."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from blazarr.conversion.boxes import Region, Shape
from blazarr.conversion.sources import Readable
from blazarr.errors import CorruptError
from blazarr.nodes import Array, StorePath
from blazarr.stores import Store

Elements = npt.NDArray[Any]


class Room:
    """Memory that tasks use one after the other."""

    def __init__(self) -> None:
        self._held: dict[int, npt.NDArray[np.uint8]] = {}

    def array(self, shape: Shape, dtype: np.dtype[Any], place: int = 0) -> Elements:
        """Return an array with whatever in it; the next call with its `place` may reuse it."""
        if dtype.hasobject or dtype.itemsize == 0:
            return np.empty(shape, dtype)
        nbytes = math.prod(shape) * dtype.itemsize
        if place not in self._held or len(self._held[place]) < nbytes:
            self._held.pop(place, None)
            self._held[place] = np.empty(nbytes, np.uint8)
        return self._held[place][:nbytes].view(dtype).reshape(shape)


class Task(Protocol):
    """Something to do, in this process or another."""

    @property
    def reads(self) -> Store | None:
        """The store that is read, if it is one."""

    @property
    def writes(self) -> Store | None:
        """The store that is written."""

    def run(self, room: Room) -> Any:
        """Do it."""


def _store_of(source: Readable) -> Store | None:
    return None if source.place is None else source.place.store


def _shape(region: Region) -> Shape:
    return tuple(part.stop - part.start for part in region)


@dataclass(frozen=True)
class CopyBox:
    """Read a region of an array and write it to another.

    Attributes
    ----------
    source, target
        The arrays; the region is made of whole stored objects of the target.
    region
        What to copy.
    """

    source: Readable
    target: Array
    region: Region

    @property
    def reads(self) -> Store | None:
        """The source's store."""
        return _store_of(self.source)

    @property
    def writes(self) -> Store | None:
        """The target's store."""
        return self.target.store

    def run(self, room: Room) -> None:
        """Copy the region."""
        held = room.array(_shape(self.region), self.target.metadata.data_type.native)
        self.source.read(self.region, held)
        self.target[self.region] = held


@dataclass(frozen=True)
class CompareBox:
    """Compare a region of two arrays.

    Attributes
    ----------
    source, target
        The arrays.
    region
        What to compare.
    """

    source: Readable
    target: Array
    region: Region

    @property
    def reads(self) -> Store | None:
        """The source's store."""
        return _store_of(self.source)

    @property
    def writes(self) -> Store | None:
        """None."""
        return None

    def run(self, room: Room) -> None:
        """Compare the region, and raise where it differs."""
        dtype = self.target.metadata.data_type.native
        one, other = (room.array(_shape(self.region), dtype, place) for place in (0, 1))
        self.source.read(self.region, one)
        self.target.read(self.region, out=other)
        if not _equal(one, other):
            raise CorruptError(
                f"{self.target.store_path} differs from the source in "
                f"{[(part.start, part.stop) for part in self.region]}; a filter that rounds does "
                "that, otherwise the data changed or was damaged on the way",
                kind="verify",
                store=str(self.target.store),
                key=self.target.path,
            )


def _equal(one: Elements, other: Elements) -> bool:
    if one.dtype.hasobject or one.dtype.itemsize == 0:
        return bool(np.all(one == other))
    # By bytes: NaN equals itself, and 0.0 is not -0.0.
    return bool((one.reshape(-1).view(np.uint8) == other.reshape(-1).view(np.uint8)).all())


@dataclass(frozen=True)
class CopyObjects:
    """Copy stored objects as they are.

    Attributes
    ----------
    source, target
        Places of the two arrays.
    names
        Keys below them, of each object here and there.
    threads
        How many to copy at once.
    """

    source: StorePath
    target: StorePath
    names: tuple[tuple[str, str], ...]
    threads: int

    @property
    def reads(self) -> Store | None:
        """The source's store."""
        return self.source.store

    @property
    def writes(self) -> Store | None:
        """The target's store."""
        return self.target.store

    def run(self, room: Room) -> None:
        """Copy the objects; those that are missing are missing there too."""
        del room
        if self.threads == 1 or len(self.names) == 1:
            for names in self.names:
                self._copy(names)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            for _ in pool.map(self._copy, self.names):
                pass

    def _copy(self, names: tuple[str, str]) -> None:
        found = self.source.store.get(self.source.prefix + names[0])
        if found is not None:
            self.target.store.put(self.target.prefix + names[1], found[0])
