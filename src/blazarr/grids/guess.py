"""Chunk and shard shapes for arrays whose creator named none."""

from __future__ import annotations

import math

from blazarr.config import config

_MIB = 1024 * 1024
_STEP_BYTES = 256 * 1024
_SMALLEST_BYTES = 128 * 1024
_LARGEST_BYTES = 64 * _MIB
_SHARDED_LARGEST_BYTES = _MIB

# Far beyond what reaches the largest size; a float would overflow for absurd shapes.
_MAX_DECADES = 30

# Without a target size, only axes of more chunks than this are gathered, two by two.
_SHARD_WORTHWHILE = 8


def guess_chunks(
    shape: tuple[int, ...], itemsize: int, *, sharded: bool = False
) -> tuple[int, ...]:
    """Choose a chunk shape, by the rule that zarr-python took from h5py.

    The target grows with the array: 256 KiB for one of 1 MiB, doubling with each power of ten,
    between 128 KiB and 64 MiB. Starting with one chunk for everything, axes are halved in turn
    until the chunk is near the target.

    Parameters
    ----------
    shape
        The array's shape.
    itemsize
        Bytes of one item; 0 means unknown, and gives one chunk.
    sharded
        Inner chunks of shards are at most 1 MiB.
    """
    chunks = [max(1, extent) for extent in shape]
    if itemsize == 0 or not chunks:
        return tuple(chunks)
    largest = _SHARDED_LARGEST_BYTES if sharded else _LARGEST_BYTES
    target = _target_bytes(math.prod(chunks) * itemsize, largest)
    axis = 0
    while not _is_small_enough(math.prod(chunks), itemsize, target, largest):
        chunks[axis] = -(-chunks[axis] // 2)
        axis = (axis + 1) % len(chunks)
    return tuple(chunks)


def _target_bytes(total: int, largest: int) -> float:
    decades = min(math.log10(total) - math.log10(_MIB), _MAX_DECADES)
    return min(max(_STEP_BYTES * math.exp2(decades), _SMALLEST_BYTES), largest)


def _is_small_enough(items: int, itemsize: int, target: float, largest: int) -> bool:
    if items == 1:
        return True
    size = items * itemsize
    return size < largest and (size < target or (size - target) / target < 0.5)


def guess_shards(shape: tuple[int, ...], chunks: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Choose a shard shape that is a multiple of the chunk shape.

    With config ``array.target_shard_size_bytes``, the largest cube of chunks within that size
    and the array; without it, two chunks along each axis of more than eight.
    """
    target = config.get("array.target_shard_size_bytes")
    if target is None:
        return tuple(
            size * 2 if extent // size > _SHARD_WORTHWHILE else size
            for extent, size in zip(shape, chunks, strict=True)
        )
    side = _chunks_per_side(shape, chunks, itemsize, target)
    return tuple(size * side for size in chunks)


def _chunks_per_side(
    shape: tuple[int, ...], chunks: tuple[int, ...], itemsize: int, target: int
) -> int:
    chunk_bytes = math.prod(chunks) * itemsize
    if not chunks or chunk_bytes == 0:
        return 1
    within = min(extent // size for extent, size in zip(shape, chunks, strict=True))
    side = 1
    while side < within and chunk_bytes * (side + 1) ** len(chunks) <= target:
        side += 1
    return side
