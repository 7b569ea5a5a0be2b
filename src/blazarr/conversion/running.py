"""Running a plan: passes, verification, and the commit that makes the target appear."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Final

from blazarr.config import config
from blazarr.conversion.boxes import Boxes, Region, nbytes
from blazarr.conversion.choosing import direct
from blazarr.conversion.executors import Executor
from blazarr.conversion.journal import Journal, is_done
from blazarr.conversion.layouts import itemsize, side_of
from blazarr.conversion.plan import ArrayPlan, Pass, Plan
from blazarr.conversion.sources import Readable, Source
from blazarr.conversion.sources.zarr import ZarrArray
from blazarr.conversion.tasks import CompareBox, CopyBox, CopyObjects, Task
from blazarr.engine.events import Listener, Meter
from blazarr.nodes import Array, StorePath, consolidated, documents

# All pieces of intermediate arrays are stored, so that a missing one is noticed.
_BETWEEN: Final = {"write_empty_chunks": True, "read_missing_chunks": False}


@dataclass(frozen=True)
class Run:
    """A plan with all that running it takes.

    Attributes
    ----------
    plan, source, target
        What to do, to what, and where to.
    scratch
        Where intermediate arrays go.
    journal
        What is done already.
    executor
        Who does it.
    listener
        Who is told how far it is.
    """

    plan: Plan
    source: Source
    target: StorePath
    scratch: StorePath
    journal: Journal
    executor: Executor
    listener: Listener | None

    def copy(self) -> None:
        """Do what is not done yet. Nothing of it can be opened before `commit`."""
        passes = [PassRun(self, array, step) for array in self.plan.arrays for step in array.passes]
        meter = Meter(self.listener, "copy", self.plan.work, sum(one.kept() for one in passes))
        try:
            with config.set({"threading.max_workers": self.plan.threads}):
                for one in passes:
                    one.run(meter)
                    one.clean()
        finally:
            self.journal.save()
            meter.finish()

    def verify(self) -> None:
        """Compare all elements of the target with those of the source."""
        meter = Meter(self.listener, "verify", self.plan.nbytes)
        try:
            with config.set({"threading.max_workers": self.plan.threads}):
                for array in self.plan.arrays:
                    self._compare(array, meter)
        finally:
            meter.finish()

    def _compare(self, array: ArrayPlan, meter: Meter) -> None:
        source = self.source.arrays[array.path]
        sides = side_of(array.before, source.units), side_of(array.after)
        # Two boxes are held, and nothing is written.
        boxes = direct(*sides, self.plan.max_memory, self.plan.threads, held=2).boxes
        target = Array(array.after, self.place_of(array.path))
        tasks = (
            (number, CompareBox(source, target, boxes.region(number)))
            for number in range(len(boxes))
        )
        for number, _ in self.executor.run(tasks):
            meter.add(nbytes(boxes.region(number), itemsize(array.after)))

    def commit(self) -> None:
        """Write the metadata, parents last, and delete what was needed on the way."""
        nodes = {array.path: array.after for array in self.plan.arrays} | self.plan.groups
        zarr_format = self.plan.zarr_format
        for parent in documents.missing_parents(self.target, zarr_format):
            documents.create_group_if_missing(parent, zarr_format)
        for path in sorted(nodes, key=_depth, reverse=True):
            for name, document in nodes[path].to_documents().items():
                self.place_of(path).put(name, document)
        if self.plan.consolidated:
            consolidated.consolidate(self.target, zarr_format)
        self.journal.remove()

    def place_of(self, path: str) -> StorePath:
        """Return where a node of the target is, by its path in the hierarchy."""
        return self.target.child(path) if path else self.target


def _depth(path: str) -> int:
    return len(path.split("/")) if path else 0


@dataclass(frozen=True)
class PassRun:
    """One pass over an array.

    Attributes
    ----------
    of
        The run that it belongs to.
    array, step
        What to do.
    """

    of: Run
    array: ArrayPlan
    step: Pass

    @property
    def source(self) -> Readable:
        """The array of the source."""
        return self.of.source.arrays[self.array.path]

    @property
    def _name(self) -> str:
        return f"{self.step.kind} {self.array.path}"

    def _bits(self) -> bytearray:
        between = self.array.intermediate
        parts = [self.step.boxes.edges, None if between is None else between.to_json()]
        layout = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
        return self.of.journal.done(self._name, layout, len(self.step.boxes))

    def kept(self) -> int:
        """Return how many bytes an earlier run did."""
        bits = self._bits()
        return sum(self._size(n) for n in range(len(self.step.boxes)) if is_done(bits, n))

    def run(self, meter: Meter) -> None:
        """Do the boxes that are not done."""
        bits = self._bits()
        todo = [number for number in range(len(self.step.boxes)) if not is_done(bits, number)]
        stored = self._stored() if todo else None
        for number in () if stored is None else set(todo) - stored:
            self._mark(bits, number, meter)
        tasks = ((n, self._task(n)) for n in todo if stored is None or n in stored)
        for number, _ in self.of.executor.run(tasks):
            self._mark(bits, number, meter)

    def _mark(self, bits: bytearray, number: int, meter: Meter) -> None:
        self.of.journal.mark(bits, number)
        meter.add(self._size(number))

    def clean(self) -> None:
        """Delete the intermediate array after its use."""
        if self.step.kind == "out":
            # What is done has to be known before what it was made of is gone.
            self.of.journal.save()
            self._between.store_path.delete_all()

    def _size(self, number: int) -> int:
        return nbytes(self._elements(number), itemsize(self.array.before))

    def _elements(self, number: int) -> Region:
        region = self.step.boxes.region(number)
        if self.step.kind != "objects":
            return region
        edges = Boxes.of_grid(self.array.before.grid, self.array.before.shape).edges
        return tuple(
            slice(axis[part.start], axis[part.stop])
            for axis, part in zip(edges, region, strict=True)
        )

    def _stored(self) -> set[int] | None:
        """Return the boxes of which anything is stored; None for all."""
        same_fill = self.array.before.fill_bytes == self.array.after.fill_bytes
        places = self.source.stored() if self.step.kind != "in" and same_fill else None
        if places is None or self.step.kind == "out":
            return None
        boxes = self.step.boxes
        if self.step.kind == "objects":
            return {boxes.number(place) for place in places}
        objects = Boxes.of_grid(self.array.before.grid, self.array.before.shape)
        return {n for place in places for n in boxes.touched(objects.region_at(place))}

    @property
    def _between(self) -> Array:
        metadata = self.array.intermediate
        assert metadata is not None
        name = hashlib.sha256(self.array.path.encode()).hexdigest()[:16]
        return Array(metadata, self.of.scratch / name, _BETWEEN)

    def _task(self, number: int) -> Task:
        target = Array(self.array.after, self.of.place_of(self.array.path))
        region = self.step.boxes.region(number)
        if self.step.kind == "objects":
            return self._copy_objects(target.store_path, region)
        if self.step.kind == "in":
            return CopyBox(self.source, self._between, region)
        source = ZarrArray(self._between) if self.step.kind == "out" else self.source
        return CopyBox(source, target, region)

    def _copy_objects(self, target: StorePath, region: Region) -> CopyObjects:
        place = self.source.place
        assert place is not None
        before, after = self.array.before, self.array.after
        places = Boxes.of_shape((1,) * len(region), self.step.boxes.shape).places(region)
        names = tuple(
            (before.chunk_key_encoding.encode(p), after.chunk_key_encoding.encode(p))
            for p in places
        )
        return CopyObjects(place, target, names, self.of.plan.threads)
