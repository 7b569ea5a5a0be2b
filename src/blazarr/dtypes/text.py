"""Text: fixed-length UTF-32 and variable-length UTF-8."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from blazarr.dtypes.base import JSON, DataType
from blazarr.dtypes.fill import is_legacy_zero, mismatch, read_bounded, unwrap
from blazarr.errors import MetadataError

# numpy keeps an itemsize in a C int.
MAX_BYTES = 2**31 - 1


class FixedText(DataType):
    """numpy's ``U``: a fixed number of code points, four bytes each."""

    @property
    def name(self) -> str:
        """The v3 name."""
        return "fixed_length_utf32"

    @property
    def length(self) -> int:
        """Code points in one item."""
        return self.numpy.itemsize // 4

    def to_v3(self) -> JSON:
        """Give the ``data_type`` member of a v3 document."""
        return {"name": self.name, "configuration": {"length_bytes": self.numpy.itemsize}}

    def fill_from_json(self, value: JSON, path: str = "fill_value", *, zarr_format: int = 3) -> Any:
        """Read text, or the 0 that zarr-python 2 wrote for the empty one."""
        if is_legacy_zero(value):
            return np.str_("")
        if not isinstance(value, str) or len(value) > self.length:
            raise mismatch(path, f"text of at most {self.length} characters", value)
        return np.str_(value)

    def fill_to_json(self, fill: Any, *, zarr_format: int = 3) -> JSON:
        """Give the text."""
        return str(fill)

    def to_fill(self, value: object) -> Any:
        """Make a fill value of what a user gave, cut to the item's length."""
        value = unwrap(value)
        return np.str_("" if is_legacy_zero(value) else str(value)[: self.length])

    def default_fill(self) -> Any:
        """Give the empty text."""
        return np.str_("")


class Text(DataType):
    """Text of any length, UTF-8 in the store, numpy's StringDType in memory."""

    variable: ClassVar[bool] = True
    object_codec: ClassVar[str | None] = "vlen-utf8"

    @property
    def name(self) -> str:
        """The v3 name."""
        return "string"

    def to_v2(self) -> JSON:
        """Give ``|O``; the filter says the rest."""
        return "|O"

    def fill_from_json(self, value: JSON, path: str = "fill_value", *, zarr_format: int = 3) -> Any:
        """Read text; a number means its decimal form, as for zarr-python."""
        if isinstance(value, str):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        raise mismatch(path, "text", value)

    def fill_to_json(self, fill: Any, *, zarr_format: int = 3) -> JSON:
        """Give the text."""
        return str(fill)

    def to_fill(self, value: object) -> Any:
        """Make a fill value of what a user gave."""
        return str(unwrap(value))

    def default_fill(self) -> Any:
        """Give the empty text."""
        return ""

    def fill_bytes(self, fill: Any) -> bytes:
        """Give the text as UTF-8."""
        return str(fill).encode("utf-8", "surrogatepass")


TEXT = Text(np.dtypes.StringDType())

V3_NAMES = frozenset(["fixed_length_utf32", "string"])


def from_v3(name: str, configuration: dict[str, Any], path: str) -> DataType:
    """Parse one of `V3_NAMES`."""
    if name == "string":
        return TEXT
    where = f"{path}.configuration.length_bytes"
    size = read_bounded(configuration.get("length_bytes"), 4, MAX_BYTES, where)
    if size % 4:
        raise mismatch(where, "a multiple of 4", size)
    return FixedText(np.dtype(f"U{size // 4}"))


def from_numpy(dtype: np.dtype[Any]) -> DataType | None:
    """Give the data type of ``U`` or StringDType."""
    if dtype.kind == "T":
        if hasattr(dtype, "na_object"):
            raise MetadataError(
                "a StringDType with na_object can't be stored; use numpy.dtypes.StringDType()",
                argument="dtype",
            )
        return TEXT
    return FixedText(dtype) if dtype.kind == "U" and dtype.itemsize else None
