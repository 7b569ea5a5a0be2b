"""``cast_value``: elements as the same numbers in another type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from blazarr.codecs.base import JSON, ArrayArrayCodec
from blazarr.codecs.casting import OUT_OF_RANGE, ROUNDING, Cast
from blazarr.codecs.checks import check_choice, wrong
from blazarr.codecs.scalars import parse_scalar
from blazarr.dtypes import DataType, parse_data_type
from blazarr.errors import UnsupportedError

if TYPE_CHECKING:
    import numpy.typing as npt

    from blazarr.codecs.stage import Stage

DIRECTIONS: Final = ("encode", "decode")


@dataclass(frozen=True, kw_only=True)
class CastValue(ArrayArrayCodec):
    """Elements cast to another type by value.

    Parameters
    ----------
    data_type : str or DataType
        The encoded type: integers or floats.
    rounding : str
        ``nearest-even``, ``towards-zero``, ``towards-positive``, ``towards-negative`` or
        ``nearest-away``.
    out_of_range : {"clamp", "wrap"} or None
        What becomes of numbers that the type can't hold; None makes them an error.
    scalar_map : mapping or None
        For ``encode`` and ``decode``, pairs of a number and what to make of it.
    """

    name: ClassVar[str] = "cast_value"
    elementwise: ClassVar[bool] = True

    data_type: Any
    rounding: str = "nearest-even"
    out_of_range: str | None = None
    scalar_map: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "data_type", _data_type(self.data_type))
        check_choice(self.name, "rounding", self.rounding, ROUNDING)
        if self.out_of_range is not None:
            check_choice(self.name, "out_of_range", self.out_of_range, OUT_OF_RANGE)
        if self.out_of_range == "wrap" and self.dtype.native.kind not in "iu":
            raise wrong(self.name, "out_of_range", "wrap", "clamp or nothing for floats")
        if self.scalar_map is not None:
            object.__setattr__(self, "scalar_map", _pairs(self.scalar_map))

    @property
    def dtype(self) -> DataType:
        """The encoded type."""
        found: DataType = self.data_type
        return found

    def configuration(self) -> dict[str, JSON]:
        """Return what differs from the defaults."""
        members: dict[str, JSON] = {"data_type": self.dtype.to_v3()}
        if self.rounding != "nearest-even":
            members["rounding"] = self.rounding
        if self.out_of_range is not None:
            members["out_of_range"] = self.out_of_range
        if self.scalar_map is not None:
            members["scalar_map"] = {
                direction: [list(pair) for pair in pairs]
                for direction, pairs in self.scalar_map.items()
            }
        return members

    def after(self, stage: Stage) -> Stage:
        """Return as many elements of the encoded type."""
        _check_number(stage.dtype)
        return stage.retyped(self.dtype.native)

    def evolve(self, stage: Stage) -> CastValue:
        """Check that the numbers of the map are elements of their types."""
        self._cast("encode", stage.dtype, self.dtype.native)
        self._cast("decode", self.dtype.native, stage.dtype)
        return self

    def encode(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Cast to the encoded type."""
        return self._cast("encode", array.dtype, self.dtype.native)(array)

    def decode(self, array: npt.NDArray[Any], stage: Stage) -> npt.NDArray[Any]:
        """Cast to the array's type."""
        return self._cast("decode", array.dtype, stage.dtype)(array)

    def _cast(self, direction: str, source: np.dtype[Any], target: np.dtype[Any]) -> Cast:
        _check_number(source)
        pairs = (self.scalar_map or {}).get(direction, ())
        member = f"scalar_map.{direction}"
        # Wrapping belongs to integers; on the way to floats there is nothing to wrap.
        out_of_range = (
            None if target.kind == "f" and self.out_of_range == "wrap" else self.out_of_range
        )
        return Cast(
            target,
            self.rounding,
            out_of_range,
            tuple(
                (
                    parse_scalar(key, source, self.name, member),
                    parse_scalar(value, target, self.name, member),
                )
                for key, value in pairs
            ),
        )


def _data_type(value: Any) -> DataType:
    found = DataType.from_v3(value) if isinstance(value, str | dict) else parse_data_type(value)
    _check_number(found.native)
    return found


def _check_number(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "iuf" or dtype.name not in _NUMBERS:
        raise UnsupportedError(
            f"codec 'cast_value' casts integers and floats of 8 to 64 bits, not {dtype}",
            codec="cast_value",
        )


_NUMBERS: Final = {
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
}


def _pairs(scalar_map: Any) -> dict[str, tuple[tuple[Any, Any], ...]]:
    """Read pairs, or a mapping, for each direction."""
    if not isinstance(scalar_map, Mapping) or not set(scalar_map) <= set(DIRECTIONS):
        raise wrong("cast_value", "scalar_map", scalar_map, "an object with encode and decode")
    found: dict[str, tuple[tuple[Any, Any], ...]] = {}
    for direction, entries in scalar_map.items():
        pairs = entries.items() if isinstance(entries, Mapping) else entries or ()
        try:
            found[direction] = tuple((key, value) for key, value in pairs)
        except (TypeError, ValueError):
            raise wrong("cast_value", f"scalar_map.{direction}", entries, "pairs") from None
    return found
