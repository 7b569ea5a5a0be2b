"""``bytes``: elements one after the other, in one byte order."""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from blazarr.codecs.base import JSON, ArrayBytesCodec, Buffer, Step
from blazarr.codecs.checks import check_choice
from blazarr.codecs.stage import has_orders, swap_unit
from blazarr.errors import MetadataError

if TYPE_CHECKING:
    import numpy.typing as npt

    from blazarr.codecs.stage import Stage


class Endian(StrEnum):
    """Orders of the bytes of a number."""

    little = "little"
    big = "big"


@dataclass(frozen=True, kw_only=True)
class BytesCodec(ArrayBytesCodec):
    """Elements one after the other.

    Parameters
    ----------
    endian : {"little", "big"} or None
        Byte order; None for data types that have none.
    """

    name: ClassVar[str] = "bytes"

    endian: Literal["little", "big"] | None = sys.byteorder

    def __post_init__(self) -> None:
        if self.endian is not None:
            endian = check_choice(self.name, "endian", self.endian, tuple(Endian))
            object.__setattr__(self, "endian", endian)

    @classmethod
    def from_configuration(cls, configuration: Any) -> BytesCodec:
        """Build the codec from its configuration, where a missing order means none."""
        return super().from_configuration({"endian": None, **configuration})

    def configuration(self) -> dict[str, JSON]:
        """Return the byte order, if there is one."""
        return {} if self.endian is None else {"endian": self.endian}

    def evolve(self, stage: Stage) -> BytesCodec:
        """Drop the byte order where elements have none; ask for it where they have."""
        if not has_orders(stage.dtype):
            return dataclasses.replace(self, endian=None)
        if self.endian is None and stage.dtype.names is not None:
            # Earlier releases of zarr-python wrote structured types like this.
            return dataclasses.replace(self, endian="little")
        if self.endian is None:
            raise MetadataError(
                f"codec 'bytes': data of type {stage.dtype} needs an endian, 'little' or 'big'",
                path="configuration.endian",
                codec=self.name,
            )
        return self

    def native(self, stage: Stage) -> list[Step] | None:
        """Return a swap of byte order, or nothing where elements lie in it already."""
        stored = self.evolve(stage).stored(stage.dtype)
        if stored == stage.dtype:
            return []
        if stage.dtype.names is not None:
            return None
        return [{"id": "swap", "size": swap_unit(stage.dtype)}]

    def encode(self, array: npt.NDArray[Any]) -> Buffer:
        """Encode an array."""
        return np.ascontiguousarray(array, dtype=self.stored(array.dtype)).tobytes()

    def decode(self, data: Buffer, stage: Stage) -> npt.NDArray[Any]:
        """Decode an array."""
        return np.frombuffer(data, dtype=self.stored(stage.dtype)).astype(stage.dtype)

    def stored(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return a type in the byte order of the encoded elements."""
        return dtype if self.endian is None else dtype.newbyteorder(self.endian)
