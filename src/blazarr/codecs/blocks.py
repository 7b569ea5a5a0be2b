"""``blazarr.ans`` and its kin: compressors without a standard container, in blazarr's blocks.

The bytes of a chunk are cut into blocks, each compressed alone, so that a GPU decodes many at once:
``docs/design/gpu.md`` has the layout. snappy, deflate and GDeflate are decoded and encoded everywhere;
ANS, Bitcomp and Cascaded by NVIDIA's nvCOMP on a GPU alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from blazarr.codecs.base import BytesBytesCodec, Step
from blazarr.codecs.checks import check_choice, check_integer, wrong

if TYPE_CHECKING:
    from typing import Any

    from blazarr.codecs.stage import Stage

LEAST_BLOCK, MOST_BLOCK = 4096, 16 << 20
INTEGERS: Final = tuple(f"{kind}{8 * size}" for kind in ("int", "uint") for size in (1, 2, 4, 8))


@dataclass(frozen=True, kw_only=True)
class BlocksCodec(BytesBytesCodec):
    """Blocks that are compressed one by one.

    Parameters
    ----------
    block_bytes : int
        Decoded bytes of a block: a multiple of 16 from 4 KiB to 16 MiB.
    """

    compressor: ClassVar[str]

    block_bytes: int = 65_536

    def __post_init__(self) -> None:
        check_integer(self.name, "block_bytes", self.block_bytes, LEAST_BLOCK, MOST_BLOCK)
        if self.block_bytes % 16:
            raise wrong(self.name, "block_bytes", self.block_bytes, "a multiple of 16")

    def native(self, stage: Stage) -> list[Step]:
        """Return the core's step."""
        del stage
        step: Step = {"id": "blocks", "codec": self.compressor, "block": self.block_bytes}
        tuning = self.tuning()
        return [step | {"tuning": tuning}] if tuning else [step]

    def tuning(self) -> dict[str, Any]:
        """Return what a device is told."""
        return {}

    def max_encoded(self, size: int) -> int:
        """Return the size where no block shrinks."""
        return size + 32 + 20 * (size // self.block_bytes + 1)


@dataclass(frozen=True, kw_only=True)
class SnappyCodec(BlocksCodec):
    """Snappy."""

    name: ClassVar[str] = "blazarr.snappy"
    compressor: ClassVar[str] = "snappy"


@dataclass(frozen=True, kw_only=True)
class DeflateCodec(BlocksCodec):
    """Deflate, without the wrapper of gzip or zlib."""

    name: ClassVar[str] = "blazarr.deflate"
    compressor: ClassVar[str] = "deflate"


@dataclass(frozen=True, kw_only=True)
class GDeflateCodec(BlocksCodec):
    """GDeflate: deflate whose bits a GPU reads side by side."""

    name: ClassVar[str] = "blazarr.gdeflate"
    compressor: ClassVar[str] = "gdeflate"


@dataclass(frozen=True, kw_only=True)
class TypedBlocksCodec(BlocksCodec):
    """Blocks whose compressor looks at elements.

    Parameters
    ----------
    data_type : str, optional
        The elements' type; by default the array's, or the integers of its size.
    """

    data_types: ClassVar[tuple[str, ...]] = INTEGERS

    data_type: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data_type is not None:
            check_choice(self.name, "data_type", self.data_type, self.data_types)

    def evolve(self, stage: Stage) -> TypedBlocksCodec:
        """Take the type from the array, where it isn't given."""
        return self if self.data_type else replace(self, data_type=self._type_of(stage))

    def _type_of(self, stage: Stage) -> str:
        name = np.dtype(stage.dtype).name
        if name in self.data_types and stage.dtype.itemsize == stage.item:
            return name
        same_size = f"uint{8 * stage.item}"
        return same_size if same_size in self.data_types else "uint8"

    def tuning(self) -> dict[str, Any]:
        """Return what a device is told."""
        return {"data_type": self.data_type or "uint8"}


@dataclass(frozen=True, kw_only=True)
class ANSCodec(TypedBlocksCodec):
    """Asymmetric numeral systems: entropy alone. nvCOMP 6 does not read what 5 wrote."""

    name: ClassVar[str] = "blazarr.ans"
    compressor: ClassVar[str] = "ans"
    data_types: ClassVar[tuple[str, ...]] = ("uint8", "float16")


@dataclass(frozen=True, kw_only=True)
class BitcompCodec(TypedBlocksCodec):
    """Bitcomp, for numbers.

    Parameters
    ----------
    sparse : bool
        Whether to use the algorithm for data that is mostly zero.
    """

    name: ClassVar[str] = "blazarr.bitcomp"
    compressor: ClassVar[str] = "bitcomp"

    sparse: bool = False

    def tuning(self) -> dict[str, Any]:
        """Return what a device is told."""
        return super().tuning() | {"algorithm": int(self.sparse)}


@dataclass(frozen=True, kw_only=True)
class CascadedCodec(TypedBlocksCodec):
    """Cascaded: run lengths, differences and bit packing, for integers."""

    name: ClassVar[str] = "blazarr.cascaded"
    compressor: ClassVar[str] = "cascaded"
