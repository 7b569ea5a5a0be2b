"""``sharding_indexed``: many small chunks in one stored object, with an index."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from blazarr.codecs.base import JSON, ArrayBytesCodec, Codec
from blazarr.codecs.bytes import BytesCodec
from blazarr.codecs.checks import check_choice, check_integers
from blazarr.codecs.crc32c import Crc32cCodec
from blazarr.codecs.registry import parse_codecs


class ShardingCodecIndexLocation(StrEnum):
    """Where the index lies in a shard."""

    start = "start"
    end = "end"


class SubchunkWriteOrder(StrEnum):
    """The order of inner chunks in a new shard; it is not stored."""

    morton = "morton"
    unordered = "unordered"
    lexicographic = "lexicographic"
    colexicographic = "colexicographic"


@dataclass(frozen=True, kw_only=True)
class ShardingCodec(ArrayBytesCodec):
    """A shard of inner chunks.

    Parameters
    ----------
    chunk_shape : int or iterable of int
        Shape of an inner chunk; it divides the shard's.
    codecs : iterable of codec
        What encodes an inner chunk.
    index_codecs : iterable of codec
        What encodes the index; its size must not depend on its content.
    index_location : {"end", "start"}
        Where the index lies.
    subchunk_write_order : str
        Accepted for zarr-python's sake; readers find inner chunks in any order.
    """

    name: ClassVar[str] = "sharding_indexed"

    chunk_shape: Any
    codecs: Iterable[Any] = (BytesCodec(endian="little"),)
    index_codecs: Iterable[Any] = (BytesCodec(endian="little"), Crc32cCodec())
    index_location: str = "end"
    subchunk_write_order: str = "morton"

    def __post_init__(self) -> None:
        shape = self.chunk_shape if isinstance(self.chunk_shape, Iterable) else (self.chunk_shape,)
        location = check_choice(
            self.name, "index_location", self.index_location, tuple(ShardingCodecIndexLocation)
        )
        order = check_choice(
            self.name, "subchunk_write_order", self.subchunk_write_order, tuple(SubchunkWriteOrder)
        )
        checked = {
            "chunk_shape": check_integers(self.name, "chunk_shape", shape, 1),
            "codecs": parse_codecs(self.codecs, "configuration.codecs"),
            "index_codecs": parse_codecs(self.index_codecs, "configuration.index_codecs"),
            "index_location": location,
            "subchunk_write_order": order,
        }
        for member, value in checked.items():
            object.__setattr__(self, member, value)

    def configuration(self) -> dict[str, JSON]:
        """Return the configuration, without the order of writing."""
        return {
            "chunk_shape": self.chunk_shape,
            "codecs": tuple(codec.to_dict() for codec in self.inner),
            "index_codecs": tuple(codec.to_dict() for codec in self.index),
            "index_location": self.index_location,
        }

    @property
    def inner(self) -> tuple[Codec, ...]:
        """The codecs of an inner chunk."""
        return tuple(self.codecs)

    @property
    def index(self) -> tuple[Codec, ...]:
        """The codecs of the index."""
        return tuple(self.index_codecs)
