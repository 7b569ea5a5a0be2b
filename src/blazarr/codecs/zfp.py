"""``zfp``: blocks of numbers, mostly with a bounded error, through the package zfpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from blazarr.codecs.base import JSON, ArrayBytesCodec, Buffer
from blazarr.codecs.checks import check_choice, wrong
from blazarr.errors import UnsupportedError

if TYPE_CHECKING:
    import numpy.typing as npt

    from blazarr.codecs.base import Step
    from blazarr.codecs.stage import Stage

# What each mode needs; all of them go to zfpy under their own name.
MODES: Final = {
    "reversible": None,
    "fixed_accuracy": "tolerance",
    "fixed_rate": "rate",
    "fixed_precision": "precision",
    "expert": None,
}
MOST_AXES: Final = 4
_TYPES: Final = {"int32": "type_int32", "int64": "type_int64", "float32": "type_float", "float64": "type_double"}  # fmt: skip
# Numbers of fewer bits go into the upper ones of an int32, whose sign bit stays free.
_PROMOTED: Final = {"int8": (23, 0), "uint8": (23, 1 << 7), "int16": (15, 0), "uint16": (15, 1 << 15)}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ZfpCodec(ArrayBytesCodec):
    """zfp without its header.

    Parameters
    ----------
    mode : {"reversible", "fixed_accuracy", "fixed_rate", "fixed_precision", "expert"}
    tolerance, rate, precision : number
        What the mode needs: largest error, bits for a value, bit planes.
    minbits, maxbits, maxprec, minexp : int
        Members of mode ``"expert"``, which zfpy does not have.
    """

    name: ClassVar[str] = "zfp"

    mode: str
    tolerance: float | None = None
    rate: float | None = None
    precision: int | None = None
    minbits: int | None = None
    maxbits: int | None = None
    maxprec: int | None = None
    minexp: int | None = None

    def __post_init__(self) -> None:
        check_choice(self.name, "mode", self.mode, tuple(MODES))
        needed = MODES[self.mode]
        value = None if needed is None else getattr(self, needed)
        if needed is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise wrong(self.name, needed, value, f"a number, which mode {self.mode!r} needs")

    def configuration(self) -> dict[str, JSON]:
        """Return the mode and what it needs."""
        return {name: value for name, value in super().configuration().items() if value is not None}

    def native(self, stage: Stage) -> list[Step] | None:
        """Return None, for zfpy runs it; that it can is found out here."""
        dtype, rank = stage.dtype, len(stage.shape or ())
        if dtype.name not in _TYPES | _PROMOTED | {"float16": ""} or rank > MOST_AXES:
            raise UnsupportedError(
                f"codec 'zfp' can't encode {dtype} with {rank} axes here: it takes floats and integers up to 16 bits or "
                "signed, in at most 4 axes",
                codec=self.name,
            )
        if self.mode == "expert":
            raise UnsupportedError("codec 'zfp': zfpy has no mode 'expert'", codec=self.name)
        _zfpy()
        return None

    def encode(self, array: npt.NDArray[Any]) -> Buffer:
        """Encode an array."""
        promoted = np.ascontiguousarray(_promoted(array)).reshape(array.shape or (1,))
        encoded: bytes = _zfpy().compress_numpy(promoted, write_header=False, **self._options())
        return encoded

    def decode(self, data: Buffer, stage: Stage) -> npt.NDArray[Any]:
        """Decode an array."""
        zfpy, dtype = _zfpy(), stage.dtype
        kind = getattr(zfpy, _TYPES[_promoted(np.empty(0, dtype)).dtype.name])
        shape = tuple(size or 0 for size in stage.shape or ()) or (1,)
        decoded = zfpy._decompress(bytes(data), kind, shape, **self._options())  # noqa: SLF001
        return _demoted(decoded, dtype)

    def _options(self) -> dict[str, Any]:
        needed = MODES[self.mode]
        return {} if needed is None else {needed: getattr(self, needed)}


def _zfpy() -> Any:
    try:
        import zfpy
    except ImportError:
        raise UnsupportedError(
            "codec 'zfp' needs the package zfpy: pip install zfpy", codec="zfp", package="zfpy"
        ) from None
    return zfpy


def _promoted(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.dtype.name == "float16":
        return array.astype(np.float32)
    if array.dtype.name not in _PROMOTED:
        return array
    shift, middle = _PROMOTED[array.dtype.name]
    return (array.astype(np.int32) - middle) << shift


def _demoted(array: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    if dtype.name not in _PROMOTED:
        return array.astype(dtype, copy=False)
    shift, middle = _PROMOTED[dtype.name]
    limits = np.iinfo(dtype)
    values: npt.NDArray[Any] = np.clip((array >> shift) + middle, limits.min, limits.max)
    return values.astype(dtype)
