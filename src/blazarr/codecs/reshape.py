"""``reshape`` and ``zarrs.squeeze``: the same elements in another shape."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from blazarr.codecs.base import JSON, ArrayArrayCodec, Step
from blazarr.codecs.checks import check_integers, wrong
from blazarr.errors import UnsupportedError

if TYPE_CHECKING:
    from blazarr.codecs.stage import Stage

REST = -1


@dataclass(frozen=True, kw_only=True)
class ReshapeCodec(ArrayArrayCodec):
    """The same elements, in C order, in another shape.

    Parameters
    ----------
    shape : list of (int or list of int)
        For each new axis its size, or the axes of the array that it joins, or -1 (once) for
        what remains.
    """

    name: ClassVar[str] = "reshape"

    shape: Any

    def __post_init__(self) -> None:
        if not isinstance(self.shape, (list, tuple)):
            raise wrong(self.name, "shape", self.shape, "a list")
        parts = tuple(self._part(i, part) for i, part in enumerate(self.shape))
        joined = [axis for part in parts if isinstance(part, tuple) for axis in part]
        if parts.count(REST) > 1 or joined != sorted(set(joined)):
            raise wrong(self.name, "shape", self.shape, "one -1 and rising axes at most")
        object.__setattr__(self, "shape", parts)

    def _part(self, position: int, part: Any) -> int | tuple[int, ...]:
        member = f"shape[{position}]"
        if isinstance(part, (list, tuple)):
            return check_integers(self.name, member, part, 0)
        (size,) = check_integers(self.name, member, (part,), REST)
        if size == 0:
            raise wrong(self.name, member, part, "a positive size, axes, or -1")
        return size

    def configuration(self) -> dict[str, JSON]:
        """Return the shape."""
        return {"shape": [list(part) if isinstance(part, tuple) else part for part in self.shape]}

    def after(self, stage: Stage) -> Stage:
        """Return the data in its new shape."""
        count = stage.count
        if count is None or stage.shape is None:
            raise UnsupportedError(
                "codec 'reshape' needs chunks of one size, so it does not go with a rectilinear grid",
                codec=self.name,
            )
        sizes = [self._size(part, stage.shape) for part in self.shape]
        known = math.prod(size for size in sizes if size != REST)
        shape = tuple((count // known if known else 0) if n == REST else n for n in sizes)
        if math.prod(shape) != count:
            raise wrong(self.name, "shape", self.shape, f"a shape of {count} elements")
        return replace(stage, shape=shape)

    def _size(self, part: int | tuple[int, ...], shape: tuple[int | None, ...]) -> int:
        if not isinstance(part, tuple):
            return part
        if part and part[-1] >= len(shape):
            raise wrong(self.name, "shape", self.shape, f"axes of an array with {len(shape)}")
        return math.prod(shape[axis] or 0 for axis in part)

    def native(self, stage: Stage) -> list[Step]:
        """Return no step: the bytes stay as they are."""
        del stage
        return []


@dataclass(frozen=True, kw_only=True)
class SqueezeCodec(ArrayArrayCodec):
    """The same elements without the chunk's axes of size 1, for codecs that want few axes; zarrs has it."""

    name: ClassVar[str] = "zarrs.squeeze"

    def after(self, stage: Stage) -> Stage:
        """Return the data in its new shape."""
        if stage.shape is None or None in stage.shape:
            raise UnsupportedError(
                "codec 'zarrs.squeeze' needs chunks of one size, so it does not go with a "
                "rectilinear grid",
                codec=self.name,
            )
        return replace(stage, shape=tuple(size for size in stage.shape if size != 1))

    def native(self, stage: Stage) -> list[Step]:
        """Return no step: the bytes stay as they are."""
        del stage
        return []
