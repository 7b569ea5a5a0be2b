"""Between arrays of blazarr and of Dask."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from blazarr.conversion.boxes import Boxes
from blazarr.distributed.executor import is_in_memory
from blazarr.errors import BlazarrError, UnsupportedError
from blazarr.nodes import Array, StorePath
from blazarr.nodes.creation import create_array, place_of, refuse_overlap
from blazarr.nodes.opening import locate
from blazarr.nodes.request import ArrayRequest


def to_dask(array: Array, chunks: Any = None) -> Any:
    """Return an array as a lazy ``dask.array.Array``.

    Parameters
    ----------
    array
        The array.
    chunks
        As for ``dask.array.from_array``; by default the stored objects (shards, or chunks), so that
        each is read by one task.
    """
    import dask.array as da
    from dask.base import tokenize

    name = f"blazarr-{tokenize(str(array.store_path), array.metadata.to_json())}"
    wanted = array.write_chunk_sizes if chunks is None else chunks
    meta = np.empty((0,) * array.ndim, array.dtype)
    return da.from_array(
        array, chunks=wanted, name=name, meta=meta, asarray=False, lock=False, inline_array=True
    )


def from_dask(
    values: Any, store: Any, *, path: str | None = None, compute: bool = True, **options: Any
) -> Any:
    """Write a ``dask.array.Array`` to a new array; no two tasks write one stored object.

    Parameters
    ----------
    values
        The Dask array.
    store, path
        Where to, as for `blazarr.open`.
    compute
        Whether to write now; otherwise a ``dask.delayed`` object comes back that does.
    **options
        Arguments of `blazarr.create_array`; chunks are those of `values` by default.

    Returns
    -------
    Array or Delayed
        The array, or with ``compute=False`` what will write it.

    Raises
    ------
    BlazarrError
        The sizes of the Dask array's chunks are not known.
    UnsupportedError
        The store is in memory, and the tasks run in other processes.
    """
    import dask.array as da

    if any(np.isnan(size) for axis in values.chunks for size in axis):
        raise BlazarrError(
            "the sizes of the Dask array's chunks are not known; call compute_chunk_sizes() first",
            argument="values",
        )
    place = locate(store, path, "a", options.pop("storage_options", None))
    if compute and is_in_memory(place.store):
        _require_threads(values)
    overwrite = options.pop("overwrite", False)
    config = options.pop("config", None)
    own = {"zarr_format": 3, "chunks": tuple(max(1, *axis) for axis in values.chunks)}
    request = ArrayRequest(**{**own, **options, "shape": values.shape, "dtype": values.dtype})
    if overwrite:
        for source in _sources(values):
            refuse_overlap(source, place)
    array = create_array(place, request, overwrite=overwrite, config=config)
    aligned = values.rechunk(_aligned(values.chunks, array))
    stored = da.store(aligned, array, lock=False, compute=compute)
    return array if compute else stored


def _sources(values: Any) -> Iterator[StorePath]:
    """Yield where the arrays are that a Dask array will read."""
    for task in values.__dask_graph__().values():
        for node in (task, *getattr(task, "args", ())):
            place = place_of(getattr(node, "value", node))
            if place is not None:
                yield place


def _require_threads(values: Any) -> None:
    from dask import local, threaded
    from dask.base import get_scheduler

    if get_scheduler(collections=[values]) not in {local.get_sync, threaded.get}:
        raise UnsupportedError(
            "a store in memory is not reached from other processes; use a folder or URL, or Dask's "
            "scheduler of threads",
            argument="store",
        )


def _aligned(chunks: tuple[tuple[int, ...], ...], array: Array) -> tuple[tuple[int, ...], ...]:
    """Return chunks near those given whose borders are borders of stored objects."""
    objects = Boxes.of_grid(array.metadata.grid, array.shape)
    return tuple(_axis(sizes, edges) for sizes, edges in zip(chunks, objects.edges, strict=True))


def _axis(sizes: tuple[int, ...], edges: tuple[int, ...]) -> tuple[int, ...]:
    wanted = np.cumsum([0, *sizes])
    places = np.minimum(np.searchsorted(edges, wanted), len(edges) - 1)
    borders = sorted({edges[place] for place in places} | {edges[0], edges[-1]})
    return tuple(stop - start for start, stop in pairwise(borders)) or (0,)
