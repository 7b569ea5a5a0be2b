"""Codecs of numcodecs, with zarr-python's names for them."""

from __future__ import annotations

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

# Format 3 has its own codecs of the other names.
BARE_NAMES: Final = _BY_ID.keys() - {"blosc", "crc32c", "gzip", "packbits", "bitround", "zstd"}

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


def codec_class(codec_id: str) -> type[NumcodecsCodec]:
    """Return the class for an id; one that numcodecs got from a plug-in compresses bytes."""
    known = _BY_ID.get(codec_id)
    if known is not None:
        return known

    class Plugin(NumcodecsBytesBytes, codec_id=codec_id):
        """A codec that another package registered with numcodecs."""

    return Plugin
