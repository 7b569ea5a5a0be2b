"""Codecs that run in Python, as the core calls them: bytes in, bytes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from blazarr.codecs.base import ArrayArrayCodec, ArrayBytesCodec, Buffer, BytesBytesCodec
from blazarr.codecs.stage import BYTE, Stage
from blazarr.errors import BlazarrError, CorruptError

if TYPE_CHECKING:
    import numpy.typing as npt


class ExternalStep(Protocol):
    """What the core calls where a chain leaves it."""

    @property
    def name(self) -> str:
        """The codec's name, for errors."""

    def encode(self, data: Buffer) -> Buffer:
        """Encode the bytes of a chunk."""

    def decode(self, data: Buffer) -> Buffer:
        """Decode the bytes of a chunk."""

    def max_encoded(self, size: int) -> int | None:
        """Return the largest size that encoded data of a size can have, where it is known."""


@dataclass(frozen=True)
class ArrayStep:
    """An array-to-array codec between two stages."""

    codec: ArrayArrayCodec
    before: Stage
    after: Stage

    @property
    def name(self) -> str:
        """The codec's name."""
        return self.codec.name

    def encode(self, data: Buffer) -> Buffer:
        """Encode the bytes of a chunk."""
        encoded = self.codec.encode(_as_array(data, self.before))
        return _as_bytes(encoded.astype(self.after.dtype, copy=False))

    def decode(self, data: Buffer) -> Buffer:
        """Decode the bytes of a chunk."""
        with _Failures(self.codec.name):
            array = _as_array(data, self.after)
            return _as_bytes(self.codec.decode(array, self.before))

    def max_encoded(self, size: int) -> int | None:
        """Return the size of as many elements, which filters rarely change."""
        count = self.after.count
        if count is not None:
            return count * self.after.dtype.itemsize
        return size // (self.before.dtype.itemsize or 1) * self.after.dtype.itemsize


@dataclass(frozen=True)
class SerializerStep:
    """An array-to-bytes codec after a stage."""

    codec: ArrayBytesCodec
    before: Stage

    @property
    def name(self) -> str:
        """The codec's name."""
        return self.codec.name

    def encode(self, data: Buffer) -> Buffer:
        """Encode the bytes of a chunk."""
        return self.codec.encode(_as_array(data, self.before))

    def decode(self, data: Buffer) -> Buffer:
        """Decode the bytes of a chunk."""
        with _Failures(self.codec.name):
            decoded = self.codec.decode(data, self.before)
            return _as_bytes(decoded.astype(self.before.dtype, copy=False))

    def max_encoded(self, size: int) -> int | None:
        """Return what the codec says."""
        return self.codec.max_encoded(size)


@dataclass(frozen=True)
class BytesStep:
    """A bytes-to-bytes codec, and the most bytes that it may decode to."""

    codec: BytesBytesCodec
    limit: int | None

    @property
    def name(self) -> str:
        """The codec's name."""
        return self.codec.name

    def encode(self, data: Buffer) -> Buffer:
        """Encode the bytes of a chunk."""
        return self.codec.encode(data)

    def decode(self, data: Buffer) -> Buffer:
        """Decode the bytes of a chunk."""
        with _Failures(self.codec.name):
            return self.codec.decode_bounded(data, self.limit)

    def max_encoded(self, size: int) -> int | None:
        """Return what the codec says."""
        return self.codec.max_encoded(size)


class _Failures:
    """Says which codec failed: libraries raise what they like on damaged data."""

    def __init__(self, codec: str) -> None:
        self.codec = codec

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, BlazarrError | MemoryError):
            raise CorruptError(f"codec {self.codec!r}: {error}", codec=self.codec) from error


def _as_array(data: Buffer, stage: Stage) -> npt.NDArray[Any]:
    # Types such as bfloat16 have no buffer format, so bytes come first.
    array = np.frombuffer(data, dtype=BYTE).view(stage.dtype)
    shape = stage.shape
    if stage.count is None or shape is None:
        return array
    return array.reshape([size or 0 for size in shape])


def _as_bytes(array: npt.NDArray[Any]) -> Buffer:
    flat: npt.NDArray[np.uint8] = np.ascontiguousarray(array).reshape(-1).view(BYTE)
    return flat
