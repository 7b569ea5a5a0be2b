"""The codecs of numcodecs, which are taken wherever codecs are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

__all__ = ["Numcodec"]


@runtime_checkable
class Numcodec(Protocol):
    """What is needed of a codec of numcodecs; a subclass of `numcodecs.abc.Codec` has it."""

    codec_id: ClassVar[str]

    def encode(self, buf: Any) -> Any:
        """Encode a buffer or an array."""

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Decode a buffer, into `out` where it is given."""

    def get_config(self) -> Mapping[str, Any]:
        """Return the codec's options, with its name under ``"id"``."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Build the codec from its options."""
