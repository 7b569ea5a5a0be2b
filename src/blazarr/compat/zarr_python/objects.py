"""Texts and other objects without a fixed size: the core moves their numbers in a table that one call has.

A step of the chain turns the numbers of a chunk's elements into stored bytes and back, by zarr-python's own codec. So
shards, partial writes, and all that is done to the bytes are those of every other array.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_right
from typing import Any

import numpy as np
import numpy.typing as npt
from zarr.codecs import VLenBytesCodec, VLenUTF8Codec

from blazarr.codecs.base import Buffer
from blazarr.compat.zarr_python.borrowed import BorrowedArrayBytes
from blazarr.engine.objects import COUNT_BYTES, FILL, HANDLE, MAX_BYTES
from blazarr.errors import CorruptError

# What makes Python objects has to be Python; that is no reason to warn of.
MAKERS_OF_OBJECTS = (VLenUTF8Codec, VLenBytesCodec)

# Numbers are looked up by rows where these are longer on average, else one by one.
_SHORT_RUN = 16


class Table:
    """The objects of one read or write, in blocks, each with its numbers in a row.

    Parameters
    ----------
    codec
        What makes bytes of a chunk of objects.
    fill
        What was never written.
    """

    name = "objects"

    def __init__(self, codec: BorrowedArrayBytes, fill: Any) -> None:
        self._codec = codec
        # Only writes have to know chunks of nothing but fill values.
        self.finds_fills = True
        self.dtype = codec.spec.dtype.to_native_dtype()
        self._lock = threading.Lock()
        first = np.empty(1, self.dtype)
        first[0] = fill
        self._blocks: list[npt.NDArray[Any]] = [first]
        self._starts = [FILL]
        self._end = 1

    def add(self, objects: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Take in an array of objects, and return an array of their numbers."""
        block = objects.reshape(-1)
        with self._lock:
            # A gap between blocks, so that numbers in a row are of one block.
            start = self._end + 1
            self._blocks.append(block)
            self._starts.append(start)
            self._end = start + block.size
        numbers = np.arange(start, start + block.size, dtype=HANDLE)
        if self.finds_fills:
            # They have one number, so that the core knows chunks of nothing else.
            numbers[_equal(block, self._blocks[0][0])] = FILL
        return numbers.reshape(objects.shape)

    def take(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Return the objects with some numbers."""
        found = np.empty(numbers.shape, self.dtype)
        self.take_into(numbers, found)
        return found

    def take_into(self, numbers: npt.NDArray[np.int64], found: npt.NDArray[Any]) -> None:
        """Put the objects with some numbers into an array without gaps."""
        flat, into = numbers.reshape(-1), found.reshape(-1)
        edges = np.flatnonzero(np.diff(flat) != 1) + 1
        if edges.size * _SHORT_RUN > flat.size:
            self._take_each(flat, into)
            return
        firsts = [0, *edges.tolist()]
        for begin, end in zip(firsts, [*firsts[1:], flat.size], strict=True):
            number = int(flat[begin])
            block = bisect_right(self._starts, number) - 1
            at = number - self._starts[block]
            into[begin:end] = self._blocks[block][at : at + end - begin]

    def _take_each(self, flat: npt.NDArray[np.int64], into: npt.NDArray[Any]) -> None:
        which = np.searchsorted(self._starts, flat, side="right") - 1
        order = np.argsort(which, kind="stable")
        present, begins = np.unique(which[order], return_index=True)
        parts: list[npt.NDArray[Any]] = []
        index, size = np.empty_like(flat), 0
        for block, here in zip(present, np.split(order, begins[1:]), strict=True):
            at = flat[here] - self._starts[block]
            low, end = int(at.min()), int(at.max()) + 1
            parts.append(self._blocks[block][low:end])
            index[here] = at - low + size
            size += end - low
        # numpy 2.0 loses long texts that are assigned to a list of places; taking them from one is sound.
        into[...] = np.concatenate(parts)[index]

    def encode(self, data: Buffer) -> Buffer:
        """Encode a chunk of numbers."""
        numbers = np.frombuffer(data, HANDLE).reshape(self._codec.spec.shape)
        return self._codec.encode(self.take(numbers))

    def decode(self, data: Buffer) -> npt.NDArray[np.uint8]:
        """Decode a chunk to numbers."""
        if isinstance(self._codec.theirs, MAKERS_OF_OBJECTS):
            self._check(data)
        objects = self._codec.decode(data).astype(self.dtype, copy=False)
        return self.add(objects).reshape(-1).view(np.uint8)

    def _check(self, data: Buffer) -> None:
        # numcodecs makes room for as many as the data says.
        count = int.from_bytes(bytes(data[:COUNT_BYTES]), "little")
        expected = math.prod(self._codec.spec.shape)
        if count != expected:
            raise CorruptError(f"a chunk of {expected} items says that it has {count}")

    def max_encoded(self, size: int) -> int:
        """Return the limit: the objects alone know their size."""
        return max(size, MAX_BYTES)


def _equal(block: npt.NDArray[Any], fill: Any) -> Any:
    if block.dtype != object:
        return block == fill
    # Objects may be arrays, which no fill value is.
    same = (not isinstance(item, np.ndarray) and item == fill for item in block)
    return np.fromiter(same, np.bool_, block.size)
