"""``crc32c``: a checksum with the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from blazarr.codecs.base import BytesBytesCodec, Step

if TYPE_CHECKING:
    from blazarr.codecs.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Crc32cCodec(BytesBytesCodec):
    """Four bytes of CRC-32C after the data."""

    name: ClassVar[str] = "crc32c"
    v2_id: ClassVar[str | None] = "crc32c"

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step."""
        del stage
        return [{"id": "crc32c"}]
