"""Which part of a codec chain a device does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blazarr.cuda.checks import Check
from blazarr.cuda.device import Format, Tuning
from blazarr.cuda.program import DEVICE_ONLY, FRAMES, Step, Swap, Undelta, Unshuffle, frame_of, leaf

NOTHING_TOLD = Tuning()

# Filters by what undoes them.
Filter = Unshuffle | Swap | Undelta

# Frames that are put together of what a device encodes.
ENCODED = frozenset(
    {"zstd", "lz4", "gzip", "zlib", "snappy", "deflate", "gdeflate", "ans", "bitcomp", "cascaded"}
)

# The most bytes that one stream may be made of.
MOST_ENCODED: Mapping[Format, int] = {
    Format.ZSTD: 16_000_000,
    Format.LZ4: 1 << 24,
    Format.GZIP: 1 << 31,
    Format.DEFLATE: 1 << 31,
    Format.SNAPPY: 1 << 24,
    Format.GDEFLATE: 1 << 31,
    Format.ANS: 1 << 24,
    Format.BITCOMP: 1 << 24,
    Format.CASCADED: 1 << 24,
}


@dataclass(frozen=True)
class EncodeProgram:
    """What a device does with the chunks that are written.

    Attributes
    ----------
    device_steps
        How many steps of the chain, from its start, the device does; the core does the others.
    frame
        The compressor, the last of those steps; None where the core encodes everything.
    filters
        What comes before it, in order.
    swap
        Bytes in a unit that is reversed while elements are gathered; 0 for none.
    check
        The checksum that the frame carries of its content.
    block
        Bytes that are compressed on their own; 0 for whole chunks.
    tuning
        What the compressor is told.
    """

    device_steps: int = 0
    frame: str | None = None
    filters: tuple[Filter, ...] = ()
    swap: int = 0
    check: Check = Check.NONE
    block: int = 0
    tuning: Tuning = NOTHING_TOLD

    @property
    def format(self) -> Format | None:
        """The format of the streams."""
        return next(iter(FRAMES[self.frame])) if self.frame else None

    @property
    def device_only(self) -> bool:
        """Whether no CPU encodes the chunks."""
        return self.frame in DEVICE_ONLY

    def stream_bytes(self, decoded: int) -> int:
        """Return the bytes of the longest stream of a chunk."""
        return min(self.block, decoded) if self.block else decoded


def encode_program_of(chain: Mapping[str, Any], formats: frozenset[Format]) -> EncodeProgram:
    """Decide which steps of a chain a device does.

    Parameters
    ----------
    chain
        The chain as the core reads it.
    formats
        What the device encodes.
    """
    chain = leaf(chain)
    steps: Sequence[Step] = chain.get("steps", ())
    filters: list[Filter] = []
    for taken, step in enumerate(steps, 1):
        frame = frame_of(step)
        if frame in ENCODED and formats >= FRAMES[frame]:
            swap = int(chain.get("swap", 0))
            return EncodeProgram(
                taken, frame, tuple(filters), swap, _check(step), _block(step), _tuning(step)
            )
        done = _filter(step)
        if done is None:
            break
        filters += done
    # Filters alone are not worth the way to the device.
    return EncodeProgram()


def _filter(step: Step) -> list[Filter] | None:
    match step["id"]:
        case "shuffle":
            return [Unshuffle(int(step["elementsize"]))] if step["elementsize"] > 1 else []
        case "swap":
            return [Swap(int(step["size"]))]
        case "delta":
            dtype, stored = np.dtype(step["dtype"]), np.dtype(step["astype"])
            if dtype == stored and dtype.kind in "iu" and dtype.isnative:
                return [Undelta(dtype.itemsize)]
    return None


def _check(step: Step) -> Check:
    match step["id"]:
        case "zstd":
            return Check.XXH64 if step.get("checksum") else Check.NONE
        case "gzip":
            return Check.CRC32
        case "zlib":
            return Check.ADLER32
    return Check.NONE


def _block(step: Step) -> int:
    return int(step["block"]) if step["id"] == "blocks" else 0


def _tuning(step: Step) -> Tuning:
    return Tuning(**step.get("tuning", {}))
