"""``czarr.ans`` and its kin: nvCOMP's own container, as czarr writes it. Read, not written.

The CPU reads snappy, deflate and GDeflate, a GPU all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from blazarr.codecs.base import JSON, BytesBytesCodec, Step

if TYPE_CHECKING:
    from typing import Self

    from blazarr.codecs.stage import Stage


class CzarrCodec(BytesBytesCodec):
    """A compressor of nvCOMP in its container, which says all that decoding needs.

    Parameters
    ----------
    configuration : mapping
        What czarr stores; it is kept as it is, and has no effect.
    """

    compressor: ClassVar[str]

    def __init__(self, configuration: Mapping[str, JSON]) -> None:
        self._configuration = dict(configuration)

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, JSON]) -> Self:
        """Build the codec from the members of its configuration."""
        return cls(configuration)

    def configuration(self) -> dict[str, JSON]:
        """Return the members of the codec's configuration."""
        return dict(self._configuration)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._configuration == other._configuration

    def __hash__(self) -> int:
        return hash((type(self), repr(self._configuration)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._configuration})"

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step."""
        del stage
        return [{"id": "nvcomp", "codec": self.compressor}]


class CzarrANS(CzarrCodec):
    """``czarr.ans``."""

    name = "czarr.ans"
    compressor = "ans"


class CzarrBitcomp(CzarrCodec):
    """``czarr.bitcomp``."""

    name = "czarr.bitcomp"
    compressor = "bitcomp"


class CzarrCascaded(CzarrCodec):
    """``czarr.cascaded``."""

    name = "czarr.cascaded"
    compressor = "cascaded"


class CzarrSnappy(CzarrCodec):
    """``czarr.snappy``."""

    name = "czarr.snappy"
    compressor = "snappy"


class CzarrDeflate(CzarrCodec):
    """``czarr.deflate``."""

    name = "czarr.deflate"
    compressor = "deflate"


class CzarrGDeflate(CzarrCodec):
    """``czarr.gdeflate``."""

    name = "czarr.gdeflate"
    compressor = "gdeflate"
