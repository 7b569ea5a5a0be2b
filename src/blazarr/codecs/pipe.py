"""A chain that runs in Python on one chunk: for codecs that have chains of their own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from blazarr import _core
from blazarr.codecs.base import JSON, Codec, Step
from blazarr.codecs.chain import SPARE, Externals, Steps
from blazarr.codecs.registry import parse_codecs
from blazarr.codecs.sharding import ShardingCodec
from blazarr.codecs.stage import BYTE, Stage
from blazarr.codecs.v3 import split_codecs
from blazarr.errors import CorruptError, UnsupportedError

if TYPE_CHECKING:
    from typing import Self

    import numpy.typing as npt

    from blazarr.codecs.base import Buffer


@dataclass(frozen=True)
class Pipe:
    """Codecs in the order of encoding, one of which makes bytes of the array.

    Attributes
    ----------
    owner
        Name of the codec that they belong to.
    codecs
        The codecs.
    """

    owner: str
    codecs: tuple[Codec, ...]

    @classmethod
    def parse(cls, owner: str, member: str, entries: Any) -> Self:
        """Make it of a member of the owner's configuration."""
        codecs = parse_codecs(entries, f"configuration.{member}")
        parts = split_codecs(codecs, f"configuration.{member}")
        if isinstance(parts.serializer, ShardingCodec):
            raise UnsupportedError(
                f"codec {owner!r} can't have shards inside; put it inside of the shards",
                codec=owner,
                path=f"configuration.{member}",
            )
        return cls(owner, codecs)

    def to_json(self) -> list[JSON]:
        """Give the codecs as a document has them."""
        return [codec.to_dict() for codec in self.codecs]

    def encode(self, array: npt.NDArray[Any]) -> bytes:
        """Encode an array of any shape."""
        steps = self._steps(Stage.of(array.dtype, array.shape))
        data: Buffer = np.ascontiguousarray(array).reshape(-1).view(BYTE)
        for step in steps.steps:
            data = _encoded(step, steps.externals, data)
        return bytes(data)

    def decode(self, data: Buffer, stage: Stage) -> npt.NDArray[Any]:
        """Decode bytes to an array of the type and the shape of a stage, which has to be known."""
        size = stage.nbytes
        if size is None or stage.shape is None:
            raise UnsupportedError(
                f"codec {self.owner!r} needs chunks of one size, so it does not go with a "
                "rectilinear grid",
                codec=self.owner,
            )
        steps = self._steps(stage)
        for step in reversed(steps.steps):
            data = _decoded(step, steps.externals, data, 2 * size + SPARE)
        decoded = np.frombuffer(data, BYTE)
        if decoded.size != size:
            raise CorruptError(
                f"{self.owner}: decoded to {decoded.size} bytes where {size} are due",
                codec=self.owner,
            )
        return decoded.view(stage.dtype).reshape([n or 0 for n in stage.shape])

    def _steps(self, stage: Stage) -> Steps:
        steps = Steps(stage, Externals())
        for codec in self.codecs:
            steps.add(codec.evolve(steps.stage))
        return steps


def _encoded(step: Step, externals: Externals, data: Buffer) -> Buffer:
    if step["id"] == "external":
        return externals.steps[step["index"]].encode(data)
    return _core.codec_encode(json.dumps(step), data)


def _decoded(step: Step, externals: Externals, data: Buffer, limit: int) -> Buffer:
    if step["id"] == "external":
        return externals.steps[step["index"]].decode(data)
    return _core.codec_decode(json.dumps(step), data, None, limit)
