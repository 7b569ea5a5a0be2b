"""``bitround``: fewer significant bits, for compressors to like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from blazarr.codecs.base import ArrayArrayCodec, Step
from blazarr.codecs.checks import check_integer, wrong
from blazarr.codecs.stage import swap_unit
from blazarr.errors import UnsupportedError

if TYPE_CHECKING:
    import numpy.typing as npt

    from blazarr.codecs.stage import Stage

MANTISSA_BITS: Final = {2: 10, 4: 23, 8: 52}


def rounding_steps(keepbits: int, dtype: np.dtype[Any]) -> list[Step] | None:
    """Return the core's steps that round floats, or None for elements that are no floats."""
    if dtype.kind not in "fc" or swap_unit(dtype) not in MANTISSA_BITS:
        return None
    unit = swap_unit(dtype)
    if not 0 <= keepbits <= MANTISSA_BITS[unit]:
        raise wrong("bitround", "keepbits", keepbits, f"at most {MANTISSA_BITS[unit]} for {dtype}")
    if keepbits == MANTISSA_BITS[unit]:
        return []
    swap = [] if dtype.isnative else [{"id": "swap", "size": unit}]
    return [*swap, {"id": "bitround", "keepbits": keepbits, "itemsize": unit}, *swap]


@dataclass(frozen=True, kw_only=True)
class BitRoundCodec(ArrayArrayCodec):
    """Elements rounded to fewer bits.

    Parameters
    ----------
    keepbits : int
        Bits to keep: of the mantissa of floats, from the first that is set in integers.
    """

    name: ClassVar[str] = "bitround"
    v2_id: ClassVar[str | None] = "bitround"
    elementwise: ClassVar[bool] = True

    keepbits: int

    def __post_init__(self) -> None:
        check_integer(self.name, "keepbits", self.keepbits, 0)

    def native(self, stage: Stage) -> list[Step] | None:
        """Return the core's steps for floats."""
        return rounding_steps(self.keepbits, stage.dtype)

    def encode(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Round integers, and times as integers."""
        if array.dtype.kind not in "iumM":
            raise UnsupportedError(
                f"codec 'bitround' does not know how to round {array.dtype}", codec=self.name
            )
        bits = array.view(f"u{array.dtype.itemsize}")
        return _rounded(bits, self.keepbits).view(array.dtype)

    def decode(self, array: npt.NDArray[Any], stage: Stage) -> npt.NDArray[Any]:
        """Return the rounded elements as they are."""
        del stage
        return array


def _rounded(bits: npt.NDArray[Any], keepbits: int) -> npt.NDArray[Any]:
    one = bits.dtype.type(1)
    drop = np.maximum(_lengths(bits).astype(np.int64) - keepbits, 0).astype(bits.dtype)
    half = (one << np.maximum(drop, one) - one) - one
    tie_to_even = (bits >> drop) & one
    rounded = bits + np.where(drop > 0, half + tie_to_even, 0).astype(bits.dtype)
    # Where rounding would pass the largest number, cutting off is the nearest that fits.
    rounded = np.where(rounded < bits, bits, rounded)
    return np.asarray((rounded >> drop) << drop)


def _lengths(bits: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Number of bits up to the first that is set."""
    left = bits.astype(np.uint64)
    lengths = np.zeros(bits.shape, dtype=np.uint64)
    for step in (32, 16, 8, 4, 2, 1):
        shift = np.where(left >> np.uint64(step) > 0, step, 0).astype(np.uint64)
        left >>= shift
        lengths += shift
    return lengths + left
