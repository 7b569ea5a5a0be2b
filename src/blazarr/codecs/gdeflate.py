"""``zarrs.gdeflate``: deflate in pages of 64 KiB whose bits are dealt to 32 lanes, as NVIDIA's GPUs read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from blazarr.codecs.base import BytesBytesCodec, Step
from blazarr.codecs.checks import check_integer

if TYPE_CHECKING:
    from blazarr.codecs.stage import Stage


@dataclass(frozen=True, kw_only=True)
class PagedGDeflateCodec(BytesBytesCodec):
    """GDeflate as zarrs keeps it.

    Parameters
    ----------
    level : int
        From 0 (stored) to 12 (small).
    """

    name: ClassVar[str] = "zarrs.gdeflate"

    level: int = 6

    def __post_init__(self) -> None:
        check_integer(self.name, "level", self.level, 0, 12)

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step."""
        del stage
        return [{"id": "gdeflate", "level": self.level}]
