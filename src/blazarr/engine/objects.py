"""Arrays of Python objects (text and bytes of any length), run by the same core.

The core moves numbers: each element is a handle, its object's place in a table that one call has.
A codec step turns the handles of a chunk into stored bytes, and back. So planning, shards, partial
writes and locks are those of every other array.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from blazarr.codecs import CompiledChain
from blazarr.codecs.objects import ObjectStep
from blazarr.grids import ChunkGrid
from blazarr.metadata import ArrayMetadata

HANDLE = np.dtype(np.int64)

# The fill value's handle, so that the core's test for chunks of nothing else works.
FILL = 0

# The most bytes that the objects of one chunk may take in the store: numcodecs' limit is twice that.
MAX_BYTES = 1 << 30

# Objects of variable length begin with their number in this many bytes.
COUNT_BYTES = 4


class Table:
    """The objects of one call, by handle; as a codec step, what makes bytes of handles.

    Parameters
    ----------
    step
        What makes bytes of objects.
    fill
        The fill value.
    count
        Number of elements in a chunk, where all have the same.
    """

    name = "objects"

    def __init__(self, step: ObjectStep, fill: Any, count: int | None) -> None:
        # The core orders the axes, so that chunks are flat here.
        self._step = replace(step, order=(0,))
        self._fill = fill
        self._count = count
        self._objects: list[Any] = [fill]
        self._lock = threading.Lock()

    def add(self, objects: Iterable[Any]) -> npt.NDArray[np.int64]:
        """Take objects into the table and return their handles."""
        found = list(objects)
        is_fill = np.fromiter((_same(item, self._fill) for item in found), np.bool_, len(found))
        with self._lock:
            start = len(self._objects)
            self._objects += found
        return np.where(is_fill, FILL, np.arange(start, start + len(found), dtype=HANDLE))

    def take(self, handles: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Return the objects that handles stand for."""
        objects = np.empty(len(self._objects), dtype=object)
        objects[:] = self._objects
        return objects[handles]

    def encode(self, data: Any) -> Any:
        """Encode a chunk of handles."""
        return self._step.encode(self.take(np.frombuffer(data, HANDLE)))

    def decode(self, data: Any) -> npt.NDArray[np.int64]:
        """Decode a chunk to handles."""
        count = self._count
        if count is None:
            count = int.from_bytes(bytes(data[:COUNT_BYTES]), "little")
        return self.add(self._step.decode(data, (count,)))

    def max_encoded(self, size: int) -> int:
        """Return the limit: the objects alone know their size."""
        return max(size, MAX_BYTES)


def _same(item: Any, fill: Any) -> bool:
    if item is None or fill is None:
        return item is fill
    # An item may be an array, which has no one truth.
    return bool(np.all(item == fill)) if isinstance(item, np.ndarray) else bool(item == fill)


class ObjectChain:
    """A chain whose first step is a `Table`, made anew for each call.

    Parameters
    ----------
    chain
        The compiled chain.
    metadata
        The array's metadata.
    """

    def __init__(self, chain: CompiledChain, metadata: ArrayMetadata) -> None:
        assert chain.objects is not None
        self._step = chain.objects
        self._externals = chain.externals
        fill = metadata.fill_value
        self._fill = metadata.data_type.default_fill() if fill is None else fill
        self._count = _chunk_count(chain.native, metadata.grid)
        first = {"id": "external", "index": len(chain.externals)}
        self.native = _with_table(chain.native, first, self._step.order)

    def table(self) -> Table:
        """Return a table for one call."""
        return Table(self._step, self._fill, self._count)

    def externals(self, table: Table) -> list[Any]:
        """Return the steps that the core calls."""
        return [*self._externals, table]


def _with_table(
    chain: dict[str, Any], first: dict[str, Any], order: tuple[int, ...]
) -> dict[str, Any]:
    """Return a chain with one more step, and an order of axes, where chunks are encoded."""
    if "shard" in chain:
        inner = _with_table(chain["shard"]["chain"], first, order)
        return {**chain, "shard": {**chain["shard"], "chain": inner}}
    moved = {} if order == tuple(range(len(order))) else {"order": list(order)}
    return {**chain, **moved, "steps": [first, *chain["steps"]]}


def _chunk_count(chain: dict[str, Any], grid: ChunkGrid) -> int | None:
    """Return the number of elements that are encoded together, where it is always the same."""
    count = math.prod(grid.chunk_shape) if grid.is_regular else None
    while "shard" in chain:
        count = math.prod(chain["shard"]["chunks"])
        chain = chain["shard"]["chain"]
    return count
