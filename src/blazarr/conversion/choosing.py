"""Which boxes are read and written at a time, and whether by way of an intermediate array.

A box is made of whole objects of the target, so that each is written once and by one task. Where boxes
that fit the budget would read every chunk of the source several times, the values go through an
intermediate array: boxes of whole source chunks are written to it in small pieces, and boxes of whole
target objects are put together of pieces. That is rechunker's algorithm, with the pieces kept in shards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from blazarr.conversion.boxes import Boxes, Shape, covered
from blazarr.conversion.layouts import SHARD_BUFFERS, Side
from blazarr.errors import LimitError

# Boxes grow to this size where that costs nothing: enough chunks for all threads.
BOX_BYTES = 128 << 20

# A gain below this is none.
_NOTHING = 1.001

Fits = Callable[[Shape], bool]


@dataclass(frozen=True)
class Chosen:
    """Boxes for one pass over an array.

    Attributes
    ----------
    boxes
        What is read and written at a time.
    reads
        How often each element is decoded, on average.
    memory
        The most bytes that a box takes, with what decoding and encoding need.
    """

    boxes: Boxes
    reads: float
    memory: int


@dataclass(frozen=True)
class Detour:
    """Two passes by way of an intermediate array.

    Attributes
    ----------
    first, second
        The passes into it and out of it.
    shard, chunk
        Shapes of the intermediate array's shards and of the chunks in them.
    """

    first: Chosen
    second: Chosen
    shard: Shape
    chunk: Shape


def direct(source: Side, target: Side, budget: int, threads: int, held: int = 1) -> Chosen:
    """Choose boxes of whole target objects that read as little as possible more than once.

    Parameters
    ----------
    source, target
        The two arrays.
    budget
        The most bytes that may be held.
    threads
        How many chunks are decoded or encoded at once.
    held
        How many boxes are held at once.

    Raises
    ------
    LimitError
        Not even one object of the target fits.
    """

    def memory(box: Shape) -> int:
        elements = held * math.prod(box) * target.itemsize
        return elements + source.reading(threads) + target.writing(box, threads)

    smallest = target.objects.largest
    if memory(smallest) > budget:
        raise LimitError(
            f"max_memory: {budget} bytes are not enough for one {_named(target)} of {smallest} "
            f"and the chunks of {source.units.largest} that it is made of, which take "
            f"{memory(smallest)}; give at least that, or choose smaller chunks",
            argument="max_memory",
            size=memory(smallest),
            limit=budget,
        )
    boxes = _grown(target.objects, source.units, lambda box: memory(box) <= budget, target.itemsize)
    return Chosen(boxes, _reads(boxes, source.units), memory(boxes.largest))


def by_detour(source: Side, target: Side, budget: int, threads: int) -> Detour | None:
    """Choose two passes with an intermediate array; None where they don't fit the budget.

    Parameters
    ----------
    source, target, budget, threads
        As for `direct`.
    """
    item = target.itemsize

    def first_memory(box: Shape) -> int:
        # The box is one shard of the intermediate array.
        return (1 + SHARD_BUFFERS) * math.prod(box) * item + 2 * source.reading(threads)

    def second_memory(box: Shape) -> int:
        pieces = threads * math.prod(map(min, box, first)) * item
        return math.prod(box) * item + pieces + target.writing(box, threads)

    first = _towards(source.units, target.objects.largest, lambda box: first_memory(box) <= budget)
    second_boxes = _towards_boxes(target.objects, first, lambda box: second_memory(box) <= budget)
    second = second_boxes.largest
    if first_memory(first) > budget or second_memory(second) > budget:
        return None
    whole = target.objects.shape
    pieces = [_piece(*lengths) for lengths in zip(first, second, whole, strict=True)]
    shard = tuple(length for length, _ in pieces)
    chunk = tuple(piece for _, piece in pieces)
    first_boxes = Boxes.of_shape(shard, whole)
    return Detour(
        Chosen(first_boxes, _reads(first_boxes, source.units), first_memory(first)),
        Chosen(
            second_boxes, _reads(second_boxes, Boxes.of_shape(chunk, whole)), second_memory(second)
        ),
        shard,
        chunk,
    )


def _named(side: Side) -> str:
    return "chunk" if side.objects == side.units else "shard"


def _reads(boxes: Boxes, units: Boxes) -> float:
    return math.prod(map(covered, boxes.edges, units.edges))


def _piece(first: int, second: int, whole: int) -> tuple[int, int]:
    """Return the length of shards and of pieces along an axis, the latter dividing the former."""
    if first >= whole:
        # One shard: it may reach beyond the array's end.
        piece = min(second, whole)
        return -(-whole // piece) * piece if piece else 1, max(1, piece)
    common = math.gcd(first, second)
    if 4 * common >= min(first, second):
        return first, common
    return first, max(n for n in _divisors(first) if n <= max(second, 1))


def _divisors(number: int) -> Iterator[int]:
    for n in range(1, math.isqrt(number) + 1):
        if number % n == 0:
            yield n
            yield number // n


def _towards(units: Boxes, goal: Shape, fits: Fits) -> Shape:
    """Return the largest box of whole units that fits, not much beyond a goal."""
    return _towards_boxes(units, goal, fits).largest


def _towards_boxes(units: Boxes, goal: Shape, fits: Fits) -> Boxes:
    factors = [1] * len(goal)
    boxes = units
    open_axes = set(range(len(goal)))
    while open_axes:
        axis = max(open_axes, key=lambda a: goal[a] / max(1, boxes.largest[a]))
        if boxes.largest[axis] >= goal[axis] or factors[axis] >= units.counts[axis]:
            open_axes.remove(axis)
            continue
        longer = [f * 2 if a == axis else f for a, f in enumerate(factors)]
        grown = units.joined(tuple(longer))
        if fits(grown.largest):
            factors, boxes = longer, grown
        else:
            open_axes.remove(axis)
    return boxes


@dataclass(frozen=True)
class _Step:
    """One way to join objects along an axis."""

    factor: int
    length: int
    reads: float


def _grown(objects: Boxes, units: Boxes, fits: Fits, itemsize: int) -> Boxes:
    tables = [_steps(*edges) for edges in zip(objects.edges, units.edges, strict=True)]
    chosen = [table[0] for table in tables]

    def allowed(axis: int, step: _Step) -> bool:
        lengths = [step.length if a == axis else s.length for a, s in enumerate(chosen)]
        return fits(tuple(lengths))

    while better := [
        (math.log(now.reads / step.reads) / math.log(step.length / now.length), axis, step)
        for axis, (now, table) in enumerate(zip(chosen, tables, strict=True))
        for step in table
        if step.length > now.length and now.reads > step.reads * _NOTHING and allowed(axis, step)
    ]:
        _, axis, step = max(better, key=lambda found: found[:2])
        chosen[axis] = step
    _fill(chosen, tables, allowed, itemsize)
    return objects.joined(tuple(step.factor for step in chosen))


def _fill(
    chosen: list[_Step],
    tables: list[list[_Step]],
    allowed: Callable[[int, _Step], bool],
    itemsize: int,
) -> None:
    """Lengthen boxes, the last axes first, up to a good size."""
    for axis in reversed(range(len(chosen))):
        for step in tables[axis]:
            now = chosen[axis]
            rest = math.prod(s.length for a, s in enumerate(chosen) if a != axis)
            longer = step.length > now.length and step.reads <= now.reads * _NOTHING
            if longer and rest * step.length * itemsize <= BOX_BYTES and allowed(axis, step):
                chosen[axis] = step


def _steps(objects: Shape, units: Shape) -> list[_Step]:
    """Return the ways to join objects along an axis that are worth a look, shortest first."""
    count = len(objects) - 1
    if count <= 1:
        return [_Step(1, objects[-1], covered(objects, units))]
    unit, length = _longest(units), _longest(objects)
    factors = {count, 1}
    for base in (1, math.lcm(unit, length) // length, max(1, unit // length)):
        factors |= {base << power for power in range(count.bit_length())}
    steps = []
    for factor in sorted(factor for factor in factors if factor <= count):
        edges = (*objects[:-1:factor], objects[-1])
        steps.append(_Step(factor, _longest(edges), covered(edges, units)))
    return steps


def _longest(edges: Shape) -> int:
    return max(stop - start for start, stop in pairwise(edges))
