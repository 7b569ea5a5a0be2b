"""Compressors of numcodecs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from blazarr.codecs.base import Buffer, Step
from blazarr.codecs.blosc import CNAMES, MAX_TYPESIZE, SHUFFLES
from blazarr.codecs.checks import check_choice, wrong
from blazarr.codecs.numcodecs.base import NumcodecsArrayBytes, NumcodecsBytesBytes
from blazarr.codecs.zstd import MAX_LEVEL
from blazarr.errors import CorruptError

if TYPE_CHECKING:
    from bz2 import BZ2Decompressor
    from lzma import LZMADecompressor

    from blazarr.codecs.stage import Stage

AUTOMATIC_SHUFFLE = -1
DEFAULT_DEFLATE_LEVEL = 6


class Blosc(NumcodecsBytesBytes, codec_id="blosc"):
    """blosc: the shuffle is a number, and elements are as large as what is encoded."""

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step."""
        size = self.number("typesize", stage.dtype.itemsize)
        cname = self._config.get("cname") or "lz4"
        return [
            {
                "id": "blosc",
                "cname": str(check_choice("blosc", "cname", cname, CNAMES)),
                "clevel": self.number("clevel", 5),
                "shuffle": self._shuffle(size),
                "typesize": size if 1 <= size <= MAX_TYPESIZE else 1,
                "blocksize": self.number("blocksize", 0),
            }
        ]

    def _shuffle(self, size: int) -> str:
        shuffle = self._config.get("shuffle")
        if isinstance(shuffle, str) and shuffle in SHUFFLES:
            return shuffle
        number = self.number("shuffle", 1)
        if number == AUTOMATIC_SHUFFLE:
            return "bitshuffle" if size == 1 else "shuffle"
        if not 0 <= number < len(SHUFFLES):
            raise wrong("blosc", "shuffle", shuffle, "-1, 0, 1 or 2")
        return str(SHUFFLES[number])


class Zstd(NumcodecsBytesBytes, codec_id="zstd"):
    """Zstandard."""

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step."""
        del stage
        checksum = bool(self._config.get("checksum"))
        # The library takes higher levels for the highest, and so did those who wrote them.
        level = min(self.number("level", 0), MAX_LEVEL)
        return [{"id": "zstd", "level": level, "checksum": checksum}]


class GZip(NumcodecsBytesBytes, codec_id="gzip"):
    """gzip."""

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step."""
        del stage
        return [{"id": "gzip", "level": _deflate_level(self.number("level", 1))}]


class Zlib(NumcodecsBytesBytes, codec_id="zlib"):
    """zlib."""

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step."""
        del stage
        return [{"id": "zlib", "level": _deflate_level(self.number("level", 1))}]


def _deflate_level(level: int) -> int:
    return DEFAULT_DEFLATE_LEVEL if level < 0 else level


class LZ4(NumcodecsBytesBytes, codec_id="lz4"):
    """LZ4 with the size of the data in front."""

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step."""
        del stage
        return [{"id": "lz4", "acceleration": max(self.number("acceleration", 1), 1)}]


class BZ2(NumcodecsBytesBytes, codec_id="bz2"):
    """bzip2."""

    def decode_bounded(self, data: Buffer, limit: int | None) -> Buffer:
        """Decode one or more streams."""
        from bz2 import BZ2Decompressor

        return _streams(BZ2Decompressor, (OSError,), data, limit, self.name)

    def max_encoded(self, size: int) -> int:
        """Return the bound that bzip2's manual gives."""
        return size + size // 100 + 600


class LZMA(NumcodecsBytesBytes, codec_id="lzma"):
    """LZMA, in a container of xz by default."""

    def decode_bounded(self, data: Buffer, limit: int | None) -> Buffer:
        """Decode one or more streams."""
        from lzma import FORMAT_RAW, LZMADecompressor, LZMAError

        theirs = self.implementation()
        filters = theirs.filters if theirs.format == FORMAT_RAW else None

        def make() -> LZMADecompressor:
            return LZMADecompressor(format=theirs.format, filters=filters)

        return _streams(make, (LZMAError,), data, limit, self.name)

    def max_encoded(self, size: int) -> int:
        """Return a bound: data that doesn't compress is stored, in blocks of 64 KiB."""
        return size + size // 1024 + 4096


def _streams(
    make: Callable[[], BZ2Decompressor | LZMADecompressor],
    failures: tuple[type[Exception], ...],
    data: Buffer,
    limit: int | None,
    codec: str,
) -> bytes:
    """Decode streams that follow each other; as in the standard library, not what comes after."""
    rest = bytes(data)
    parts: list[bytes] = []
    size = 0
    while rest:
        stream = make()
        try:
            part = stream.decompress(rest, -1 if limit is None else limit - size + 1)
        except failures:
            if parts:
                break
            raise
        parts.append(part)
        size += len(part)
        if limit is not None and size > limit:
            raise CorruptError(f"{codec}: data decodes to more than {limit} bytes", codec=codec)
        if not stream.eof:
            raise CorruptError(f"{codec}: data ends in the middle of a stream", codec=codec)
        rest = stream.unused_data
    return b"".join(parts)


class Base64(NumcodecsBytesBytes, codec_id="base64"):
    """Bytes as text."""

    def max_encoded(self, size: int) -> int:
        """Return the size of the text."""
        return 4 * ((size + 2) // 3)


class Shuffle(NumcodecsBytesBytes, codec_id="shuffle"):
    """The first bytes of all elements, then the second ones, and so on."""

    def evolve(self, stage: Stage) -> Shuffle:
        """Take the size of an element from the array's data type, where it isn't given."""
        if self._config.get("elementsize") is not None:
            return self
        return self.replaced(elementsize=stage.item)

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step, or none where there is nothing to shuffle."""
        del stage
        size = self.number("elementsize", 4)
        return [{"id": "shuffle", "elementsize": size}] if size > 1 else []


class PCodec(NumcodecsArrayBytes, codec_id="pcodec"):
    """pcodec, for arrays of numbers."""


class ZFPY(NumcodecsArrayBytes, codec_id="zfpy"):
    """zfp, for arrays of numbers."""
