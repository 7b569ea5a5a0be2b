"""Codecs: their classes, and what makes a running chain of an array's codecs.

Names are zarr-python's. Classes load on use: ``blazarr.codecs.ZstdCodec``,
``blazarr.codecs.numcodecs.Delta``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from blazarr.codecs.base import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec
    from blazarr.codecs.bitround import BitRoundCodec
    from blazarr.codecs.blocks import (
        ANSCodec,
        BitcompCodec,
        CascadedCodec,
        DeflateCodec,
        GDeflateCodec,
        SnappyCodec,
    )
    from blazarr.codecs.blosc import BloscCname, BloscCodec, BloscShuffle
    from blazarr.codecs.bytes import BytesCodec, Endian
    from blazarr.codecs.cast_value import CastValue
    from blazarr.codecs.chain import CompiledChain
    from blazarr.codecs.compile import compile_chain
    from blazarr.codecs.crc32c import Crc32cCodec
    from blazarr.codecs.external import ExternalStep
    from blazarr.codecs.gzip import GzipCodec
    from blazarr.codecs.normalise import normalise_chain
    from blazarr.codecs.packbits import PackBitsCodec
    from blazarr.codecs.registry import codec_class, parse_codec, register_codec
    from blazarr.codecs.reshape import ReshapeCodec
    from blazarr.codecs.scale_offset import ScaleOffset
    from blazarr.codecs.sharding import (
        ShardingCodec,
        ShardingCodecIndexLocation,
        SubchunkWriteOrder,
    )
    from blazarr.codecs.transpose import TransposeCodec
    from blazarr.codecs.v2 import parse_v2_codec
    from blazarr.codecs.vlen import VLenBytesCodec, VLenUTF8Codec
    from blazarr.codecs.zstd import ZstdCodec

_MODULES: Final = {
    "base": ("ArrayArrayCodec", "ArrayBytesCodec", "BytesBytesCodec", "Codec"),
    "bitround": ("BitRoundCodec",),
    "blocks": (
        "ANSCodec",
        "BitcompCodec",
        "CascadedCodec",
        "DeflateCodec",
        "GDeflateCodec",
        "SnappyCodec",
    ),
    "blosc": ("BloscCname", "BloscCodec", "BloscShuffle"),
    "bytes": ("BytesCodec", "Endian"),
    "cast_value": ("CastValue",),
    "chain": ("CompiledChain",),
    "compile": ("compile_chain",),
    "crc32c": ("Crc32cCodec",),
    "external": ("ExternalStep",),
    "gzip": ("GzipCodec",),
    "normalise": ("normalise_chain",),
    "packbits": ("PackBitsCodec",),
    "registry": ("codec_class", "parse_codec", "register_codec"),
    "reshape": ("ReshapeCodec",),
    "scale_offset": ("ScaleOffset",),
    "sharding": ("ShardingCodec", "ShardingCodecIndexLocation", "SubchunkWriteOrder"),
    "transpose": ("TransposeCodec",),
    "v2": ("parse_v2_codec",),
    "vlen": ("VLenBytesCodec", "VLenUTF8Codec"),
    "zstd": ("ZstdCodec",),
}
_PLACES: Final = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "ANSCodec",
    "ArrayArrayCodec",
    "ArrayBytesCodec",
    "BitRoundCodec",
    "BitcompCodec",
    "BloscCname",
    "BloscCodec",
    "BloscShuffle",
    "BytesBytesCodec",
    "BytesCodec",
    "CascadedCodec",
    "CastValue",
    "Codec",
    "CompiledChain",
    "Crc32cCodec",
    "DeflateCodec",
    "Endian",
    "ExternalStep",
    "GDeflateCodec",
    "GzipCodec",
    "PackBitsCodec",
    "ReshapeCodec",
    "ScaleOffset",
    "ShardingCodec",
    "ShardingCodecIndexLocation",
    "SnappyCodec",
    "SubchunkWriteOrder",
    "TransposeCodec",
    "VLenBytesCodec",
    "VLenUTF8Codec",
    "ZstdCodec",
    "codec_class",
    "compile_chain",
    "normalise_chain",
    "parse_codec",
    "parse_v2_codec",
    "register_codec",
]


def __getattr__(name: str) -> Any:
    if name == "numcodecs":
        return import_module("blazarr.codecs.numcodecs")
    if name not in _PLACES:
        raise AttributeError(f"module 'blazarr.codecs' has no attribute {name!r}")
    return getattr(import_module(f"blazarr.codecs.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
