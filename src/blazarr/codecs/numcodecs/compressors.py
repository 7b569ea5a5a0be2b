"""Compressors of numcodecs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blazarr.codecs.base import Step
from blazarr.codecs.blosc import CNAMES, MAX_TYPESIZE, SHUFFLES
from blazarr.codecs.checks import check_choice, wrong
from blazarr.codecs.numcodecs.base import NumcodecsArrayBytes, NumcodecsBytesBytes
from blazarr.codecs.zstd import MAX_LEVEL

if TYPE_CHECKING:
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

    def max_encoded(self, size: int) -> int:
        """Return the bound that bzip2's manual gives."""
        return size + size // 100 + 600


class LZMA(NumcodecsBytesBytes, codec_id="lzma"):
    """LZMA, in a container of xz by default."""

    def max_encoded(self, size: int) -> int:
        """Return a bound: data that doesn't compress is stored, in blocks of 64 KiB."""
        return size + size // 1024 + 4096


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
