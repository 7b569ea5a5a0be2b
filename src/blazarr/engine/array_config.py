"""How one handle reads and writes; nothing of it is stored with the array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from blazarr.config import config
from blazarr.errors import BlazarrError

MemoryOrder = Literal["C", "F"]

# zarr-python's names for what the planner decides by cost.
_WITHOUT_EFFECT = ("sharding_coalesce_max_gap_bytes", "sharding_coalesce_max_bytes")


@dataclass(frozen=True, slots=True)
class ArrayConfig:
    """Runtime configuration of an array.

    Parameters
    ----------
    order
        Memory layout of results.
    write_empty_chunks
        Store chunks that hold nothing but the fill value.
    read_missing_chunks
        Read missing chunks as the fill value; otherwise they raise ``ChunkMissingError``.
    """

    order: MemoryOrder
    write_empty_chunks: bool
    read_missing_chunks: bool

    def __post_init__(self) -> None:
        if self.order not in ("C", "F"):
            raise BlazarrError(f"order must be 'C' or 'F', not {self.order!r}", argument="order")
        for name in ("write_empty_chunks", "read_missing_chunks"):
            if not isinstance(getattr(self, name), bool):
                raise BlazarrError(
                    f"{name} must be True or False, not {getattr(self, name)!r}", argument=name
                )

    @classmethod
    def parse(cls, given: ArrayConfigLike | None) -> ArrayConfig:
        """Return a configuration; what is not given comes from ``blazarr.config``."""
        if isinstance(given, ArrayConfig):
            return given
        settings = cls(*(config.get(f"array.{name}") for name in _NAMES))
        return settings.updated(given) if given else settings

    def updated(self, given: ArrayConfigLike) -> ArrayConfig:
        """Return this configuration with some fields changed."""
        if isinstance(given, ArrayConfig):
            return given
        unknown = set(given).difference(_NAMES, _WITHOUT_EFFECT)
        if unknown:
            raise TypeError(
                f"Unknown array config keys: {sorted(unknown)}. Valid keys are {list(_NAMES)}."
            )
        return replace(self, **{key: value for key, value in given.items() if key in _NAMES})


ArrayConfigLike = ArrayConfig | Mapping[str, Any]

_NAMES = tuple(field.name for field in fields(ArrayConfig))
