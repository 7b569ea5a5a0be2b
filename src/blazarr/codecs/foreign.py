"""Codec objects of numcodecs, as codecs of format 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from blazarr.codecs.blosc import SHUFFLES, BloscCodec
from blazarr.codecs.crc32c import Crc32cCodec
from blazarr.codecs.gzip import GzipCodec
from blazarr.codecs.numcodecs import codec_class
from blazarr.codecs.v2 import parse_v2_codec
from blazarr.codecs.zstd import ZstdCodec
from blazarr.errors import UnsupportedError

if TYPE_CHECKING:
    from blazarr.codecs.base import JSON, Codec


def is_numcodecs(entry: Any) -> bool:
    """Whether an object is a codec of numcodecs, or behaves like one."""
    return hasattr(entry, "codec_id") and callable(getattr(entry, "get_config", None))


def from_numcodecs(stored: Mapping[str, JSON], where: str) -> Codec:
    """Return the codec of format 3 that does what a codec of numcodecs does.

    Codecs that the specification has are preferred to those with the prefix ``numcodecs.``, since
    more readers know them.
    """
    options = {member: value for member, value in stored.items() if member != "id"}
    match stored["id"]:
        case "zstd":
            return ZstdCodec(**options)
        case "gzip" if options.get("level", 1) in range(10):
            return GzipCodec(level=options.get("level", 1))
        case "crc32c" if options.get("location") in (None, "end"):
            return Crc32cCodec()
        case "blosc" if options.get("shuffle", 1) in (-1, 0, 1, 2):
            return _blosc(options)
        case "vlen-utf8" | "vlen-bytes":
            return parse_v2_codec(stored, where)
    found = codec_class(stored["id"])
    if found is None:
        raise UnsupportedError(
            f"{where}: codec {stored['id']!r} of numcodecs has no form in format 3; use "
            "zarr_format=2, or a codec that is written for format 3",
            path=where,
            codec=stored["id"],
        )
    return found.from_configuration(options)


def _blosc(options: dict[str, JSON]) -> Codec:
    number = options.pop("shuffle", 1)
    options = {"cname": "lz4", "clevel": 5, **options}
    return BloscCodec(shuffle=None if number < 0 else SHUFFLES[number], **options)
