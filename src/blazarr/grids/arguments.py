"""What users write for ``chunks=`` and ``shards=``."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from blazarr.errors import MetadataError
from blazarr.grids.axis import Axis
from blazarr.grids.grid import ChunkGrid
from blazarr.grids.guess import guess_chunks, guess_shards


def chunks_from_argument(
    chunks: Any, shape: tuple[int, ...], itemsize: int, *, sharded: bool = False
) -> ChunkGrid:
    """Parse ``chunks=``.

    Parameters
    ----------
    chunks
        ``"auto"`` or None choose; False and -1 mean one chunk; an integer counts for
        every axis; else one entry a dimension: an integer, -1, or a list of chunk lengths.
    shape
        The array's shape.
    itemsize
        Bytes of one item, for ``"auto"``.
    sharded
        Whether these are inner chunks of shards.
    """
    if isinstance(chunks, ChunkGrid):
        return chunks
    _refuse_true(chunks, "chunks")
    if chunks is None or _is_text(chunks, "auto"):
        return ChunkGrid.regular(guess_chunks(shape, itemsize, sharded=sharded))
    return _grid(-1 if chunks is False else chunks, shape, (1,) * len(shape), "chunks")


def shards_from_argument(
    shards: Any, chunks: ChunkGrid, shape: tuple[int, ...], itemsize: int
) -> ChunkGrid | None:
    """Parse ``shards=``; None where there are none.

    `shards` may be ``"auto"``, a grid, or what ``chunks=`` may be; every length has to be a multiple of
    the chunk's, and -1 means the smallest such that covers the axis.
    """
    if shards is None or shards is False:
        return None
    if not chunks.is_regular:
        raise _bad("chunks", "chunks within shards have one shape", "chunk lengths")
    unit = chunks.chunk_shape
    _refuse_true(shards, "shards")
    if _is_text(shards, "auto"):
        return ChunkGrid.regular(guess_shards(shape, unit, itemsize))
    if isinstance(shards, dict):
        shards = shards.get("shape")
    grid = shards if isinstance(shards, ChunkGrid) else _grid(shards, shape, unit, "shards")
    for position, (axis, size) in enumerate(zip(grid.axes, unit, strict=True)):
        _require_multiples(axis, size, position)
    return grid


def _grid(chunks: Any, shape: tuple[int, ...], unit: tuple[int, ...], argument: str) -> ChunkGrid:
    size = _integer(chunks)
    if size is not None:
        entries: list[Any] = [size] * len(shape)
    else:
        try:
            entries = list(chunks)
        except TypeError:
            raise _bad(argument, "an integer or one entry a dimension", chunks) from None
    if len(entries) != len(shape):
        raise _bad(argument, f"{len(shape)} entries, one a dimension", chunks)
    axes = (
        _axis(entry, extent, step, f"{argument}[{position}]")
        for position, (entry, extent, step) in enumerate(zip(entries, shape, unit, strict=True))
    )
    return ChunkGrid(tuple(axes))


def _axis(entry: Any, extent: int, unit: int, argument: str) -> Axis:
    size = _integer(entry)
    if size is None:
        return _listed_axis(entry, extent, argument)
    if size == -1:
        return Axis(unit * max(1, -(-extent // unit)))
    if size < 1:
        raise _bad(argument, "a size of at least 1, or -1 for the whole axis", size)
    return Axis(size)


def _listed_axis(entry: Any, extent: int, argument: str) -> Axis:
    try:
        lengths = [_integer(length) for length in entry]
    except TypeError:
        raise _bad(argument, "an integer or a list of chunk lengths", entry) from None
    if not lengths or any(length is None or length < 1 for length in lengths):
        raise _bad(argument, "chunk lengths of at least 1", entry)
    found = tuple(length for length in lengths if length is not None)
    # A list on an empty axis says what the axis grows into.
    if extent and sum(found) != extent:
        raise _bad(argument, f"chunk lengths that sum to {extent}", entry)
    return Axis(lengths=found)


def _require_multiples(axis: Axis, unit: int, position: int) -> None:
    lengths = (axis.size,) if axis.lengths is None else set(axis.lengths)
    for length in lengths:
        if length % unit:
            raise _bad(f"shards[{position}]", f"a multiple of the chunk size {unit}", length)


def _refuse_true(given: object, argument: str) -> None:
    """Refuse what was "auto" in zarr-python 2, and would be 1 as a number."""
    if given is True:
        raise _bad(argument, '"auto", a size, or one entry a dimension', given)


def _integer(value: object) -> int | None:
    """Give what counts as an integer; None for anything else."""
    if getattr(value, "dtype", None) == np.bool_:
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _is_text(value: object, text: str) -> bool:
    # An array compared with text would give an array.
    return isinstance(value, str) and value == text


def _bad(argument: str, wanted: str, found: object) -> MetadataError:
    return MetadataError(
        f"{argument}: expected {wanted}, found {repr(found)[:60]}", argument=argument
    )
