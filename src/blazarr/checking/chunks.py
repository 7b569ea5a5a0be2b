"""Decoding chunks to find out which can't be."""

from __future__ import annotations

from dataclasses import dataclass

from blazarr.checking.findings import Finding
from blazarr.conversion.boxes import Boxes, Region
from blazarr.conversion.layouts import side_of
from blazarr.conversion.tasks import Room
from blazarr.errors import BlazarrError
from blazarr.nodes import Array
from blazarr.stores import Store

# One damaged object may hold many damaged chunks; so many are named.
NAMED = 100


@dataclass(frozen=True)
class CheckBox:
    """Read a region of an array, and find out what of it can't be read.

    Attributes
    ----------
    array
        The array.
    region
        What to read: whole stored objects.
    """

    array: Array
    region: Region

    @property
    def reads(self) -> Store | None:
        """The array's store."""
        return self.array.store

    @property
    def writes(self) -> Store | None:
        """None."""
        return None

    def run(self, room: Room) -> list[Finding]:
        """Read the region; return a finding for each chunk that is damaged."""
        error = self._error(self.region, room)
        if error is None:
            return []
        side = side_of(self.array.metadata)
        found = self._damaged(self.region, [side.objects, side.units], room)
        # Damaged when read at once, yet not piece by piece: the store was at fault.
        return found or [Finding(self.array.path, error.kind, error.message)]

    def _error(self, region: Region, room: Room) -> BlazarrError | None:
        shape = tuple(part.stop - part.start for part in region)
        held = room.array(shape, self.array.metadata.data_type.native)
        try:
            self.array.read(region, out=held)
        except BlazarrError as error:
            return error
        return None

    def _damaged(self, region: Region, levels: list[Boxes], room: Room) -> list[Finding]:
        """Look at the pieces of a region one by one: at objects, and in those at chunks."""
        boxes, *finer = levels
        found: list[Finding] = []
        for place in boxes.places(region):
            piece = boxes.region_at(place)
            error = self._error(piece, room)
            if error is None:
                continue
            inside = finer and finer[0] != boxes
            found += (inside and self._damaged(piece, finer, room)) or [self._finding(piece, error)]
            if len(found) >= NAMED:
                break
        return found

    def _finding(self, piece: Region, error: BlazarrError) -> Finding:
        spans = ", ".join(f"{part.start}:{part.stop}" for part in piece)
        key = str(error.key or self.array.path)
        return Finding(key, error.kind, f"[{spans}] can't be read: {error.message}")
