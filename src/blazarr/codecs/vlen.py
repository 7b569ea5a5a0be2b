"""``vlen-utf8`` and ``vlen-bytes``: items of any length, each with its length in front."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from blazarr.codecs.base import JSON, ArrayBytesCodec, Buffer
from blazarr.errors import CorruptError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt

    from blazarr.codecs.stage import Stage

WORD = 4


class _VLenCodec(ArrayBytesCodec):
    def to_dict(self) -> dict[str, JSON]:
        """Return the form in format 3, with the empty configuration that zarr-python writes."""
        return {"name": self.name, "configuration": {}}

    def encode(self, array: npt.NDArray[Any]) -> Buffer:
        """Encode an array of objects."""
        return join(self.to_bytes(item) for item in np.ascontiguousarray(array).reshape(-1))

    def decode(self, data: Buffer, stage: Stage) -> npt.NDArray[Any]:
        """Decode an array of objects."""
        del stage
        items = [self.from_bytes(item) for item in split(data, self.name)]
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array

    def to_bytes(self, item: Any) -> bytes:
        """Give the bytes of an item."""
        raise NotImplementedError

    def from_bytes(self, item: bytes) -> Any:
        """Make an item of its bytes."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class VLenUTF8Codec(_VLenCodec):
    """Texts as UTF-8."""

    name: ClassVar[str] = "vlen-utf8"
    v2_id: ClassVar[str | None] = "vlen-utf8"

    def to_bytes(self, item: Any) -> bytes:
        """Give the bytes of an item."""
        if item is None or item == 0:
            # What numpy leaves in an array of objects that was never filled.
            return b""
        if not isinstance(item, str):
            raise TypeError(f"a text array takes str, not {type(item).__name__}: {item!r}")
        return item.encode("utf-8", "surrogatepass")

    def from_bytes(self, item: bytes) -> str:
        """Make an item of its bytes."""
        try:
            return item.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise CorruptError(f"vlen-utf8: {error}", codec=self.name) from error


@dataclass(frozen=True, kw_only=True)
class VLenBytesCodec(_VLenCodec):
    """Byte strings."""

    name: ClassVar[str] = "vlen-bytes"
    v2_id: ClassVar[str | None] = "vlen-bytes"

    def to_bytes(self, item: Any) -> bytes:
        """Give the bytes of an item."""
        if item is None or item == 0:
            return b""
        if not isinstance(item, (bytes, bytearray, memoryview)):
            raise TypeError(f"an array of bytes takes bytes, not {type(item).__name__}: {item!r}")
        return bytes(item)

    def from_bytes(self, item: bytes) -> bytes:
        """Make an item of its bytes."""
        return item


def join(items: Iterable[bytes]) -> bytes:
    """Write the number of items, and each item after its length."""
    parts: list[bytes] = [b""]
    for item in items:
        parts += (len(item).to_bytes(WORD, "little"), item)
    parts[0] = (len(parts) // 2).to_bytes(WORD, "little")
    return b"".join(parts)


def split(data: Buffer, codec: str) -> Iterator[bytes]:
    """Read what `join` wrote; every length is checked against what is there."""
    source = bytes(data)
    end = len(source)
    if end < WORD:
        raise CorruptError(f"{codec}: {end} bytes are too short for a header", codec=codec)
    count = int.from_bytes(source[:WORD], "little")
    if count > (end - WORD) // WORD:
        raise CorruptError(f"{codec}: {count} items do not fit into {end} bytes", codec=codec)
    at = WORD
    for number in range(count):
        start = at + WORD
        at = start + int.from_bytes(source[at:start], "little")
        if start > end or at > end:
            raise CorruptError(
                f"{codec}: item {number} reaches past the end", codec=codec, offset=at
            )
        yield source[start:at]
