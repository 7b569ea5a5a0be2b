"""A chain in the form that the core reads, while it is put together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from blazarr.codecs.base import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec, Step
from blazarr.codecs.external import ArrayStep, BytesStep, ExternalStep, SerializerStep

if TYPE_CHECKING:
    from blazarr.codecs.objects import ObjectStep
    from blazarr.codecs.stage import Stage


# What no codec adds to data that it can't compress: headers, tables, indices.
SPARE: Final = 1 << 20


@dataclass(frozen=True)
class CompiledChain:
    """The codecs of an array, ready to run.

    Attributes
    ----------
    native : dict
        The chain for the core; what it can't do itself it calls by number.
    externals : tuple of ExternalStep
        What it calls.
    objects : ObjectStep or None
        For arrays of objects, the step that stands before the chain in Python.
    """

    native: dict[str, Any]
    externals: tuple[ExternalStep, ...] = ()
    objects: ObjectStep | None = None

    @property
    def variable(self) -> bool:
        """Whether elements are objects without a fixed size."""
        return self.objects is not None


@dataclass
class Externals:
    """The steps in Python, of all levels of a chain."""

    steps: list[ExternalStep] = field(default_factory=list)

    def add(self, step: ExternalStep) -> Step:
        """Keep a step and return what stands for it in the chain."""
        self.steps.append(step)
        return {"id": "external", "index": len(self.steps) - 1}


@dataclass
class Steps:
    """The steps of one level, in the order of encoding, and the stage that they reach."""

    stage: Stage
    externals: Externals
    steps: list[Step] = field(default_factory=list)
    # The most bytes that encoded data may have, where that is known.
    limit: int | None = None

    def __post_init__(self) -> None:
        self.limit = self.limit or self.stage.nbytes

    def add(self, codec: Codec) -> None:
        """Append what a codec does."""
        native = codec.native(self.stage)
        after = codec.after(self.stage) if isinstance(codec, ArrayArrayCodec) else self.stage
        if native is None:
            native = [self.externals.add(_external(codec, self.stage, after, self.limit))]
        self.extend(native)
        self.limit = _limit(codec, after, self.limit)
        self.stage = after if isinstance(codec, ArrayArrayCodec) else self.stage.as_bytes()

    def extend(self, steps: list[Step]) -> None:
        """Append steps; two swaps in a row are none."""
        for step in steps:
            if step["id"] == "swap" and self.steps and self.steps[-1] == step:
                self.steps.pop()
            else:
                self.steps.append(step)

    def finished(self, order: tuple[int, ...] | None) -> dict[str, Any]:
        """Return the level as the core reads it: a swap in front has a place of its own."""
        chain: dict[str, Any] = {}
        steps = self.steps
        if order is not None and order != tuple(range(len(order))):
            chain["order"] = list(order)
        if steps and steps[0]["id"] == "swap":
            chain["swap"] = steps[0]["size"]
            steps = steps[1:]
        chain["steps"] = steps
        return chain


def _limit(codec: Codec, after: Stage, limit: int | None) -> int | None:
    if isinstance(codec, ArrayArrayCodec):
        return after.nbytes
    known = None
    if limit is not None and isinstance(codec, (ArrayBytesCodec, BytesBytesCodec)):
        known = codec.max_encoded(limit)
    return 2 * limit + SPARE if known is None and limit is not None else known


def _external(codec: Codec, before: Stage, after: Stage, limit: int | None) -> ExternalStep:
    if isinstance(codec, ArrayArrayCodec):
        return ArrayStep(codec, before, after)
    if isinstance(codec, ArrayBytesCodec):
        return SerializerStep(codec, before)
    if isinstance(codec, BytesBytesCodec):
        return BytesStep(codec, limit)
    raise TypeError(f"{codec!r} is neither a codec of arrays nor one of bytes")
