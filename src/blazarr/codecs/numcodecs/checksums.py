"""Checksums of numcodecs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from blazarr.codecs.base import Step
from blazarr.codecs.checks import check_choice
from blazarr.codecs.numcodecs.base import NumcodecsBytesBytes

if TYPE_CHECKING:
    from blazarr.codecs.stage import Stage

SIZE = 4


class _Checksum(NumcodecsBytesBytes):
    def max_encoded(self, size: int) -> int:
        """Return the size with the checksum."""
        return size + SIZE


class _Located(_Checksum):
    default_location: ClassVar[str] = "start"

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step."""
        del stage
        location = self._config.get("location") or self.default_location
        checked = check_choice(self.codec_id, "location", location, ("start", "end"))
        return [{"id": self.codec_id, "location": checked}]


class CRC32(_Located, codec_id="crc32"):
    """CRC-32, before the data unless told otherwise."""


class CRC32C(_Located, codec_id="crc32c"):
    """CRC-32C, after the data unless told otherwise."""

    default_location: ClassVar[str] = "end"


class Adler32(_Located, codec_id="adler32"):
    """Adler-32, before the data unless told otherwise."""


class Fletcher32(_Checksum, codec_id="fletcher32"):
    """HDF5's Fletcher-32, after the data."""

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step."""
        del stage
        return [{"id": "fletcher32"}]


class JenkinsLookup3(_Checksum, codec_id="jenkins_lookup3"):
    """Jenkins' lookup3, after the data."""
