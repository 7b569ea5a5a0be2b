"""How an array lies in its store: shapes of chunks and shards, and the keys they have."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator
from typing import Any, SupportsIndex

from blazarr.codecs import Codec, parse_codec
from blazarr.errors import BlazarrError, ConflictError, MetadataError, SelectionError
from blazarr.grids import ChunkGrid
from blazarr.metadata import ArrayMetadata, CodecSpec
from blazarr.nodes.location import StorePath

Shape = tuple[int, ...]

# The codec's name, and an older one.
SHARDING = ("sharding_indexed", "sharding")


def parse_shape(shape: Any) -> Shape:
    """Read a ``shape`` argument: a size, or one for each axis."""
    try:
        sizes: Shape = (operator.index(shape),)
    except TypeError:
        try:
            sizes = tuple(operator.index(size) for size in shape)
        except TypeError:
            raise TypeError(
                f"a shape is an integer or a sequence of integers, not {shape!r}"
            ) from None
    if any(size < 0 for size in sizes):
        raise BlazarrError(f"a shape holds no negative sizes: {shape!r}", argument="shape")
    return sizes


def parse_axis(axis: SupportsIndex, ndim: int) -> int:
    """Read an ``axis`` argument; negative ones count from the end."""
    place = operator.index(axis)
    if not -ndim <= place < ndim:
        raise SelectionError(f"axis {place} is out of bounds for an array of {ndim} axes")
    return place % ndim


def sharding(metadata: ArrayMetadata) -> CodecSpec | None:
    """Return the codec that makes shards, or None."""
    return next((codec for codec in metadata.codecs if codec.name in SHARDING), None)


def inner_shape(metadata: ArrayMetadata) -> Shape | None:
    """Return the shape of the chunks in a shard, or None where the array isn't sharded."""
    codec = sharding(metadata)
    if codec is None:
        return None
    stored = _numbers(codec, "chunk_shape", metadata.ndim, 1)
    logical = list(stored)
    for place, axis in enumerate(_axis_order(metadata)):
        logical[axis] = stored[place]
    return tuple(logical)


def _axis_order(metadata: ArrayMetadata) -> list[int]:
    """Return which axis each axis of a shard is: transpose codecs in front of it move them."""
    order = list(range(metadata.ndim))
    for codec in itertools.takewhile(lambda c: c.name not in SHARDING, metadata.codecs):
        if codec.name == "transpose":
            moved = _numbers(codec, "order", metadata.ndim, 0)
            if sorted(moved) != list(range(metadata.ndim)):
                raise _wrong(codec, "order", "each axis once")
            order = [order[axis] for axis in moved]
    return order


def _numbers(codec: CodecSpec, member: str, count: int, least: int) -> list[int]:
    """Return a member of a codec's configuration that has a number for each axis."""
    found = codec.configuration.get(member)
    if not isinstance(found, list | tuple) or len(found) != count:
        raise _wrong(codec, member, f"{count} integers")
    # ``bool`` is an ``int``, so the exact class is asked for.
    if any(type(number) is not int or number < least for number in found):
        raise _wrong(codec, member, f"integers of at least {least}")
    return list(found)


def _wrong(codec: CodecSpec, member: str, wanted: str) -> MetadataError:
    return MetadataError(
        f"codec {codec.name!r}: {member} must be {wanted}, not {codec.configuration.get(member)!r}",
        path=f"configuration.{member}",
        codec=codec.name,
    )


