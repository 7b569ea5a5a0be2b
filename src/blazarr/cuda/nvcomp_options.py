"""Options of nvCOMP's codecs: 64 bytes each, passed by value, whose fields differ between 5 and 6."""

from __future__ import annotations

import ctypes
import struct
from typing import Final

from blazarr.cuda.device import Format, Tuning
from blazarr.errors import UnsupportedError

# The CUDA kernels, never the decompression engine of newer chips: it reports damage as success.
BACKEND_CUDA: Final = 2

# nvCOMP's numbers of data types; those of floats differ.
TYPES: Final = {
    name: number
    for number, name in enumerate(
        ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
    )
}
FLOAT16: Final = {5: 9, 6: 10}
# The type is read from the stream.
ANY_TYPE: Final = 255


class Options(ctypes.Structure):
    """Options of any codec."""

    _fields_ = (("words", ctypes.c_uint64 * 8),)

    @classmethod
    def of(cls, layout: str, *values: int) -> Options:
        """Fields in the notation of `struct`; the rest is zero."""
        return cls.from_buffer_copy(struct.pack(f"<{layout}", *values).ljust(64, b"\0"))


def decode_options(major: int, format: Format) -> Options:
    """Return the options of a decoder.

    Parameters
    ----------
    major
        nvCOMP's major version.
    format
        What is decoded.
    """
    match format, major:
        case Format.ANS, 6:
            return Options.of("ii", BACKEND_CUDA, ANY_TYPE)
        case Format.CASCADED, 6:
            return Options.of("iiii", BACKEND_CUDA, 0, ANY_TYPE, 0)
    return Options.of("i", BACKEND_CUDA)


def encode_options(major: int, format: Format, tuning: Tuning) -> Options:
    """Return the options of an encoder.

    Parameters
    ----------
    major, format
        As for `decode_options`.
    tuning
        What it is told of its input.
    """
    match format:
        case Format.DEFLATE | Format.GDEFLATE | Format.GZIP:
            return Options.of("i", 1 if tuning.algorithm is None else tuning.algorithm)
        case Format.ANS:
            # Anything but floats of 16 bits is bytes.
            number = FLOAT16[major] if tuning.data_type == "float16" else 0
            return Options.of("ii", 0, number)
        case Format.BITCOMP:
            return Options.of("ii", tuning.algorithm or 0, _type(tuning))
        case Format.CASCADED if major == 6:
            # Asymmetric, bit-packed, no coarse and all fine encodings, the default level.
            return Options.of("iiQQQB", _type(tuning), 1, 1, 0, 7, 3)
        case Format.CASCADED:
            # Pieces of 4096, two run lengths, one delta, bit-packed.
            return Options.of("Qiiii", 4096, _type(tuning), 2, 1, 1)
    return Options()


def _type(tuning: Tuning) -> int:
    if tuning.data_type not in TYPES:
        raise UnsupportedError(
            f"nvCOMP is not told of data type {tuning.data_type!r}; it knows {sorted(TYPES)}",
            argument="data_type",
        )
    return TYPES[tuning.data_type]
