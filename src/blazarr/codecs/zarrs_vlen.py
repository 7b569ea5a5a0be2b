"""``vlen`` of zarrs: the places of all items, then their bytes, each with a chain of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from blazarr.codecs.base import JSON, ArrayBytesCodec, Buffer
from blazarr.codecs.checks import check_choice
from blazarr.codecs.pipe import Pipe
from blazarr.codecs.stage import BYTE, Stage
from blazarr.codecs.vlen import VLenBytesCodec, VLenUTF8Codec
from blazarr.errors import CorruptError, MetadataError

if TYPE_CHECKING:
    from typing import Self

    import numpy.typing as npt

    from blazarr.dtypes import DataType

_LENGTH = 8
# The most bytes that the items of one chunk may have, as for the codecs without an index.
MOST = 1 << 30
_ITEMS = {"vlen-utf8": VLenUTF8Codec(), "vlen-bytes": VLenBytesCodec()}


@dataclass(frozen=True, kw_only=True)
class VLenCodec(ArrayBytesCodec):
    """Text or bytes of any length, with an index.

    Parameters
    ----------
    index_codecs, data_codecs : list
        Chains for the places (numbers) and for the bytes.
    index_data_type : {"uint32", "uint64"}
        Type of the places.
    index_location : {"start", "end"}
        Where the index stands.
    """

    name: ClassVar[str] = "zarrs.vlen"

    index_codecs: Any
    data_codecs: Any
    index_data_type: str
    index_location: str = "start"
    # What turns an item into bytes, which the array's data type tells.
    items: VLenUTF8Codec | VLenBytesCodec | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        check_choice(self.name, "index_data_type", self.index_data_type, ("uint32", "uint64"))
        check_choice(self.name, "index_location", self.index_location, ("start", "end"))
        assert self._index.codecs
        assert self._data.codecs

    @cached_property
    def _index(self) -> Pipe:
        return Pipe.parse(self.name, "index_codecs", self.index_codecs)

    @cached_property
    def _data(self) -> Pipe:
        return Pipe.parse(self.name, "data_codecs", self.data_codecs)

    def configuration(self) -> dict[str, JSON]:
        """Return the chains and the index's form."""
        return {
            "index_codecs": self._index.to_json(),
            "data_codecs": self._data.to_json(),
            "index_data_type": self.index_data_type,
            "index_location": self.index_location,
        }

    def for_objects(self, data_type: DataType) -> Self:
        """Return the codec for the items of a data type."""
        items = _ITEMS.get(data_type.object_codec or "")
        if items is None:
            raise MetadataError(
                f"codec {self.name!r} encodes text and bytes, not {data_type.name!r}",
                codec=self.name,
            )
        made = replace(self)
        object.__setattr__(made, "items", items)
        return made

    def encode(self, array: npt.NDArray[Any]) -> Buffer:
        """Encode an array of objects."""
        assert self.items is not None
        parts = [self.items.to_bytes(item) for item in array.reshape(-1)]
        places = np.cumsum([0, *map(len, parts)], dtype=np.uint64)
        index = self._index.encode(places.astype(self.index_data_type))
        data = self._data.encode(np.frombuffer(b"".join(parts), BYTE)) if places[-1] else b""
        length = len(index).to_bytes(_LENGTH, "little")
        if self.index_location == "end":
            return data + index + length
        return length + index + data

    def decode(self, data: Buffer, stage: Stage) -> npt.NDArray[Any]:
        """Decode an array of objects."""
        assert self.items is not None
        index, content = self._apart(bytes(data))
        places = self._places(index, stage)
        total = int(places[-1])
        if total > MOST:
            raise CorruptError(f"{self.name}: items of {total} bytes in a chunk", codec=self.name)
        stored = self._data.decode(content, Stage.of(BYTE, (total,))).tobytes() if total else b""
        array = np.empty(len(places) - 1, dtype=object)
        pairs = zip(places[:-1].tolist(), places[1:].tolist(), strict=True)
        array[:] = [self.items.from_bytes(stored[start:end]) for start, end in pairs]
        return array

    def _places(self, index: bytes, stage: Stage) -> npt.NDArray[Any]:
        count = None if stage.count is None else stage.count + 1
        places = self._index.decode(index, Stage.of(np.dtype(self.index_data_type), (count,)))
        if places[0] != 0 or (places[1:] < places[:-1]).any():
            raise CorruptError(f"{self.name}: the places of the items do not rise", codec=self.name)
        return places

    def _apart(self, source: bytes) -> tuple[bytes, bytes]:
        """Split a chunk into its index and its data."""
        at_end = self.index_location == "end"
        head = source[-_LENGTH:] if at_end else source[:_LENGTH]
        rest = source[:-_LENGTH] if at_end else source[_LENGTH:]
        length = int.from_bytes(head, "little")
        if len(head) < _LENGTH or length > len(rest):
            raise CorruptError(
                f"{self.name}: no index of {length} bytes in {len(source)}", codec=self.name
            )
        if at_end:
            return rest[len(rest) - length :], rest[: len(rest) - length]
        return rest[:length], rest[length:]
