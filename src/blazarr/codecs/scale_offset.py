"""``scale_offset``: elements moved and scaled, in their own type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from blazarr.codecs.base import JSON, ArrayArrayCodec
from blazarr.codecs.checks import wrong
from blazarr.codecs.scalars import parse_scalar
from blazarr.errors import BlazarrError, UnsupportedError

if TYPE_CHECKING:
    import numpy.typing as npt

    from blazarr.codecs.stage import Stage


@dataclass(frozen=True, kw_only=True)
class ScaleOffset(ArrayArrayCodec):
    """``(x - offset) * scale``, computed in the elements' own type.

    A result that the type can't hold, or an integer that the scale does not divide when it is
    decoded, is an error.

    Parameters
    ----------
    offset, scale : int, float or str
        As the fill value of the array would be written.
    """

    name: ClassVar[str] = "scale_offset"
    elementwise: ClassVar[bool] = True

    offset: Any = 0
    scale: Any = 1

    def __post_init__(self) -> None:
        for member in ("offset", "scale"):
            value = getattr(self, member)
            if isinstance(value, bool) or not isinstance(value, (int, float, str)):
                raise wrong(self.name, member, value, "a number or a string")

    def configuration(self) -> dict[str, JSON]:
        """Return what differs from the defaults."""
        given = {"offset": self.offset, "scale": self.scale}
        return {member: value for member, value in given.items() if value != _NEUTRAL[member]}

    def evolve(self, stage: Stage) -> ScaleOffset:
        """Check that the numbers suit the elements."""
        self._numbers(stage.dtype)
        return self

    def encode(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Move, then scale."""
        values = array.astype(array.dtype.newbyteorder("="), copy=False)
        offset, scale = self._numbers(values.dtype)
        if values.dtype.kind in "iu":
            self._check_range(values, lambda x: (x - int(offset)) * int(scale))
        with np.errstate(all="ignore"):
            return np.asarray((values - offset) * scale, dtype=values.dtype).astype(array.dtype)

    def decode(self, array: npt.NDArray[Any], stage: Stage) -> npt.NDArray[Any]:
        """Scale back, then move back."""
        values = array.astype(array.dtype.newbyteorder("="), copy=False)
        offset, scale = self._numbers(values.dtype)
        with np.errstate(all="ignore"):
            if values.dtype.kind == "f":
                return np.asarray(values / scale + offset, dtype=values.dtype).astype(stage.dtype)
            if (values % scale).any():
                raise BlazarrError(
                    f"codec 'scale_offset': stored integers are no multiples of the scale {scale}",
                    codec=self.name,
                )
            self._check_range(values, lambda x: x // int(scale) + int(offset))
            return np.asarray(values // scale + offset, dtype=values.dtype).astype(stage.dtype)

    def _numbers(self, dtype: np.dtype[Any]) -> tuple[Any, Any]:
        if dtype.kind not in "iuf":
            raise UnsupportedError(
                f"codec 'scale_offset' takes integers and floats, not {dtype}", codec=self.name
            )
        offset = parse_scalar(self.offset, dtype, self.name, "offset")
        scale = parse_scalar(self.scale, dtype, self.name, "scale")
        if scale == 0:
            raise wrong(self.name, "scale", self.scale, "other than 0")
        return offset, scale

    def _check_range(self, values: npt.NDArray[Any], compute: Any) -> None:
        """Check both ends: the function rises or falls, and integers wrap without a word."""
        if not values.size:
            return
        limits = np.iinfo(values.dtype)
        for end in (int(values.min()), int(values.max())):
            if not limits.min <= compute(end) <= limits.max:
                raise BlazarrError(
                    f"codec 'scale_offset': {end} becomes {compute(end)}, "
                    f"which {values.dtype} can't hold",
                    codec=self.name,
                )


_NEUTRAL = {"offset": 0, "scale": 1}
