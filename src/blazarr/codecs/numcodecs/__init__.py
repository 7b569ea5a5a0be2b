"""Codecs of numcodecs, with zarr-python's names for them."""

from __future__ import annotations

from functools import cache
from typing import Final

from blazarr.codecs.numcodecs.base import (
    NumcodecsArrayArray,
    NumcodecsArrayBytes,
    NumcodecsBytesBytes,
    NumcodecsCodec,
    implementation,
)
from blazarr.codecs.numcodecs.checksums import CRC32, CRC32C, Adler32, Fletcher32, JenkinsLookup3
from blazarr.codecs.numcodecs.compressors import (
    BZ2,
    LZ4,
    LZMA,
    ZFPY,
    Base64,
    Blosc,
    GZip,
    PCodec,
    Shuffle,
    Zlib,
    Zstd,
)
from blazarr.codecs.numcodecs.filters import (
    AsType,
    BitRound,
    Categorize,
    Delta,
    FixedScaleOffset,
    PackBits,
    Quantize,
)
from blazarr.codecs.numcodecs.objects import Json2, MsgPack2, ObjectCodec, Pickle, VLenArray

_CODECS: Final[tuple[type[NumcodecsCodec], ...]] = (
    Adler32, AsType, BZ2, Base64, BitRound, Blosc, CRC32, CRC32C, Categorize, Delta,
    FixedScaleOffset, Fletcher32, GZip, JenkinsLookup3, Json2, LZ4, LZMA, MsgPack2, PCodec,
    PackBits, Pickle, Quantize, Shuffle, VLenArray, ZFPY, Zlib, Zstd,
)  # fmt: skip
_BY_ID: Final = {codec.codec_id: codec for codec in _CODECS}

__all__ = [
    "BARE_NAMES",
    "BZ2",
    "CRC32",
    "CRC32C",
    "LZ4",
    "LZMA",
    "ZFPY",
    "Adler32",
    "AsType",
    "Base64",
    "BitRound",
    "Blosc",
    "Categorize",
    "Delta",
    "FixedScaleOffset",
    "Fletcher32",
    "GZip",
    "JenkinsLookup3",
    "Json2",
    "MsgPack2",
    "NumcodecsArrayArray",
    "NumcodecsArrayBytes",
    "NumcodecsBytesBytes",
    "NumcodecsCodec",
    "ObjectCodec",
    "PCodec",
    "PackBits",
    "Pickle",
    "Quantize",
    "Shuffle",
    "VLenArray",
    "Zlib",
    "Zstd",
    "codec_class",
    "implementation",
]  # fmt: skip


def codec_class(codec_id: str) -> type[NumcodecsCodec] | None:
    """Return the class for an id, if it is one of numcodecs' own."""
    return _BY_ID.get(codec_id)


@cache
def plugin_class(codec_id: str) -> type[NumcodecsCodec]:
    """Return a class for a codec that another package registered with numcodecs.

    Format 2 does not say whether it takes arrays or bytes; given an array, either kind works.
    """

    class Plugin(NumcodecsArrayBytes, codec_id=codec_id):
        """A codec of another package."""

    return Plugin
