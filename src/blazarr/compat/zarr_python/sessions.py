"""One read or write: what its chunks are decoded to, where the work is done, and what its failures mean."""

from __future__ import annotations

import asyncio
import contextvars
import math
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from zarr.core.buffer import NDBuffer

from blazarr.compat.zarr_python import settings
from blazarr.compat.zarr_python.borrowed import Call
from blazarr.compat.zarr_python.objects import Table
from blazarr.engine.chunks import ChunkBatch, ChunkEngine
from blazarr.engine.objects import HANDLE

AnyArray: TypeAlias = npt.NDArray[Any]
Result = TypeVar("Result")

# Kinds of data types that numpy always exports through the buffer protocol.
_EXPORTED = "biufc"

# Below this many bytes the work is done before another thread has woken up.
_AT_ONCE = 128 << 10

# A single chunk gives other threads nothing to do. Up to this size it is decoded sooner than a thread has taken it over
# and the event loop has heard of it.
_CHUNK_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class NativeSession:
    """Reads and writes of an array of which all is native; none leaves a trace here.

    Attributes
    ----------
    chunks
        The engine.
    dtype
        Type of the elements in memory.
    inner
        Shape of a shard's inner chunks along the array's axes; None where chunks are decoded as a whole.
    """

    chunks: ChunkEngine
    dtype: np.dtype[Any]
    inner: tuple[int, ...] | None = field(default=None, kw_only=True)

    def room(self, shape: tuple[int, ...], target: Any) -> AnyArray:
        """Return the memory to read into: the target, where chunks can be decoded to it."""
        if isinstance(target, np.ndarray) and target.dtype == self.dtype:
            return target
        return np.empty(shape, self.dtype)

    def deliver(self, memory: AnyArray, out: NDBuffer) -> None:
        """Give the result what was read into other memory."""
        out[...] = out.from_numpy_array(memory)

    def memory(self, value: AnyArray) -> AnyArray:
        """Return the memory of elements to be written."""
        return value.astype(self.dtype, copy=False)

    def source(self, value: NDBuffer) -> AnyArray:
        """Return the memory of what zarr-python gives to be written."""
        return self.memory(value.as_numpy_array())

    def batch(
        self, items: list[Any], memory: AnyArray, drop_axes: tuple[int, ...]
    ) -> ChunkBatch | None:
        """Take what zarr-python asks of a pipeline; None where only numpy knows what it means."""
        if memory.dtype.kind not in _EXPORTED:
            memory = memory.view(np.dtype((np.void, memory.dtype.itemsize)))
        return self.chunks.batch(items, memory, drop_axes)

    def is_small(self, items: list[Any], memory: AnyArray, *, reads: bool) -> bool:
        """Whether work is done sooner than other threads could take part; encoding takes many times longer."""
        chunk: int = math.prod(items[0][1].shape)
        count = len(items)
        if self.inner is not None:
            touched = _touched(items[0][2], self.inner) if count == 1 else None
            inner = math.prod(self.inner)
            count = touched or count * (chunk // inner)
            chunk = inner
        size = max(memory.nbytes, chunk * count * self.dtype.itemsize)
        return size <= (_CHUNK_AT_ONCE if reads and count == 1 else _AT_ONCE)

    async def run(self, work: Callable[[], Result], at_once: bool) -> Result:
        """Do work; without holding up the event loop unless it takes less than that would."""
        if at_once:
            return work()
        return await asyncio.to_thread(work)

    def cause(self, error: Exception) -> BaseException:
        """Return what to raise for an error of the core."""
        return error


def _touched(selection: Any, inner: tuple[int, ...]) -> int | None:
    """Count the inner chunks of a shard that a selection reaches; None where that takes a longer look."""
    if not isinstance(selection, tuple) or len(selection) != len(inner):
        return None
    count = 1
    for entry, size in zip(selection, inner, strict=True):
        if (
            isinstance(entry, slice)
            and isinstance(entry.start, int)
            and isinstance(entry.stop, int)
        ):
            count *= (entry.stop - 1) // size - entry.start // size + 1
        elif not isinstance(entry, int):
            return None
    return count


@dataclass(frozen=True)
class BorrowingSession(NativeSession):
    """One read or write of an array with codecs in Python.

    Attributes
    ----------
    call
        What runs the codecs.
    """

    call: Call

    async def run(self, work: Callable[[], Result], at_once: bool) -> Result:
        """Do work in a thread of its own: it waits for codecs, which may need the event loop's threads."""
        future: Future[Result] = Future()
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(_finish, future, work)).start()
        return await asyncio.wrap_future(future)

    def cause(self, error: Exception) -> BaseException:
        """Return what a codec raised, or else the core's error."""
        return self.call.failure or error


@dataclass(frozen=True)
class ObjectSession(BorrowingSession):
    """One read or write of an array of objects.

    Attributes
    ----------
    table
        Its objects; memory holds their numbers.
    """

    table: Table

    def room(self, shape: tuple[int, ...], target: Any) -> AnyArray:
        """Return memory for numbers."""
        self.table.finds_fills = False
        return np.empty(shape, HANDLE)

    def deliver(self, memory: AnyArray, out: NDBuffer) -> None:
        """Give the result the objects of the numbers that were read."""
        target: Any = out.as_ndarray_like()
        fits = isinstance(target, np.ndarray) and target.dtype == self.table.dtype
        if fits and target.flags.c_contiguous:
            self.table.take_into(memory, target)
        else:
            super().deliver(self.table.take(memory), out)

    def memory(self, value: AnyArray) -> AnyArray:
        """Return the numbers of objects to be written."""
        return self.table.add(value.astype(self.table.dtype, copy=False))


@dataclass(frozen=True)
class Runner:
    """Does the work of one read or write that computes or waits.

    Attributes
    ----------
    session
        Where.
    at_once
        Whether it is done sooner than other threads could take part.
    """

    session: NativeSession
    at_once: bool

    @property
    def threads(self) -> int | None:
        """How many threads may take part; None for as many as the process may use."""
        return 1 if self.at_once else settings.threads()

    async def __call__(self, work: Callable[[], Result]) -> Result:
        """Do a piece of work."""
        return await self.session.run(work, self.at_once)


def _finish(future: Future[Result], work: Callable[[], Result]) -> None:
    # From here on it can't be cancelled: what is under way ends by itself.
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - whoever waits for the work raises it
        future.set_exception(error)
    else:
        future.set_result(result)
