"""`Plan`: what a conversion does, as data."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from blazarr.conversion.boxes import Boxes
from blazarr.conversion.layouts import itemsize
from blazarr.drawing import shown_size
from blazarr.metadata import ArrayMetadata, GroupMetadata
from blazarr.nodes import layout

Kind = Literal["objects", "direct", "in", "out"]

_MEANING = {
    "objects": "copy objects",
    "direct": "convert",
    "in": "to intermediate",
    "out": "from intermediate",
}


@dataclass(frozen=True)
class Pass:
    """One pass over all elements of an array.

    Attributes
    ----------
    kind
        ``"objects"`` copies stored objects as they are; ``"direct"`` decodes and encodes;
        ``"in"`` and ``"out"`` do so by way of an intermediate array.
    boxes
        What is done at a time. (Of ``"objects"``: boxes of the grid of stored objects.)
    reads
        How often each element is decoded, on average.
    memory
        The most bytes that one box takes.
    """

    kind: Kind
    boxes: Boxes
    reads: float
    memory: int


@dataclass(frozen=True)
class ArrayPlan:
    """What is done to one array.

    Attributes
    ----------
    path
        The array's path in the hierarchy.
    before, after
        Its metadata in the source and in the target.
    passes
        What is done, in order.
    intermediate
        The array between two passes.
    """

    path: str
    before: ArrayMetadata
    after: ArrayMetadata
    passes: tuple[Pass, ...]
    intermediate: ArrayMetadata | None = None

    @property
    def nbytes(self) -> int:
        """Size of all elements."""
        return math.prod(self.before.shape) * itemsize(self.before)


@dataclass(frozen=True, repr=False)
class Plan:
    """What a conversion does: ``print(plan)`` shows it, ``plan.to_json()`` gives it to programs.

    Attributes
    ----------
    source, target
        Where from and where to.
    groups
        Metadata of the target's groups by path.
    arrays
        What is done to each array.
    threads
        How many chunks are decoded or encoded at once, in a process.
    max_memory
        The budget that the plan was made for, in bytes.
    left_out
        What the source has that has no form in Zarr.
    """

    source: str
    target: str
    groups: dict[str, GroupMetadata]
    arrays: tuple[ArrayPlan, ...]
    threads: int
    max_memory: int
    consolidated: bool = False
    left_out: tuple[str, ...] = ()

    @property
    def zarr_format(self) -> int:
        """Format of the target."""
        return (self.groups[""] if self.groups else self.arrays[0].after).zarr_format

    @property
    def nbytes(self) -> int:
        """Size of all elements of all arrays."""
        return sum(array.nbytes for array in self.arrays)

    @property
    def work(self) -> int:
        """Bytes of elements that all passes together go through."""
        return sum(array.nbytes * len(array.passes) for array in self.arrays)

    @property
    def peak_memory(self) -> int:
        """The most bytes that are held at once, in a process."""
        return max((step.memory for array in self.arrays for step in array.passes), default=0)

    @property
    def scratch(self) -> int:
        """The most bytes that intermediate arrays take in the store, before compression."""
        return max((array.nbytes for array in self.arrays if array.intermediate), default=0)

    def steps(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each pass over an array."""
        for array in self.arrays:
            for step in array.passes:
                yield {
                    "array": array.path or "/",
                    "step": _MEANING[step.kind],
                    "boxes": len(step.boxes),
                    "box": list(step.boxes.largest),
                    "bytes": array.nbytes,
                    "reads": round(step.reads, 3),
                    "memory": step.memory,
                }

    def to_json(self) -> dict[str, Any]:
        """Return the plan as numbers, text, lists and dictionaries."""
        return {
            "source": self.source,
            "target": self.target,
            "bytes": self.nbytes,
            "peak_memory": self.peak_memory,
            "max_memory": self.max_memory,
            "scratch_bytes": self.scratch,
            "threads": self.threads,
            "groups": len(self.groups),
            "arrays": [_array_json(array) for array in self.arrays],
            "steps": list(self.steps()),
            "left_out": list(self.left_out),
        }

    @cached_property
    def identity(self) -> str:
        """What distinguishes this conversion from others, whatever the budget."""
        nodes = {array.path: array.after.to_json() for array in self.arrays}
        nodes |= {f"group {path}": group.to_json() for path, group in self.groups.items()}
        said = json.dumps([self.source, self.target, nodes], sort_keys=True, default=str)
        return hashlib.sha256(said.encode()).hexdigest()

    def __repr__(self) -> str:
        lines = [f"{self.source} -> {self.target}"]
        for array in self.arrays:
            lines.append(f"  {array.path or '/'}  {_shown(array.before)} -> {_shown(array.after)}")
            for step in array.passes:
                box = " x ".join(map(str, step.boxes.largest)) or "scalar"
                unit = "objects" if step.kind == "objects" else "elements"
                lines.append(
                    f"    {_MEANING[step.kind]}: {len(step.boxes)} boxes of {box} {unit}, "
                    f"each element read {step.reads:.2f} times, {shown_size(step.memory)} of memory"
                )
        lines.append(
            f"{len(self.groups)} groups, {len(self.arrays)} arrays, {shown_size(self.nbytes)}; "
            f"peak memory {shown_size(self.peak_memory)} of {shown_size(self.max_memory)}, "
            f"{self.threads} threads"
        )
        if self.scratch:
            lines.append(f"intermediate arrays take up to {shown_size(self.scratch)} on the way")
        lines += [f"left out: {what}" for what in self.left_out]
        return "\n".join(lines)


def _array_json(array: ArrayPlan) -> dict[str, Any]:
    return {
        "path": array.path,
        "shape": list(array.before.shape),
        "dtype": str(array.before.data_type.numpy),
        "bytes": array.nbytes,
        "before": _layout_json(array.before),
        "after": _layout_json(array.after),
    }


def _layout_json(metadata: ArrayMetadata) -> dict[str, Any]:
    inner = layout.inner_shape(metadata)
    own = [
        axis.size if axis.is_regular else list(axis.lengths or ()) for axis in metadata.grid.axes
    ]
    return {
        "zarr_format": metadata.zarr_format,
        "chunks": own if inner is None else list(inner),
        "shards": None if inner is None else own,
        "codecs": [codec.name for codec in metadata.codecs],
    }


def _shown(metadata: ArrayMetadata) -> str:
    found = _layout_json(metadata)
    shards = "" if found["shards"] is None else f" in shards {found['shards']}"
    codecs = "+".join(found["codecs"])
    return f"v{found['zarr_format']} chunks {found['chunks']}{shards} {codecs}"
