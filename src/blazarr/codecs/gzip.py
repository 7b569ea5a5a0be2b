"""``gzip`` compression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from blazarr.codecs.base import BytesBytesCodec, Step
from blazarr.codecs.checks import check_integer

if TYPE_CHECKING:
    from blazarr.codecs.stage import Stage


@dataclass(frozen=True, kw_only=True)
class GzipCodec(BytesBytesCodec):
    """gzip.

    Parameters
    ----------
    level : int
        From 0 (stored) to 9 (small).
    """

    name: ClassVar[str] = "gzip"
    v2_id: ClassVar[str | None] = "gzip"

    level: int = 5

    def __post_init__(self) -> None:
        check_integer(self.name, "level", self.level, 0, 9)

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step."""
        del stage
        return [{"id": "gzip", "level": self.level}]
