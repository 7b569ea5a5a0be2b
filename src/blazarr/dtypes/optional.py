"""zarrs' ``optional``: items that may be missing; Python objects in memory, None where they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from blazarr.dtypes.base import JSON, DataType
from blazarr.dtypes.fill import mismatch
from blazarr.errors import UnsupportedError

V3_NAMES = frozenset(["optional", "zarrs.optional"])


@dataclass(frozen=True)
class Optional(DataType):
    """An item of another type, or None.

    Attributes
    ----------
    inner
        The type of the items that are there.
    """

    inner: DataType = None  # type: ignore[assignment]

    variable: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The v3 name."""
        return "optional"

    def to_v3(self) -> JSON:
        """Give the ``data_type`` member of a v3 document."""
        stored = self.inner.to_v3()
        inner = {"name": stored, "configuration": {}} if isinstance(stored, str) else stored
        return {"name": self.name, "configuration": inner}

    def to_v2(self) -> JSON:
        """Refuse."""
        raise UnsupportedError("format 2 has no data type 'optional'; use zarr_format=3")

    def fill_from_json(self, value: JSON, path: str = "fill_value", *, zarr_format: int = 3) -> Any:
        """Read null, or the item in a list of one."""
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 1:
            raise mismatch(path, "null, or a list of one item", value)
        return self.inner.fill_from_json(value[0], f"{path}[0]")

    def fill_to_json(self, fill: Any, *, zarr_format: int = 3) -> JSON:
        """Give null, or the item in a list."""
        return None if fill is None else [self.inner.fill_to_json(fill)]

    def to_fill(self, value: object) -> Any:
        """Make a fill value of what a user gave."""
        return None if value is None else self.inner.to_fill(value)

    def default_fill(self) -> Any:
        """Give None."""
        return None

    def fill_bytes(self, fill: Any) -> bytes:
        """Refuse: an item that is missing has no bytes."""
        raise UnsupportedError("items that may be missing have no fixed bytes")


def from_v3(
    configuration: dict[str, Any], path: str, parse: Callable[[JSON, str], DataType]
) -> DataType:
    """Parse the configuration, which is the inner data type."""
    inner = parse(configuration, f"{path}.configuration")
    if inner.variable:
        raise UnsupportedError(
            f"{path}: items of data type {inner.name!r} can't be optional here; numbers, times, "
            "records and text of fixed length can",
            path=path,
        )
    return Optional(np.dtype(object), inner)
