"""Reading the ``chunk_grid`` member of a v3 document."""

from __future__ import annotations

from typing import Any

from blazarr.config import config
from blazarr.errors import LimitError, MetadataError, UnsupportedError
from blazarr.grids.axis import Axis
from blazarr.grids.grid import ChunkGrid

# zarrs' spellings of a regular grid whose last chunks end where the array does.
_BOUNDED = ("zarrs.regular_bounded", "regular_bounded")


def parse_grid(document: Any, shape: tuple[int, ...], path: str = "chunk_grid") -> ChunkGrid:
    """Parse a ``chunk_grid`` member.

    Parameters
    ----------
    document
        The member, decoded from JSON.
    shape
        The array's shape, which the grid has to cover.
    path
        The member's place in its document.
    """
    name = document.get("name") if isinstance(document, dict) else document
    if not isinstance(name, str):
        raise _wrong(path, 'an object {"name": ..., "configuration": {...}}', document)
    configuration = document.get("configuration") if isinstance(document, dict) else None
    if name == "regular":
        return _parse_regular(configuration, shape, f"{path}.configuration")
    if name == "rectilinear":
        return _parse_rectilinear(configuration, shape, f"{path}.configuration")
    if name in _BOUNDED:
        return _parse_bounded(configuration, shape, f"{path}.configuration")
    raise UnsupportedError(
        f"{path}: chunk grid {name[:60]!r} is not known; blazarr has 'regular' and 'rectilinear'",
        path=path,
    )


def parse_chunk_shape(document: Any, shape: tuple[int, ...], path: str) -> ChunkGrid:
    """Parse a list of chunk sizes, one a dimension."""
    document = _require_rank(document, shape, path)
    for position, size in enumerate(document):
        # ``bool`` is an ``int``, so the exact class is asked for.
        if size.__class__ is not int or size < 1:
            raise _wrong(f"{path}[{position}]", "a chunk size of at least 1", size)
    return ChunkGrid.regular(tuple(document))


def _parse_regular(configuration: Any, shape: tuple[int, ...], path: str) -> ChunkGrid:
    if not isinstance(configuration, dict):
        raise _wrong(path, "an object with chunk_shape", configuration)
    return parse_chunk_shape(configuration.get("chunk_shape"), shape, f"{path}.chunk_shape")


def _parse_bounded(configuration: Any, shape: tuple[int, ...], path: str) -> ChunkGrid:
    """Read what the specification's rectilinear grid says too, and is written as."""
    regular = _parse_regular(configuration, shape, path)
    edges = config.limits.grid_edges
    axes = []
    for size, extent in zip(regular.chunk_shape, shape, strict=True):
        count, rest = divmod(extent, size)
        if not rest:
            axes.append(Axis(size))
        elif count >= edges:
            raise LimitError(
                f"{path}: more than {edges} chunks along one axis; raise limits.grid_edges",
                path=path,
                limit=edges,
            )
        else:
            axes.append(Axis(lengths=(*[size] * count, rest)))
    return ChunkGrid(tuple(axes))


def _parse_rectilinear(configuration: Any, shape: tuple[int, ...], path: str) -> ChunkGrid:
    if not isinstance(configuration, dict):
        raise _wrong(path, "an object with kind and chunk_shapes", configuration)
    if configuration.get("kind") != "inline":
        raise _wrong(f"{path}.kind", "'inline'", configuration.get("kind"))
    path = f"{path}.chunk_shapes"
    shapes = _require_rank(configuration.get("chunk_shapes"), shape, path)
    axes = (
        _parse_axis(stored, extent, f"{path}[{position}]")
        for position, (stored, extent) in enumerate(zip(shapes, shape, strict=True))
    )
    return ChunkGrid(tuple(axes))


def _parse_axis(stored: Any, extent: int, path: str) -> Axis:
    if not isinstance(stored, list):
        return Axis(_positive(stored, path))
    if not stored:
        raise _wrong(path, "at least one chunk length", stored)
    lengths: list[int] = []
    limit = config.limits.grid_edges
    for position, entry in enumerate(stored):
        length, count = _parse_run(entry, f"{path}[{position}]")
        # Before the list grows: a run of a few bytes may stand for any number of chunks.
        if len(lengths) + count > limit:
            raise LimitError(
                f"{path}: more than {limit} chunks along one axis; raise limits.grid_edges",
                path=path,
                limit=limit,
            )
        lengths.extend([length] * count)
    if sum(lengths) < extent:
        raise _wrong(path, f"lengths that sum to at least {extent}", sum(lengths))
    return Axis(lengths=tuple(lengths))


def _parse_run(entry: Any, path: str) -> tuple[int, int]:
    """Read a length, or a pair ``[length, how many times]``."""
    if not isinstance(entry, list):
        return _positive(entry, path), 1
    if len(entry) != 2:
        raise _wrong(path, "a length or a pair [length, count]", entry)
    return _positive(entry[0], f"{path}[0]"), _positive(entry[1], f"{path}[1]")


def _positive(value: Any, path: str) -> int:
    if value.__class__ is not int or value < 1:
        raise _wrong(path, "an integer of at least 1", value)
    return int(value)


def _require_rank(document: Any, shape: tuple[int, ...], path: str) -> list[Any]:
    if not isinstance(document, list):
        raise _wrong(path, "a list, one entry a dimension", document)
    if len(document) != len(shape):
        raise MetadataError(
            f"{path}: {len(document)} chunk dimensions for an array of {len(shape)}", path=path
        )
    return document


def _wrong(path: str, wanted: str, found: object) -> MetadataError:
    text = "nothing" if found is None else repr(found)[:60]
    return MetadataError(f"{path}: expected {wanted}, found {text}", path=path)
