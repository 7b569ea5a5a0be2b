"""Steps of a chain that zarr-python's own classes, or a user's, do: for codecs without a native form."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
from zarr.abc import codec as abc
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer.cpu import buffer_prototype

from blazarr.codecs import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec
from blazarr.codecs.base import Buffer
from blazarr.codecs.stage import Stage
from blazarr.compat.zarr_python.untouched import is_own
from blazarr.errors import UnsupportedError

Result = TypeVar("Result")

# Nothing is known of what a codec makes of its data; what is longer than this, and than so many times the data, is
# taken for damaged. The last is the most that the core can be told.
_LONG = 1 << 30
_TIMES = 32
_LONGEST = 1 << 48

# How often a thread that waits for an event loop looks whether there still is one, in seconds.
_PATIENCE = 1.0


class NothingGivenError(Exception):
    """A codec gave nothing for a chunk: to zarr-python that means that the chunk is absent."""


class Call:
    """One read or write, as its steps in Python see it.

    Codecs of zarr-python are coroutines. They run in the event loop that asked for the chunks, while the thread that
    needs their result waits without holding the interpreter's lock.

    Parameters
    ----------
    loop
        The event loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._context = contextvars.copy_context()
        # What a codec raised; the core's error has only its text.
        self.failure: BaseException | None = None

    def wait_for(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in the loop, from another thread, and return its result."""
        try:
            future = self._context.copy().run(asyncio.run_coroutine_threadsafe, work, self._loop)
        except RuntimeError:
            work.close()
            raise
        while not self._finished(future):
            if self._loop.is_closed():
                raise RuntimeError("the event loop was closed while a codec ran in it")
        return future.result()

    @staticmethod
    def _finished(future: Future[Any]) -> bool:
        try:
            future.exception(_PATIENCE)
        except TimeoutError:
            return False
        return True


@dataclass(frozen=True)
class _Borrowed:
    """A codec of zarr-python's kind, and what it is told of a chunk.

    Attributes
    ----------
    theirs
        The codec.
    spec
        The chunk as it is before the codec encodes it.
    call
        The read or write at hand; None in the chain that is kept.
    """

    theirs: Any
    spec: ArraySpec
    call: Call | None = None

    def bound(self, call: Call) -> Self:
        """Return the codec for one read or write."""
        return replace(self, call=call)

    def evolve(self, stage: Stage) -> Self:
        """Return the codec, which has learned from the array already."""
        del stage
        return self

    def native(self, stage: Stage) -> None:
        """Return None: the core can't do it."""
        del stage

    def max_encoded(self, size: int) -> int:
        """Return the length that encoded data of a size is never trusted to exceed."""
        return min(max(_TIMES * size, _LONG), _LONGEST)

    def _run(self, direction: str, data: Any) -> Any:
        call = self.call
        assert call is not None
        try:
            at_once = getattr(self.theirs, f"_{direction}_sync", None)
            if at_once is not None and is_own(self.theirs, "zarr"):
                result = at_once(data, self.spec)
            else:
                coroutine = getattr(self.theirs, direction)([(data, self.spec)])
                (result,) = call.wait_for(coroutine)
            return _given(result)
        except BaseException as error:
            call.failure = call.failure or error
            raise

    def _encode_array(self, array: npt.NDArray[Any]) -> Any:
        # Not every codec takes memory that is read-only.
        own = array.astype(self.spec.dtype.to_native_dtype(), copy=not array.flags.writeable)
        return self._run("encode", buffer_prototype.nd_buffer.from_numpy_array(own))

    def _decode_bytes(self, data: Buffer) -> Any:
        flat = np.frombuffer(data, np.uint8)
        return self._run("decode", buffer_prototype.buffer.from_array_like(flat))


class BorrowedArrayArray(_Borrowed, ArrayArrayCodec):
    """A codec from arrays to arrays."""

    def after(self, stage: Stage) -> Stage:
        """Return what the codec makes of a chunk."""
        del stage
        spec = self.theirs.resolve_metadata(self.spec)
        return Stage.of(spec.dtype.to_native_dtype(), spec.shape)

    def encode(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Encode an array."""
        return _array(self._encode_array(array))

    def decode(self, array: npt.NDArray[Any], stage: Stage) -> npt.NDArray[Any]:
        """Decode an array."""
        given = buffer_prototype.nd_buffer.from_numpy_array(array)
        return _array(self._run("decode", given)).astype(stage.dtype, copy=False)


class BorrowedArrayBytes(_Borrowed, ArrayBytesCodec):
    """A codec from arrays to bytes."""

    def encode(self, array: npt.NDArray[Any]) -> Buffer:
        """Encode an array."""
        return _bytes(self._encode_array(array))

    def decode(self, data: Buffer, stage: Stage | None = None) -> npt.NDArray[Any]:
        """Decode to an array."""
        del stage
        return _array(self._decode_bytes(data))


class BorrowedBytesBytes(_Borrowed, BytesBytesCodec):
    """A codec from bytes to bytes."""

    def encode(self, data: Buffer) -> Buffer:
        """Encode bytes."""
        own = np.frombuffer(bytearray(data), np.uint8)
        return _bytes(self._run("encode", buffer_prototype.buffer.from_array_like(own)))

    def decode(self, data: Buffer) -> Buffer:
        """Decode bytes."""
        return _bytes(self._decode_bytes(data))


def borrow(theirs: Any, spec: ArraySpec) -> Codec:
    """Return a codec of zarr-python's kind as a step of a chain, told of the chunks that it will get."""
    for interface, kind in _KINDS.items():
        if isinstance(theirs, interface):
            borrowed: Codec = _named(kind, type(theirs).__name__)(theirs, spec)
            return borrowed
    raise UnsupportedError(f"{theirs!r} is of none of zarr-python's kinds of codecs")


_KINDS: dict[type, type] = {
    abc.ArrayArrayCodec: BorrowedArrayArray,
    abc.ArrayBytesCodec: BorrowedArrayBytes,
    abc.BytesBytesCodec: BorrowedBytesBytes,
}


@cache
def _named(kind: type, name: str) -> Any:
    return type(kind.__name__, (kind,), {"name": name})


def host_spec(spec: ArraySpec, shape: tuple[int, ...]) -> ArraySpec:
    """Return a chunk's description with another shape, for buffers in the host's memory."""
    return ArraySpec(
        shape=shape,
        dtype=spec.dtype,
        fill_value=spec.fill_value,
        config=spec.config,
        prototype=buffer_prototype,
    )


def _given(result: Any) -> Any:
    if result is None:
        raise NothingGivenError
    return result


def _array(buffer: Any) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = buffer.as_numpy_array()
    return array


def _bytes(buffer: Any) -> npt.NDArray[np.uint8]:
    array: npt.NDArray[Any] = buffer.as_numpy_array()
    return np.ascontiguousarray(array).view(np.uint8)
