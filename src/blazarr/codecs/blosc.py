"""``blosc``: several compressors behind a shuffle of bytes or bits."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from blazarr.codecs.base import JSON, BytesBytesCodec, Step
from blazarr.codecs.checks import check_choice, check_integer

if TYPE_CHECKING:
    from blazarr.codecs.stage import Stage


class BloscCname(StrEnum):
    """The compressors inside blosc."""

    lz4 = "lz4"
    lz4hc = "lz4hc"
    blosclz = "blosclz"
    snappy = "snappy"
    zlib = "zlib"
    zstd = "zstd"


class BloscShuffle(StrEnum):
    """How the bytes of elements are sorted before compression."""

    noshuffle = "noshuffle"
    shuffle = "shuffle"
    bitshuffle = "bitshuffle"


CNAMES = tuple(BloscCname)
SHUFFLES = tuple(BloscShuffle)

# blosc keeps the size of an element in one byte and takes larger ones for bytes.
MAX_TYPESIZE = 255


@dataclass(frozen=True, kw_only=True)
class BloscCodec(BytesBytesCodec):
    """blosc.

    Parameters
    ----------
    typesize : int or None
        Size of an element; None takes it from the array's data type.
    cname : str
        One of `BloscCname`.
    clevel : int
        From 0 (stored) to 9 (small).
    shuffle : str or None
        One of `BloscShuffle`; None takes ``bitshuffle`` for one-byte elements, else ``shuffle``.
    blocksize : int
        Size of blosc's own blocks; 0 leaves it to blosc.
    """

    name: ClassVar[str] = "blosc"
    v2_id: ClassVar[str | None] = "blosc"

    typesize: int | None = None
    cname: str = "zstd"
    clevel: int = 5
    shuffle: str | None = None
    blocksize: int = 0

    def __post_init__(self) -> None:
        if self.typesize is not None:
            check_integer(self.name, "typesize", self.typesize, 1)
        if self.shuffle is not None:
            shuffle = check_choice(self.name, "shuffle", self.shuffle, SHUFFLES)
            object.__setattr__(self, "shuffle", shuffle)
        object.__setattr__(self, "cname", check_choice(self.name, "cname", self.cname, CNAMES))
        check_integer(self.name, "clevel", self.clevel, 0, 9)
        check_integer(self.name, "blocksize", self.blocksize, 0)

    @classmethod
    def from_configuration(cls, configuration: Any) -> BloscCodec:
        """Build the codec from its configuration, where a size of 1 goes without saying."""
        return super().from_configuration({"typesize": 1, **configuration})

    def configuration(self) -> dict[str, JSON]:
        """Return the configuration; what depends on the data type as for one-byte elements."""
        return super().configuration() | {
            "typesize": self.typesize or 1,
            "shuffle": self.shuffle or "bitshuffle",
        }

    def to_v2(self) -> dict[str, JSON]:
        """Return the form in format 2, which has numbers for shuffles (-1 for automatic)."""
        shuffle = -1 if self.shuffle is None else SHUFFLES.index(BloscShuffle(self.shuffle))
        return {
            "id": "blosc",
            "cname": self.cname,
            "clevel": self.clevel,
            "shuffle": shuffle,
            "blocksize": self.blocksize,
        }

    def evolve(self, stage: Stage) -> BloscCodec:
        """Fill in the size of an element, and the shuffle that suits it."""
        return dataclasses.replace(
            self,
            typesize=self.typesize or stage.item or 1,
            shuffle=self.shuffle or ("bitshuffle" if stage.item == 1 else "shuffle"),
        )

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step."""
        evolved = self.evolve(stage)
        size = evolved.typesize or 1
        typesize = size if size <= MAX_TYPESIZE else 1
        return [{"id": "blosc", **evolved.configuration(), "typesize": typesize}]
