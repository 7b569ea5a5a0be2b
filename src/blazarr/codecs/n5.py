"""``n5_default``: blocks of N5, which begin with their own shape."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from blazarr.codecs.base import JSON, ArrayBytesCodec, Buffer
from blazarr.codecs.bytes import BytesCodec
from blazarr.codecs.checks import wrong
from blazarr.codecs.pipe import Pipe
from blazarr.codecs.stage import Stage
from blazarr.codecs.transpose import TransposeCodec
from blazarr.errors import CorruptError, UnsupportedError

if TYPE_CHECKING:
    import numpy.typing as npt

DEFAULT_MODE = 0
_HEAD = struct.Struct(">HH")
_MOST_CODECS = 3


@dataclass(frozen=True, kw_only=True)
class N5DefaultCodec(ArrayBytesCodec):
    """Blocks of N5 in default mode.

    Parameters
    ----------
    codecs : list
        `transpose` of all axes, big-endian `bytes`, and at most one compressor.
    """

    name: ClassVar[str] = "n5_default"

    codecs: Any

    def __post_init__(self) -> None:
        kinds = (TransposeCodec, BytesCodec)
        found = self._pipe.codecs
        fits = len(found) <= _MOST_CODECS and all(map(isinstance, found, kinds))
        if not fits or len(found) < len(kinds) or not _is_full(found[0]):
            wanted = "a full transpose, bytes, and at most one compressor"
            raise wrong(self.name, "codecs", [codec.name for codec in found], wanted)

    @cached_property
    def _pipe(self) -> Pipe:
        return Pipe.parse(self.name, "codecs", self.codecs)

    def configuration(self) -> dict[str, JSON]:
        """Return the codecs."""
        return {"codecs": self._pipe.to_json()}

    def encode(self, array: npt.NDArray[Any]) -> Buffer:
        """Write the block's shape, and the block."""
        header = _HEAD.pack(DEFAULT_MODE, array.ndim) + np.array(array.shape, ">u4").tobytes()
        return header + self._pipe.encode(array)

    def decode(self, data: Buffer, stage: Stage) -> npt.NDArray[Any]:
        """Read a block, which may be smaller or larger than the chunk: what is missing is zero."""
        source = memoryview(bytes(data))
        block, start = self._shape(source, stage)
        array = self._pipe.decode(source[start:], Stage.of(stage.dtype, block))
        wanted = tuple(
            size if size is not None else own
            for size, own in zip(stage.shape or block, block, strict=True)
        )
        if wanted == block:
            return array
        chunk = np.zeros(wanted, stage.dtype)
        common = tuple(slice(min(pair)) for pair in zip(wanted, block, strict=True))
        chunk[common] = array[common]
        return chunk

    def _shape(self, source: memoryview, stage: Stage) -> tuple[tuple[int, ...], int]:
        rank = len(stage.shape or ())
        start = _HEAD.size + 4 * rank
        if len(source) < start:
            raise CorruptError(f"{self.name}: {len(source)} bytes are no header", codec=self.name)
        mode, own_rank = _HEAD.unpack_from(source)
        if mode != DEFAULT_MODE:
            raise UnsupportedError(
                f"{self.name}: blocks of mode {mode} (variable length, objects) can't be read",
                codec=self.name,
            )
        if own_rank != rank:
            raise CorruptError(
                f"{self.name}: a block of {own_rank} axes in an array of {rank}", codec=self.name
            )
        return struct.unpack_from(f">{rank}I", source, _HEAD.size), start


def _is_full(codec: Any) -> bool:
    axes: tuple[int, ...] = codec.axes
    return axes == tuple(range(len(axes)))[::-1]
