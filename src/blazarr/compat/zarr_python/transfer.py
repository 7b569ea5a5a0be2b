"""Bytes from and to stores by their own methods, as many at a time as zarr-python is set to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import numpy as np
from zarr.abc.store import ByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.core.common import concurrent_map
from zarr.core.config import config
from zarr.storage import StorePath

from blazarr.engine.chunks import ChunkBatch

# What zarr-python gives a pipeline for each chunk: where it is, its specification, what is wanted of it, where that lies
# in the result, and whether it is all of the chunk.
Item = tuple[Any, Any, Any, Any, bool]


async def fetch(items: list[Item], chunks: ChunkBatch) -> list[Any]:
    """Fetch what the batch needs of each chunk: all of it, or a shard's index and the parts that this names."""

    async def one(number: int, index: tuple[int, int | None] | None) -> Any:
        if index is None:
            return await _get(items[number])
        return await _shard(items[number], chunks, number, index)

    return await _each(list(enumerate(chunks.index_ranges())), one)


async def fetch_whole(items: list[Item], numbers: Iterable[int]) -> list[Any]:
    """Fetch the chunks with these numbers; None stands for the others."""
    data: list[Any] = [None] * len(items)

    async def one(number: int) -> None:
        data[number] = await _get(items[number])

    await _each([(number,) for number in numbers], one)
    return data


async def store_all(items: list[Item], encoded: list[bytes | memoryview | None]) -> None:
    """Store each chunk, or delete it where there is nothing to store."""

    async def one(item: Item, new: bytes | memoryview | None) -> None:
        if new is None:
            await item[0].delete()
        else:
            buffer = item[1].prototype.buffer
            await item[0].set(buffer.from_array_like(np.frombuffer(new, np.uint8)))

    await _each(list(zip(items, encoded, strict=True)), one)


async def _each(arguments: list[Any], one: Callable[..., Awaitable[Any]]) -> list[Any]:
    return await concurrent_map(arguments, one, config.get("async.concurrency"))


async def _shard(
    item: Item, chunks: ChunkBatch, number: int, index_range: tuple[int, int | None]
) -> Any:
    start, stop = index_range
    index = await _get(
        item, SuffixByteRequest(-start) if stop is None else RangeByteRequest(0, stop)
    )
    if index is None:
        return None
    wanted = chunks.ranges(number, index)
    requests = [RangeByteRequest(begin, end) for begin, end in wanted]
    data = await (_coalesced if hasattr(Store, "get_ranges") else _separate)(item, requests)
    if any(part is None for part in data):
        return None
    return index, [(begin, part) for (begin, _), part in zip(wanted, data, strict=True)]


async def _coalesced(item: Item, requests: list[RangeByteRequest]) -> list[Any]:
    getter, spec = item[:2]
    if not isinstance(getter, StorePath):
        return await _separate(item, requests)
    data: list[Any] = [None] * len(requests)
    try:
        async for group in getter.store.get_ranges(
            getter.path,
            requests,
            prototype=spec.prototype,
            max_gap_bytes=spec.config.sharding_coalesce_max_gap_bytes,
            max_coalesced_bytes=spec.config.sharding_coalesce_max_bytes,
        ):
            for position, buffer in group:
                data[position] = None if buffer is None else buffer.as_numpy_array()
    except BaseExceptionGroup as failures:
        _, others = failures.split(FileNotFoundError)
        if others is not None:
            raise others from None
        # The shard was deleted after its index was read.
        return [None] * len(requests)
    return data


async def _separate(item: Item, requests: list[RangeByteRequest]) -> list[Any]:
    return await _each([(item, request) for request in requests], _get)


async def _get(item: Item, byte_range: ByteRequest | None = None) -> Any:
    prototype = item[1].prototype
    buffer = await (
        item[0].get(prototype) if byte_range is None else item[0].get(prototype, byte_range)
    )
    return None if buffer is None else buffer.as_numpy_array()
