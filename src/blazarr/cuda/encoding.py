"""Which part of a codec chain a device does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blazarr.cuda.checks import Check
from blazarr.cuda.device import Format, Tuning
from blazarr.cuda.program import (
    BLOSC,
    DEVICE_ONLY,
    FRAMES,
    Filter,
    Step,
    frame_of,
    leaf,
    start_of,
)

NOTHING_TOLD = Tuning()

# How numbers of shuffles are spelled.
_SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
# Bytes of blosc's blocks where its configuration leaves them open: what nvCOMP's encoders like best.
_BLOSC_BLOCK = 1 << 16
# Shorter chunks are not compressed by it.
BLOSC_LEAST = 128

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
class BloscForm:
    """What blosc's frames say of their blocks: compressor, kind of shuffle, element size."""

    compressor: str
    shuffle: str
    size: int

    @property
    def planes(self) -> tuple[int, int] | None:
        """The number of the shuffle, and the element size; None where nothing is moved."""
        kind = _SHUFFLES[self.shuffle]
        return (kind, self.size) if kind == 2 or (kind and self.size > 1) else None


@dataclass(frozen=True)
class EncodeProgram:
    """What a device does with the chunks that are written.

    Attributes
    ----------
    device_steps
        How many steps of the chain, from its start, the device does; the core does the others.
    frame
        The compressor, the last of those steps; None where the core encodes everything.
    format
        The format of its streams.
    filters
        What undoes the filters before it, in the order in which they are done.
    swap
        Bytes in a unit that is reversed while elements are gathered; 0 for none.
    check
        The checksum that the frame carries of its content.
    block
        Bytes that are compressed on their own; 0 for whole chunks.
    tuning
        What the compressor is told.
    blosc
        How its blocks are made, where it is blosc.
    plain
        Whether chunks are stored as they are, each under a key of its own.
    """

    device_steps: int = 0
    frame: str | None = None
    format: Format | None = None
    filters: tuple[Filter, ...] = ()
    swap: int = 0
    check: Check = Check.NONE
    block: int = 0
    tuning: Tuning = NOTHING_TOLD
    blosc: BloscForm | None = None
    plain: bool = False

    @property
    def device_only(self) -> bool:
        """Whether no CPU encodes the chunks."""
        return self.frame in DEVICE_ONLY

    @property
    def moves(self) -> bool:
        """Whether something can't be done in place."""
        return bool(self.filters) or (self.blosc is not None and self.blosc.planes is not None)

    @property
    def for_core(self) -> Any:
        """The frame as the core takes it."""
        if self.frame is None:
            return None
        blosc = self.blosc and (self.blosc.compressor, self.blosc.shuffle, self.blosc.size)
        return self.frame, bool(self.check), self.block, blosc

    def stream_bytes(self, content: int) -> int:
        """Return the bytes of the longest stream of a chunk that has so many before compression."""
        return min(self.block, content) if self.block else content


def encode_program_of(chain: Mapping[str, Any], formats: frozenset[Format]) -> EncodeProgram:
    """Decide which steps of a chain a device does.

    Parameters
    ----------
    chain
        The chain as the core reads it.
    formats
        What the device encodes.
    """
    inner = leaf(chain)
    steps: Sequence[Step] = inner.get("steps", ())
    start = start_of(steps, lambda step: _encodes(step, formats))
    swap = int(inner.get("swap", 0))
    if start.frame is None:
        # Filters alone are not worth the way to the device.
        return EncodeProgram(swap=swap, plain=not steps and inner is chain)
    step = start.frame
    blosc = _blosc(step)
    return EncodeProgram(
        device_steps=start.taken,
        frame=frame_of(step),
        format=BLOSC[blosc.compressor] if blosc else next(iter(FRAMES[frame_of(step)])),
        filters=start.filters,
        swap=swap,
        check=_check(step),
        block=_block(step),
        tuning=Tuning(**step.get("tuning", {})),
        blosc=blosc,
    )


def _encodes(step: Step, formats: frozenset[Format]) -> bool:
    if step["id"] == "blosc":
        # Streams of zlib would need headers and checksums of their own; level 0 stores.
        known = step["cname"] != "zlib" and step["clevel"] > 0
        return known and BLOSC.get(step["cname"]) in formats
    frame = frame_of(step)
    return frame in ENCODED and formats >= FRAMES[frame]


def _check(step: Step) -> Check:
    match step["id"]:
        case "zstd":
            return Check.XXH64 if step.get("checksum") else Check.NONE
        case "gzip":
            return Check.CRC32
        case "zlib":
            return Check.ADLER32
    return Check.NONE


def _blosc(step: Step) -> BloscForm | None:
    if step["id"] != "blosc":
        return None
    size = int(step["typesize"])
    # Larger elements than the format can express are bytes to it.
    return BloscForm(step["cname"], step["shuffle"], size if size < 256 else 1)


def _block(step: Step) -> int:
    match step["id"]:
        case "blocks":
            return int(step["block"])
        case "blosc":
            # Whole elements that begin where encoders want them.
            unit = math.lcm(16, int(step["typesize"]))
            return max(1, (int(step.get("blocksize", 0)) or _BLOSC_BLOCK) // unit) * unit
    return 0
