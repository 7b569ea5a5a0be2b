"""Measuring how fast arrays are read."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from blazarr.config import config
from blazarr.conversion.boxes import Region
from blazarr.nodes import Array, Group, StorePath, layout
from blazarr.nodes.creation import create_array
from blazarr.nodes.request import ArrayRequest

# The best of so many counts; the first one fills the system's cache.
REPEATS = 3


@dataclass(frozen=True)
class Measured:
    """One line of the table.

    Attributes
    ----------
    array
        Path of the array.
    codecs
        Its codecs; those that were tried in memory are named so.
    library
        Who read it.
    threads
        On how many threads; None where the library chooses.
    nbytes
        Bytes of elements that were read.
    seconds
        The best time.
    ratio
        Size of the elements by what is stored, where it is known.
    """

    array: str
    codecs: str
    library: str
    threads: int | None
    nbytes: int
    seconds: float
    ratio: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the line as JSON has it."""
        return {**asdict(self), "mib_per_second": round(self.nbytes / self.seconds / 2**20, 1)}


def measure(
    node: Array | Group, threads: list[int] | None, budget: int, tried: list[tuple[str, Any]]
) -> Iterator[Measured]:
    """Yield the measurements of a store: of the largest array of each chain of codecs.

    Parameters
    ----------
    node
        What is measured.
    threads
        Numbers of threads; None for 1, 2, 4 and so on up to the processors.
    budget
        How many bytes of elements to read of each array.
    tried
        Names and codecs to try in memory on the same elements.
    """
    counts = threads or _counts()
    for path, array in _chosen(node).items():
        region = _sample(array, budget)
        yield from _measure_array(path, _named(array), array, region, counts)
        yield from _zarr_python(path, array, region)
        for name, codec in tried:
            copy, ratio = _encoded(array, region, codec)
            whole = tuple(slice(0, n) for n in copy.shape)
            for line in _measure_array(path, f"{name} (in memory)", copy, whole, counts):
                yield Measured(**{**asdict(line), "ratio": ratio})


def _counts() -> list[int]:
    processors = len(os.sched_getaffinity(0))
    powers = [2**n for n in range(processors.bit_length()) if 2**n < processors]
    return [*powers, processors]


def _chosen(node: Array | Group) -> dict[str, Array]:
    members = node.members(None) if isinstance(node, Group) else (("/", node),)
    arrays = [(path, member) for path, member in members if isinstance(member, Array)]
    largest: dict[str, tuple[str, Array]] = {}
    for path, array in sorted(arrays, key=lambda found: found[1].nbytes):
        if array.nbytes:
            largest[_named(array)] = (path, array)
    return dict(sorted(largest.values(), key=lambda found: found[0]))


def _named(array: Array) -> str:
    sharded = " in shards" if layout.sharding(array.metadata) else ""
    return "+".join(str(codec.name) for codec in layout.codecs(array.metadata)) + sharded


def _sample(array: Array, budget: int) -> Region:
    """Return whole stored objects from the middle of an array."""
    regions = list(layout.regions(array.metadata, budget))
    return regions[len(regions) // 2]


def _measure_array(
    path: str, codecs: str, array: Array, region: Region, counts: list[int]
) -> Iterator[Measured]:
    out = np.empty([part.stop - part.start for part in region], array.metadata.data_type.native)
    for count in counts:
        with config.set({"threading.max_workers": count}):
            seconds = _best(lambda: array.read(region, out=out))
        yield Measured(path, codecs, "blazarr", count, out.nbytes, seconds, None)


def _zarr_python(path: str, array: Array, region: Region) -> Iterator[Measured]:
    """Yield the same by zarr-python, where it is installed and opens the place."""
    try:
        import zarr

        place = array.store_path
        local = place.store.capabilities.local_path
        where = local / place.path if local is not None else str(place)
        other: Any = zarr.open_array(where, mode="r")
        nbytes = other[region].nbytes
    except Exception:  # noqa: BLE001 - whatever it is that it can't open
        return
    seconds = _best(lambda: other[region])
    yield Measured(path, _named(array), "zarr-python", None, nbytes, seconds, None)


def _encoded(array: Array, region: Region, codec: Any) -> tuple[Array, float]:
    values = array[region]
    chunks = [min(n, size) for n, size in zip(values.shape, array.chunks, strict=True)]
    request = ArrayRequest(zarr_format=3, chunks=chunks, compressors=codec)
    copy = create_array(StorePath.locate({}), request, data=values)
    return copy, values.nbytes / max(1, copy.nbytes_stored())


def _best(call: Callable[[], object]) -> float:
    times = [math.inf]
    for _ in range(REPEATS):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return max(min(times), 1e-9)
