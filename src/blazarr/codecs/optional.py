"""``optional`` of zarrs: elements that may be missing, as a mask and the others."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from blazarr.codecs.base import JSON, ArrayBytesCodec, Buffer
from blazarr.codecs.pipe import Pipe
from blazarr.codecs.stage import Stage
from blazarr.errors import CorruptError, MetadataError

if TYPE_CHECKING:
    from typing import Self

    import numpy.typing as npt

    from blazarr.dtypes import DataType

_LENGTHS = struct.Struct("<QQ")
_BOOL = np.dtype(bool)


@dataclass(frozen=True, kw_only=True)
class OptionalCodec(ArrayBytesCodec):
    """Which elements are there, and those that are.

    Parameters
    ----------
    mask_codecs, data_codecs : list
        Chains for the mask (booleans) and for the elements.
    """

    name: ClassVar[str] = "optional"

    mask_codecs: Any
    data_codecs: Any
    # The elements' type, which the array tells.
    item: np.dtype[Any] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        assert self._mask.codecs
        assert self._data.codecs

    @cached_property
    def _mask(self) -> Pipe:
        return Pipe.parse(self.name, "mask_codecs", self.mask_codecs)

    @cached_property
    def _data(self) -> Pipe:
        return Pipe.parse(self.name, "data_codecs", self.data_codecs)

    def configuration(self) -> dict[str, JSON]:
        """Return both chains."""
        return {"mask_codecs": self._mask.to_json(), "data_codecs": self._data.to_json()}

    def for_objects(self, data_type: DataType) -> Self:
        """Return the codec for the elements of a data type."""
        from blazarr.dtypes.optional import Optional

        if not isinstance(data_type, Optional):
            raise MetadataError(
                f"codec 'optional' encodes data type 'optional', not {data_type.name!r}",
                codec=self.name,
            )
        made = replace(self)
        object.__setattr__(made, "item", data_type.inner.native)
        return made

    def encode(self, array: npt.NDArray[Any]) -> Buffer:
        """Encode an array of objects, None where they are missing."""
        flat = array.reshape(-1)
        mask = np.fromiter((item is not None for item in flat), _BOOL, flat.size)
        there = np.array(flat[mask].tolist(), dtype=self.item)
        parts = self._mask.encode(mask), self._data.encode(there)
        return b"".join((_LENGTHS.pack(*map(len, parts)), *parts))

    def decode(self, data: Buffer, stage: Stage) -> npt.NDArray[Any]:
        """Decode an array of objects."""
        assert self.item is not None
        source = memoryview(bytes(data))
        mask_end = self._mask_end(source)
        mask = self._mask.decode(source[_LENGTHS.size : mask_end], Stage.of(_BOOL, (stage.count,)))
        there = np.empty(0, self.item)
        if mask.any():
            stored = Stage.of(self.item, (int(np.count_nonzero(mask)),))
            there = self._data.decode(source[mask_end:], stored)
        array = np.full(mask.size, None, dtype=object)
        array[mask] = list(there)
        return array

    def _mask_end(self, source: memoryview) -> int:
        if len(source) < _LENGTHS.size:
            raise CorruptError(f"{self.name}: {len(source)} bytes are no header", codec=self.name)
        mask, data = _LENGTHS.unpack_from(source)
        if _LENGTHS.size + mask + data != len(source):
            raise CorruptError(
                f"{self.name}: the header promises {mask} and {data} bytes, but there are "
                f"{len(source) - _LENGTHS.size}",
                codec=self.name,
            )
        return int(_LENGTHS.size + mask)
