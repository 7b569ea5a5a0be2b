"""What a codec implements.

Derive a frozen data class from `ArrayArrayCodec`, `ArrayBytesCodec` or `BytesBytesCodec`, and make
it known with `blazarr.registry.register_codec`, or with an entry point in the group
``blazarr.codecs``. Codecs of numcodecs and those that others wrote for zarr-python are taken too.
"""

from blazarr.codecs import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec
from blazarr.codecs.base import Buffer
from blazarr.codecs.stage import Stage

__all__ = [
    "ArrayArrayCodec",
    "ArrayBytesCodec",
    "BaseCodec",
    "Buffer",
    "BytesBytesCodec",
    "Codec",
    "Stage",
]

BaseCodec = Codec
