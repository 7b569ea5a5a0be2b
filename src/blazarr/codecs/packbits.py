"""``packbits``: elements of few bits, close together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from blazarr.codecs.base import JSON, ArrayBytesCodec, Buffer
from blazarr.codecs.checks import check_choice, check_integer, wrong
from blazarr.codecs.stage import BYTE, swap_unit
from blazarr.errors import CorruptError, UnsupportedError

if TYPE_CHECKING:
    import numpy.typing as npt

    from blazarr.codecs.stage import Stage

PADDINGS: Final = ("none", "first_byte", "last_byte")

# numpy keeps these in whole bytes.
_SMALL: Final = {
    "bool": 1, "int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4,
    "float6_e2m3fn": 6, "float6_e3m2fn": 6,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PackBitsCodec(ArrayBytesCodec):
    """Elements of few bits, the least significant bit first.

    Parameters
    ----------
    padding_encoding : {"none", "first_byte", "last_byte"}
        Where the number of unused bits stands.
    first_bit, last_bit : int or None
        The bits of an element to keep, both included; None for all.
    """

    name: ClassVar[str] = "packbits"

    padding_encoding: str = "none"
    first_bit: int | None = None
    last_bit: int | None = None

    def __post_init__(self) -> None:
        check_choice(self.name, "padding_encoding", self.padding_encoding, PADDINGS)
        for member in ("first_bit", "last_bit"):
            if getattr(self, member) is not None:
                check_integer(self.name, member, getattr(self, member), 0)

    def configuration(self) -> dict[str, JSON]:
        """Return what differs from the defaults."""
        given = {"first_bit": self.first_bit, "last_bit": self.last_bit}
        padding = (
            {} if self.padding_encoding == "none" else {"padding_encoding": self.padding_encoding}
        )
        return padding | {member: bit for member, bit in given.items() if bit is not None}

    def encode(self, array: npt.NDArray[Any]) -> Buffer:
        """Pack an array."""
        first, end, _ = self._bits(array.dtype)
        kept = _spread(array)[:, first:end]
        packed = np.packbits(kept.reshape(-1), bitorder="little").tobytes()
        padding = bytes([-kept.size % 8])
        match self.padding_encoding:
            case "first_byte":
                return padding + packed
            case "last_byte":
                return packed + padding
            case _:
                return packed

    def decode(self, data: Buffer, stage: Stage) -> npt.NDArray[Any]:
        """Unpack an array."""
        first, end, width = self._bits(stage.dtype)
        packed = self._without_padding(np.frombuffer(data, dtype=BYTE))
        parts = 2 if stage.dtype.kind == "c" else 1
        count = (stage.count or 0) * parts
        wanted = count * (end - first)
        if len(packed) != -(-wanted // 8):
            raise CorruptError(
                f"packbits: {len(packed)} bytes for {count} elements of {end - first} bits",
                codec=self.name,
            )
        kept = np.unpackbits(packed, count=wanted, bitorder="little").reshape(count, end - first)
        bits = np.zeros((count, 8 * (stage.dtype.itemsize // parts)), dtype=BYTE)
        bits[:, first:end] = kept
        if stage.dtype.kind == "i" or stage.dtype.name in ("int2", "int4"):
            bits[:, end:] = kept[:, -1:]
        else:
            bits[:, width:] = 0
        return np.packbits(bits, axis=1, bitorder="little").reshape(-1).view(_little(stage.dtype))

    def _without_padding(self, data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        match self.padding_encoding:
            case "first_byte":
                return data[1:]
            case "last_byte":
                return data[:-1]
            case _:
                return data

    def max_encoded(self, size: int) -> int:
        """Return a bound: packed data is never larger, but for the padding's byte."""
        return size + 1

    def _bits(self, dtype: np.dtype[Any]) -> tuple[int, int, int]:
        """The first bit, the one after the last, and the number of bits in an element."""
        if dtype.name in _SMALL:
            width = _SMALL[dtype.name]
        elif dtype.kind in "iufc":
            width = 8 * (swap_unit(dtype) or dtype.itemsize)
        else:
            raise UnsupportedError(f"codec 'packbits' can't pack {dtype}", codec=self.name)
        first = self.first_bit or 0
        last = width - 1 if self.last_bit is None else self.last_bit
        if not first <= last < width:
            raise wrong(self.name, "last_bit", last, f"from first_bit to {width - 1} for {dtype}")
        return first, last + 1, width


def _little(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("<") if swap_unit(dtype) else dtype


def _spread(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The bits of each element (of each part of a complex one) in a row."""
    elements = np.ascontiguousarray(array, dtype=_little(array.dtype)).reshape(-1)
    size = swap_unit(array.dtype) or array.dtype.itemsize
    return np.unpackbits(elements.view(BYTE).reshape(-1, size), axis=1, bitorder="little")