def chunks_per_shard(metadata: ArrayMetadata) -> Shape | None:
    """Return the number of chunks along each axis of a shard, or None where there is no one number."""
    inner = inner_shape(metadata)
    if inner is None or not metadata.grid.is_regular:
        return None
    return tuple(n // size for n, size in zip(metadata.grid.chunk_shape, inner, strict=True))


def shard_shape(metadata: ArrayMetadata) -> Shape | None:
    """Return the shape of the shards, or None."""
    return None if sharding(metadata) is None else metadata.grid.chunk_shape


def grid_shape(metadata: ArrayMetadata) -> Shape:
    """Return the number of stored objects along each axis."""
    return metadata.grid.chunk_count(metadata.shape)


def chunk_grid(metadata: ArrayMetadata) -> ChunkGrid:
    """Return the grid of what is encoded on its own: of inner chunks where there are shards."""
    inner = inner_shape(metadata)
    return metadata.grid if inner is None else ChunkGrid.regular(inner)


def padded(metadata: ArrayMetadata) -> ArrayMetadata:
    """Return metadata whose shape goes to the end of the last chunks.

    To its engine a chunk at the array's end is no whole chunk, so that a write keeps what another
    writer may put behind it.
    """
    ends = (
        axis.size * count if axis.lengths is None else sum(axis.lengths[:count])
        for axis, count in zip(metadata.grid.axes, grid_shape(metadata), strict=True)
    )
    return metadata.update(shape=tuple(ends))


def codecs(metadata: ArrayMetadata) -> tuple[Codec, ...]:
    """Return the codecs of what is encoded on its own, in the order of encoding."""
    if metadata.zarr_format == 2:
        from blazarr.codecs import parse_v2_codec

        return tuple(
            parse_v2_codec({"id": codec.name, **codec.configuration}, codec.name)
            for codec in metadata.codecs
        )
    codec = sharding(metadata)
    chain = metadata.codecs if codec is None else codec.configuration["codecs"]
    return tuple(parse_codec(codec, f"codecs[{i}]") for i, codec in enumerate(chain))


def checked_copy(copy: ArrayMetadata, own: ArrayMetadata, place: StorePath) -> ArrayMetadata:
    """Return an array's own metadata, if what was selected by a copy of it is still in the array."""
    is_inside = copy.ndim == own.ndim and all(map(operator.le, copy.shape, own.shape))
    if copy.data_type != own.data_type or not is_inside:
        raise ConflictError(
            f"{place} is by now {own.data_type.numpy} of shape {own.shape}, and no longer "
            f"{copy.data_type.numpy} of {copy.shape} as consolidated metadata says; nothing was written. "
            "Call consolidate_metadata, and open the array again",
            key=place.path,
        )
    return own


def regions(metadata: ArrayMetadata, budget: int) -> Iterator[tuple[slice, ...]]:
    """Yield slices that cover the array: boxes of whole stored objects, of at most `budget` bytes.

    A single stored object may be larger.
    """
    sizes = metadata.grid.chunk_sizes(metadata.shape)
    room = budget // max(1, metadata.data_type.itemsize)
    box = [max(axis, default=0) for axis in sizes]
    axes: list[list[slice]] = []
    # The last axis, which is contiguous, gets what room there is first.
    for axis in reversed(range(len(sizes))):
        others = math.prod(box[:axis]) * math.prod(box[axis + 1 :])
        slices = list(_joined(sizes[axis], room // max(1, others)))
        box[axis] = max((piece.stop - piece.start for piece in slices), default=0)
        axes.insert(0, slices)
    yield from itertools.product(*axes)


def _joined(sizes: Shape, room: int) -> Iterator[slice]:
    start = stop = 0
    for size in sizes:
        if stop > start and stop + size - start > room:
            yield slice(start, stop)
            start = stop
        stop += size
    if stop > start:
        yield slice(start, stop)


def stored_objects(metadata: ArrayMetadata, place: StorePath) -> Iterator[tuple[str, int, Shape]]:
    """Yield what is stored of an array: keys, sizes and places in the grid.

    Objects that a former, larger shape left are there too.
    """
    for key, size in place.entries():
        relative = key.removeprefix(place.prefix)
        found = metadata.chunk_key_encoding.decode(relative, metadata.ndim)
        if found is not None:
            yield key, size, found


def stored_counts(metadata: ArrayMetadata, place: StorePath) -> tuple[int, int]:
    """Return how many objects of an array are stored, and how many chunks they hold."""
    objects = chunks = 0
    inner = inner_shape(metadata)
    shape = grid_shape(metadata)
    for _, _, index in stored_objects(metadata, place):
        if all(i < n for i, n in zip(index, shape, strict=True)):
            objects += 1
            chunks += 1 if inner is None else _chunks_in_shard(metadata, inner, index)
    return objects, chunks


def _chunks_in_shard(metadata: ArrayMetadata, inner: Shape, index: Shape) -> int:
    spans = metadata.grid.encoded_shape(index)
    return math.prod(span // size for span, size in zip(spans, inner, strict=True))


def delete_outside(before: ArrayMetadata, after: ArrayMetadata, place: StorePath) -> None:
    """Delete the objects that a smaller shape leaves outside."""
    shape = grid_shape(after)
    if all(new >= old for new, old in zip(shape, grid_shape(before), strict=True)):
        return
    for key, _, index in list(stored_objects(after, place)):
        if any(i >= n for i, n in zip(index, shape, strict=True)):
            place.store.delete(key)
