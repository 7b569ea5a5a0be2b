"""``zstd`` compression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from blazarr.codecs.base import JSON, BytesBytesCodec, Step
from blazarr.codecs.checks import check_flag, check_integer

if TYPE_CHECKING:
    from blazarr.codecs.stage import Stage

MIN_LEVEL, MAX_LEVEL = -131072, 22


@dataclass(frozen=True, kw_only=True)
class ZstdCodec(BytesBytesCodec):
    """Zstandard.

    Parameters
    ----------
    level : int
        From -131072 (fast) to 22 (small); 0 stands for the library's default, 3.
    checksum : bool
        Whether each chunk carries a checksum of its data.
    """

    name: ClassVar[str] = "zstd"
    v2_id: ClassVar[str | None] = "zstd"

    level: int = 0
    checksum: bool = False

    def __post_init__(self) -> None:
        check_integer(self.name, "level", self.level, MIN_LEVEL, MAX_LEVEL)
        check_flag(self.name, "checksum", self.checksum)

    def to_v2(self) -> dict[str, JSON]:
        """Return the form in format 2, where other readers refuse a checksum member."""
        return {"id": "zstd", "level": self.level} | ({"checksum": True} if self.checksum else {})

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step."""
        del stage
        return [{"id": "zstd", "level": self.level, "checksum": self.checksum}]
