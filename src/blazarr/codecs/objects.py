"""Chunks of Python objects (text and bytes of any length): the part of a chain that makes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from blazarr.codecs.base import ArrayArrayCodec, ArrayBytesCodec, Buffer
from blazarr.codecs.stage import Stage
from blazarr.errors import CorruptError

if TYPE_CHECKING:
    import numpy.typing as npt

OBJECT = np.dtype(object)


@dataclass(frozen=True)
class ObjectStep:
    """The first step of a chain of objects; the core has those after it.

    Attributes
    ----------
    codec : codec
        What makes bytes of objects.
    order : tuple of int
        Stored axis ``k`` holds the chunk's axis ``order[k]``.
    """

    codec: ArrayBytesCodec | ArrayArrayCodec
    order: tuple[int, ...]

    def encode(self, chunk: npt.NDArray[Any]) -> Buffer:
        """Encode a chunk of objects to the bytes that the core's steps encode further."""
        stored = np.ascontiguousarray(chunk.transpose(self.order), dtype=OBJECT)
        encoded = self.codec.encode(stored)
        return encoded.tobytes() if isinstance(encoded, np.ndarray) else encoded

    def decode(self, data: Buffer, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """Decode what the core's steps gave to a chunk of objects of a shape."""
        stored = tuple(shape[axis] for axis in self.order)
        stage = Stage.of(OBJECT, stored)
        source: Any = data
        if isinstance(self.codec, ArrayArrayCodec):
            source = np.frombuffer(data, dtype=self.codec.after(stage).dtype)
        items = self.codec.decode(source, stage)
        if items.size != math.prod(shape):
            raise CorruptError(
                f"codec {self.codec.name!r}: a chunk of shape {shape} has {items.size} items",
                codec=self.codec.name,
            )
        return items.reshape(stored).transpose(np.argsort(self.order))
