"""From a source and what shall change to a plan."""

from __future__ import annotations

import math
import os

from blazarr.codecs import compile_chain
from blazarr.conversion import choosing
from blazarr.conversion.boxes import Boxes
from blazarr.conversion.changes import Changes, fits
from blazarr.conversion.layouts import Side, side_of
from blazarr.conversion.plan import ArrayPlan, Pass, Plan
from blazarr.conversion.sources import Readable, Source
from blazarr.errors import BlazarrError, LimitError
from blazarr.metadata import ArrayMetadata
from blazarr.nodes import Array, StorePath
from blazarr.nodes.request import ArrayRequest

# How many stored objects are copied at a time, where they are small.
OBJECTS = 1024

# A second pass costs this many decodings of all elements: it writes and reads them once more.
DETOUR = 1.0


def make_plan(
    source: Source,
    target: StorePath,
    changes: Changes,
    budget: int,
    *,
    threads: int | None = None,
    detours: bool = True,
) -> Plan:
    """Return what a conversion has to do; whatever is wrong with the arguments is raised here.

    Parameters
    ----------
    source
        What is converted.
    target
        Where it goes.
    changes
        What shall be different.
    budget
        The most bytes that may be held at once.
    threads
        How many chunks are decoded or encoded at once; by default as many as the processors and
        the budget allow.
    detours
        Whether there is a place for intermediate arrays.
    """
    chosen = {path: _after(path, array, source, changes) for path, array in source.arrays.items()}
    wanted = threads or len(os.sched_getaffinity(0))
    number = min(
        (
            threads_within(
                side_of(array.metadata, array.units), side_of(chosen[path]), budget, wanted
            )
            for path, array in source.arrays.items()
        ),
        default=wanted,
    )
    arrays = tuple(
        plan_array(path, array, chosen[path], budget, number, detours=detours)
        for path, array in sorted(source.arrays.items())
    )
    groups = {path: changes.group(group) for path, group in sorted(source.groups.items())}
    for array in arrays:
        Array(array.after, target / array.path).check_codecs()
    return Plan(
        source.name,
        str(target),
        groups,
        arrays,
        number,
        budget,
        source.consolidated,
        source.left_out,
    )


def _after(path: str, array: Readable, source: Source, changes: Changes) -> ArrayMetadata:
    if "" not in source.arrays and not fits(changes, array.metadata):
        changes = Changes(
            zarr_format=changes.zarr_format,
            filters=changes.filters,
            serializer=changes.serializer,
            compressors=changes.compressors,
            chunk_key_encoding=changes.chunk_key_encoding,
        )
    try:
        return changes.array(array.metadata)
    except BlazarrError as error:
        if path:
            error.message = f"{path}: {error.message}"
            error.args = (error.message,)
        raise


def threads_within(source: Side, target: Side, budget: int, wanted: int) -> int:
    """Return how many threads leave half of the budget to the elements themselves.

    Parameters
    ----------
    source, target
        What is read and written.
    budget
        The most bytes that may be held.
    wanted
        The most threads.
    """
    smallest = target.objects.largest
    threads = wanted
    while threads > 1 and source.reading(threads) + target.writing(smallest, threads) > budget // 2:
        threads //= 2
    return threads


def plan_array(
    path: str,
    array: Readable,
    after: ArrayMetadata,
    budget: int,
    threads: int,
    *,
    detours: bool = True,
) -> ArrayPlan:
    """Return what is to be done to one array.

    Parameters
    ----------
    path
        The array's path.
    array
        The array.
    after
        What it becomes.
    budget, threads, detours
        As for `make_plan`.
    """
    before = array.metadata
    if array.place is not None and same_bytes(before, after):
        return ArrayPlan(path, before, after, (_objects(before, budget, threads),))
    source, target = side_of(before, array.units), side_of(after)
    straight = choosing.direct(source, target, budget, threads)
    if detours and straight.reads > 1 + DETOUR and not after.data_type.variable:
        detour = choosing.by_detour(source, target, budget, threads)
        cost = math.inf if detour is None else detour.first.reads + detour.second.reads
        if detour is not None and straight.reads > cost + DETOUR:
            return _two_passes(path, before, after, detour)
    step = Pass("direct", straight.boxes, straight.reads, straight.memory)
    return ArrayPlan(path, before, after, (step,))


def _two_passes(
    path: str, before: ArrayMetadata, after: ArrayMetadata, detour: choosing.Detour
) -> ArrayPlan:
    between = ArrayRequest(
        zarr_format=3,
        shape=after.shape,
        dtype=after.data_type,
        chunks=detour.chunk,
        shards=detour.shard,
        fill_value=after.data_type.default_fill(),
        compressors={"name": "blosc", "configuration": {"cname": "lz4", "clevel": 1}},
    ).metadata()
    passes = (
        Pass("in", detour.first.boxes, detour.first.reads, detour.first.memory),
        Pass("out", detour.second.boxes, detour.second.reads, detour.second.memory),
    )
    return ArrayPlan(path, before, after, passes, between)


def same_bytes(before: ArrayMetadata, after: ArrayMetadata) -> bool:
    """Return whether the stored objects of one array are right for another as they are."""
    if before is after:
        return True
    if before.grid != after.grid or before.fill_bytes != after.fill_bytes:
        return False
    if before.data_type.native != after.data_type.native:
        return False
    chains = compile_chain(before), compile_chain(after)
    if any(chain.variable or chain.externals for chain in chains):
        return False
    return chains[0].native == chains[1].native


def _objects(metadata: ArrayMetadata, budget: int, threads: int) -> Pass:
    """Return the pass that copies stored objects: boxes of the grid that they form."""
    side = side_of(metadata)
    largest = math.prod(side.objects.largest) * side.itemsize
    memory = threads * largest
    while threads > 1 and memory > budget:
        threads //= 2
        memory = threads * largest
    if memory > budget:
        raise LimitError(
            f"max_memory: {budget} bytes are not enough for one stored object of {memory}",
            argument="max_memory",
            size=memory,
            limit=budget,
        )
    counts = side.objects.counts
    box = [1] * len(counts)
    for axis in reversed(range(len(counts))):
        room = max(1, OBJECTS // math.prod(box))
        room = min(room, max(1, choosing.BOX_BYTES // max(1, largest * math.prod(box))))
        box[axis] = min(max(1, counts[axis]), room)
    return Pass("objects", Boxes.of_shape(tuple(box), counts), 0.0, memory)
