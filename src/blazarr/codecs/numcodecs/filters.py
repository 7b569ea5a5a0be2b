"""Filters of numcodecs: they see the bytes they are given as elements of the type they name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from blazarr.codecs.base import Step
from blazarr.codecs.bitround import rounding_steps
from blazarr.codecs.numcodecs.base import NumcodecsArrayArray
from blazarr.codecs.stage import BYTE, Stage, swap_unit
from blazarr.errors import UnsupportedError

if TYPE_CHECKING:
    import numpy.typing as npt

CORE_FLOATS = (4, 8)
DEFAULT_CATEGORY = np.dtype("u1")


def swaps(dtype: np.dtype[Any]) -> list[Step]:
    """Return the step between elements of a type and their native form."""
    return [] if dtype.isnative else [{"id": "swap", "size": swap_unit(dtype)}]


def native_name(dtype: np.dtype[Any]) -> str:
    """Return the name of a type in this machine's byte order."""
    return dtype.newbyteorder("=").str


def is_number(dtype: np.dtype[Any]) -> bool:
    """Whether the core computes with elements of a type."""
    return dtype.kind in "iu" or (dtype.kind == "f" and dtype.itemsize in CORE_FLOATS)


class Delta(NumcodecsArrayArray, codec_id="delta"):
    """Differences between neighbours, in memory order."""

    required: ClassVar[tuple[str, ...]] = ("dtype",)

    def after(self, stage: Stage) -> Stage:
        """Return the differences."""
        dtype = self.dtype("dtype", stage.dtype)
        return stage.viewed(dtype).flat(self.dtype("astype", dtype))

    def native(self, stage: Stage) -> list[Step] | None:
        """Return the core's step where it computes just as numpy does."""
        dtype = self.dtype("dtype", stage.dtype)
        astype = self.dtype("astype", dtype)
        integers = dtype.kind in "iu" and astype.kind in "iu"
        if not integers and not (is_number(dtype) and native_name(dtype) == native_name(astype)):
            return super().native(stage)
        delta = {"id": "delta", "dtype": native_name(dtype), "astype": native_name(astype)}
        return [*swaps(dtype), delta, *swaps(astype)]


class BitRound(NumcodecsArrayArray, codec_id="bitround"):
    """Fewer bits in the mantissa."""

    elementwise: ClassVar[bool] = True
    required: ClassVar[tuple[str, ...]] = ("keepbits",)

    def native(self, stage: Stage) -> list[Step] | None:
        """Return the core's steps."""
        steps = rounding_steps(self.number("keepbits", 0), stage.dtype)
        return super().native(stage) if steps is None else steps


class _Retyping(NumcodecsArrayArray):
    elementwise: ClassVar[bool] = True

    def evolve(self, stage: Stage) -> _Retyping:
        """Take the data type from the array, where it isn't given."""
        return self if self._config.get("dtype") else self.replaced(dtype=stage.dtype.str)

    def after(self, stage: Stage) -> Stage:
        """Return as many elements of the encoded type."""
        return stage.retyped(self.dtype("astype", self.dtype("dtype", stage.dtype)))


class FixedScaleOffset(_Retyping, codec_id="fixedscaleoffset"):
    """``(x - offset) * scale``, rounded, in another type."""

    required: ClassVar[tuple[str, ...]] = ("offset", "scale")

    def native(self, stage: Stage) -> list[Step] | None:
        """Return the core's step for the numbers that it computes with."""
        dtype = self.dtype("dtype", stage.dtype)
        astype = self.dtype("astype", dtype)
        numbers = {member: self._config[member] for member in self.required}
        if not (is_number(dtype) and is_number(astype) and all(map(_is_plain, numbers.values()))):
            return super().native(stage)
        types = {"dtype": native_name(dtype), "astype": native_name(astype)}
        step = {"id": "fixedscaleoffset", **numbers, **types}
        return [*swaps(dtype), step, *swaps(astype)]


def _is_plain(number: Any) -> bool:
    """Whether the core reads a number, and as numpy would."""
    if isinstance(number, float):
        return math.isfinite(number)
    return isinstance(number, int) and not isinstance(number, bool) and abs(number) < 1 << 63


class Quantize(_Retyping, codec_id="quantize"):
    """Fewer digits after the point."""

    required: ClassVar[tuple[str, ...]] = ("digits",)


class AsType(NumcodecsArrayArray, codec_id="astype"):
    """Elements cast to another type."""

    elementwise: ClassVar[bool] = True
    required: ClassVar[tuple[str, ...]] = ("encode_dtype",)

    def evolve(self, stage: Stage) -> AsType:
        """Take the decoded type from the array, where it isn't given."""
        if self._config.get("decode_dtype"):
            return self
        return self.replaced(decode_dtype=stage.dtype.str)

    def after(self, stage: Stage) -> Stage:
        """Return as many elements of the encoded type."""
        return stage.retyped(self.dtype("encode_dtype", stage.dtype))


class Categorize(NumcodecsArrayArray, codec_id="categorize"):
    """Strings as numbers of labels."""

    elementwise: ClassVar[bool] = True
    required: ClassVar[tuple[str, ...]] = ("labels", "dtype")

    def after(self, stage: Stage) -> Stage:
        """Return as many numbers."""
        return stage.retyped(self.dtype("astype", DEFAULT_CATEGORY))

    def decode(self, array: npt.NDArray[Any], stage: Stage) -> npt.NDArray[Any]:
        """Decode numbers to labels."""
        return np.asarray(self.implementation().decode(array)).astype(stage.dtype)


class PackBits(NumcodecsArrayArray, codec_id="packbits"):
    """Eight booleans in a byte, most significant bit first, after the number of unused bits."""

    def evolve(self, stage: Stage) -> PackBits:
        """Refuse elements that are no booleans: only whether they are 0 would be kept."""
        if stage.dtype.kind != "b":
            raise UnsupportedError(
                f"codec {self.name!r} packs booleans, not {stage.dtype}; its values would be lost",
                codec=self.name,
            )
        return self

    def after(self, stage: Stage) -> Stage:
        """Return the bytes."""
        count = stage.count
        return Stage.of(BYTE, (None if count is None else 1 + -(-count // 8),))

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step."""
        del stage
        return [{"id": "packbits"}]
