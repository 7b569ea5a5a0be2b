"""numpy's datetime64 and timedelta64."""

from __future__ import annotations

from typing import Any

import numpy as np

from blazarr.dtypes.base import JSON, DataType
from blazarr.dtypes.fill import mismatch, read_bounded, unwrap
from blazarr.errors import MetadataError

_NAMES = {"numpy.datetime64": "datetime64", "numpy.timedelta64": "timedelta64"}
_UNITS = frozenset(
    ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "μs", "ns", "ps", "fs", "as", "generic"]
)
_NAT = -(2**63)

V3_NAMES = frozenset(_NAMES)


class Time(DataType):
    """A count of `scale` `unit` since 1970 (datetime64), or a span of them (timedelta64)."""

    @property
    def name(self) -> str:
        """The v3 name."""
        return "numpy.datetime64" if self.numpy.kind == "M" else "numpy.timedelta64"

    @property
    def unit(self) -> str:
        """Numpy's unit, such as ``"ms"``."""
        return str(np.datetime_data(self.numpy)[0])

    @property
    def scale(self) -> int:
        """How many units one count is."""
        return int(np.datetime_data(self.numpy)[1])

    def to_v3(self) -> JSON:
        """Give the ``data_type`` member of a v3 document."""
        return {
            "name": self.name,
            "configuration": {"unit": self.unit, "scale_factor": self.scale},
        }

    def fill_from_json(self, value: JSON, path: str = "fill_value", *, zarr_format: int = 3) -> Any:
        """Read a count, ``"NaT"``, or a date as zarr-python 3.0.7 wrote it in format 2."""
        if isinstance(value, str) and zarr_format == 2 and self.numpy.kind == "M":
            return self._from_text(value, path)
        return self._from_count(
            _NAT if value == "NaT" else read_bounded(value, _NAT, 2**63 - 1, path)
        )

    def _from_text(self, text: str, path: str) -> Any:
        try:
            return np.array(text, dtype=self.native)[()]
        except ValueError:
            raise mismatch(path, 'a count, "NaT" or a date', text) from None

    def _from_count(self, count: int) -> Any:
        return np.array(count, dtype="i8").view(self.native)[()]

    def fill_to_json(self, fill: Any, *, zarr_format: int = 3) -> JSON:
        """Give a count, as zarr-python does: NaT is the smallest integer."""
        return int(np.array(fill, dtype=self.native).view("i8"))

    def to_fill(self, value: object) -> Any:
        """Make a fill value of a count, a date, a duration or their texts."""
        value = unwrap(value)
        # Not by ``np.integer``, among which numpy counts timedelta64.
        if isinstance(value, int) or (isinstance(value, np.generic) and value.dtype.kind in "iu"):
            return self.fill_from_json(value)
        try:
            return np.array(value, dtype=self.native)[()]
        except (TypeError, ValueError, OverflowError):
            raise mismatch("fill_value", f"a {self.numpy} or a count", value) from None

    def default_fill(self) -> Any:
        """Give NaT."""
        return self._from_count(_NAT)


def from_v3(name: str, configuration: dict[str, Any], path: str) -> DataType:
    """Parse one of `V3_NAMES`."""
    unit = configuration.get("unit")
    if not isinstance(unit, str) or unit not in _UNITS:
        where = f"{path}.configuration.unit"
        raise mismatch(where, f"one of {sorted(_UNITS)}", unit)
    where = f"{path}.configuration.scale_factor"
    scale = read_bounded(configuration.get("scale_factor", 1), 1, 2**31 - 1, where)
    if unit == "generic":
        if scale != 1:
            raise MetadataError(f"{where}: a generic unit has no scale factor", path=where)
        return Time(np.dtype(_NAMES[name]))
    return Time(np.dtype(f"{_NAMES[name]}[{scale}{unit.replace('μ', 'u')}]"))


def from_numpy(dtype: np.dtype[Any]) -> DataType | None:
    """Give the data type of a datetime64 or timedelta64."""
    return Time(dtype) if dtype.kind in "mM" else None
