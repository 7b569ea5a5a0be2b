"""Numbers of one type as numbers of another: rounding and range as ``cast_value`` has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from blazarr.errors import BlazarrError

if TYPE_CHECKING:
    import numpy.typing as npt

ROUNDING: Final = (
    "nearest-even",
    "towards-zero",
    "towards-positive",
    "towards-negative",
    "nearest-away",
)
OUT_OF_RANGE: Final = ("clamp", "wrap")


@dataclass(frozen=True)
class Cast:
    """A way to cast arrays.

    Attributes
    ----------
    target : numpy.dtype
    rounding : str
        One of `ROUNDING`.
    out_of_range : str or None
        One of `OUT_OF_RANGE`, or None for an error.
    mapped : tuple of pairs
        Numbers that become other numbers, before anything else; the first match counts.
    """

    target: np.dtype[Any]
    rounding: str
    out_of_range: str | None
    mapped: tuple[tuple[Any, Any], ...] = ()

    def __call__(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return an array of the target type."""
        source = array.astype(array.dtype.newbyteorder("="), copy=False)
        # Mapped numbers are cast as zeros first, so that they can't be errors.
        plain = source.copy() if self.mapped else source
        places = []
        for key, value in self.mapped:
            where = np.isnan(source) if np.isnan(key) else source == key
            places.append((where, value))
            plain[where] = 0
        with np.errstate(all="ignore"):
            result = self._cast(plain).astype(self.target)
        for where, value in reversed(places):
            result[where] = value
        return result

    def _cast(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self.target.kind == "f":
            return self._to_float(values)
        if values.dtype.kind == "f":
            return self._float_to_integer(values)
        return self._integer_to_integer(values)

    def _integer_to_integer(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        limits = np.iinfo(self.target)
        if not values.size or (limits.min <= int(values.min()) and int(values.max()) <= limits.max):
            return values
        self._refuse_unless_allowed(values, (int(values.min()), int(values.max())))
        if self.out_of_range == "wrap":
            return values
        # The bounds as the source has them: numpy would compare through floats else.
        own = np.iinfo(values.dtype)
        low, high = max(int(limits.min), int(own.min)), min(int(limits.max), int(own.max))
        return np.asarray(np.clip(values, values.dtype.type(low), values.dtype.type(high)))

    def _float_to_integer(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if not np.isfinite(values).all():
            raise BlazarrError(
                f"codec 'cast_value': {self.target} has no NaN and no infinity; "
                "scalar_map can say what they become",
                codec="cast_value",
            )
        whole = _to_whole(values, self.rounding).astype(np.float64)
        limits = np.iinfo(self.target)
        # Powers of two, which float64 has exactly.
        low, end = float(limits.min), float(int(limits.max) + 1)
        outside = (whole < low) | (whole >= end)
        if not outside.any():
            return whole.astype(self.target)
        self._refuse_unless_allowed(values, (values[outside].min(), values[outside].max()))
        if self.out_of_range == "wrap":
            # fmod is exact where mod would have to round; the sign follows as integers wrap.
            size = np.fmod(np.abs(whole), end - low).astype(np.uint64)
            return np.where(whole < 0, -size, size)
        inside = np.where(outside, 0, whole).astype(self.target)
        return np.where(whole < low, limits.min, np.where(whole >= end, limits.max, inside))

    def _to_float(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        result = nearest = values.astype(self.target)
        if self.rounding != "nearest-even":
            result = _directed(values, nearest, self.rounding)
        # Rounded down to the largest float are only numbers that lie closer than the next would.
        end = np.ldexp(1.0, np.finfo(self.target).maxexp)
        outside = np.isfinite(values) & (np.isinf(result) | (np.abs(values.astype(float)) >= end))
        if not outside.any():
            return result
        self._refuse_unless_allowed(values, (values[outside].min(), values[outside].max()))
        return np.where(outside, np.copysign(self.target.type(np.inf), values), result)

    def _refuse_unless_allowed(self, values: npt.NDArray[Any], ends: tuple[Any, Any]) -> None:
        if self.out_of_range is None:
            raise BlazarrError(
                f"codec 'cast_value': numbers from {ends[0]} to {ends[1]} ({values.dtype}) don't "
                f"fit {self.target}; out_of_range can say what they become",
                codec="cast_value",
            )


def _to_whole(values: npt.NDArray[Any], rounding: str) -> npt.NDArray[Any]:
    match rounding:
        case "nearest-even":
            return np.asarray(np.rint(values))
        case "towards-zero":
            return np.asarray(np.trunc(values))
        case "towards-positive":
            return np.asarray(np.ceil(values))
        case "towards-negative":
            return np.asarray(np.floor(values))
        case _:
            whole = np.trunc(values)
            away = np.abs(values - whole) >= 0.5  # exact, unlike adding a half
            return np.asarray(whole + np.where(away, np.copysign(1, values), 0))


def _directed(
    values: npt.NDArray[Any], nearest: npt.NDArray[Any], rounding: str
) -> npt.NDArray[Any]:
    """Correct a nearest float to a direction, comparing exactly."""
    inexact = np.flatnonzero(_inexact(values, nearest))
    result = nearest.reshape(-1).copy()
    flat = values.reshape(-1)
    for place in inexact:
        result[place] = _corrected(flat[place].item(), result[place], rounding)
    return result.reshape(values.shape)


def _inexact(values: npt.NDArray[Any], nearest: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.asarray((nearest.astype(np.float64) != values) & ~np.isnan(values))
    exact = 1 << (np.finfo(nearest.dtype).nmant + 1)
    small = (values <= exact) & (values >= -exact if values.dtype.kind == "i" else True)
    return np.asarray(~small | np.isinf(nearest))


def _corrected(value: float, nearest: Any, rounding: str) -> Any:
    """Python compares integers and floats exactly, which numpy does not."""
    found = nearest.item()
    if rounding == "nearest-away":
        return _away_from_tie(value, nearest)
    rising = rounding == "towards-positive" or (rounding == "towards-zero" and value < 0)
    wrong_side = found < value if rising else found > value
    if not wrong_side:
        return nearest
    return np.nextafter(nearest, nearest.dtype.type(np.inf if rising else -np.inf))


def _away_from_tie(value: float, nearest: Any) -> Any:
    from fractions import Fraction

    outward = np.nextafter(nearest, nearest.dtype.type(np.copysign(np.inf, value)))
    if not (np.isfinite(nearest) and np.isfinite(outward)):
        return nearest
    tie = Fraction(outward.item()) - Fraction(value) == Fraction(value) - Fraction(nearest.item())
    return outward if tie else nearest
