"""Which part of a codec chain a device undoes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from blazarr.cuda.device import Format

Step: TypeAlias = Mapping[str, Any]

# Compressors that blazarr keeps in a container of blocks, and others in nvCOMP's own.
_IN_BLOCKS = {
    "snappy": Format.SNAPPY,
    "deflate": Format.DEFLATE,
    "gdeflate": Format.GDEFLATE,
    "ans": Format.ANS,
    "bitcomp": Format.BITCOMP,
    "cascaded": Format.CASCADED,
}
_IN_NVCOMP = {f"nvcomp-{name}": format for name, format in _IN_BLOCKS.items()}

# The streams in each compressor's frames.
FRAMES: Mapping[str, frozenset[Format]] = {
    "zstd": frozenset({Format.ZSTD}),
    "lz4": frozenset({Format.LZ4}),
    "gzip": frozenset({Format.GZIP}),
    "zlib": frozenset({Format.DEFLATE}),
    "blosc": frozenset({Format.ZSTD, Format.LZ4, Format.DEFLATE, Format.SNAPPY}),
    **{name: frozenset({format}) for name, format in (_IN_BLOCKS | _IN_NVCOMP).items()},
}
# What no CPU decodes.
DEVICE_ONLY = frozenset(
    f"{container}{name}" for container in ("", "nvcomp-") for name in ("ans", "bitcomp", "cascaded")
)
BLOSC = {
    "zstd": Format.ZSTD,
    "lz4": Format.LZ4,
    "lz4hc": Format.LZ4,
    "zlib": Format.DEFLATE,
    "snappy": Format.SNAPPY,
}

# Codecs whose decoded bytes are part of the encoded ones; the core checks and removes them.
CHECKSUMS = frozenset({"crc32c", "crc32", "adler32", "fletcher32"})


@dataclass(frozen=True)
class Unshuffle:
    """Bytes of elements are brought together."""

    size: int


@dataclass(frozen=True)
class Swap:
    """Each unit's bytes are reversed."""

    size: int


@dataclass(frozen=True)
class Undelta:
    """Integers are summed up."""

    size: int


@dataclass(frozen=True)
class Unscale:
    """Numbers are divided and shifted, and become floats."""

    kind: str
    size: int
    wide: int
    scale: float
    offset: float


@dataclass(frozen=True)
class Round:
    """Floats were rounded to fewer digits: there is nothing to undo."""

    size: int
    dropped: int


Filter: TypeAlias = Unshuffle | Swap | Undelta | Unscale | Round

# Digits of a float by its bytes.
_MANTISSA = {2: 10, 4: 23, 8: 52}


def content_bytes(filters: Sequence[Filter], decoded: Any) -> Any:
    """Return the bytes that chunks have between their compressor and their filters; of numbers and of arrays."""
    for known in filters:
        if isinstance(known, Unscale):
            decoded = decoded // known.wide * known.size
    return decoded


def whole(filters: Sequence[Filter], decoded: Any) -> Any:
    """Return which chunks of these lengths are whole elements to every filter; others the core refuses."""
    fits = decoded >= 0
    for known in filters:
        fits = fits & (decoded % (known.wide if isinstance(known, Unscale) else known.size) == 0)
        decoded = content_bytes((known,), decoded)
    return fits


@dataclass(frozen=True)
class Program:
    """What a device does with the chunks of an array.

    Attributes
    ----------
    device_steps
        How many steps of the chain, from its start, the device undoes; the core undoes the others.
    frame
        The compressor whose frames the device decodes, the last of those steps; None without one.
    filters
        What the device does to the decoded bytes, in this order.
    swap
        Bytes in a unit that is reversed while elements are placed; 0 for none.
    checked
        Whether a checksum of the encoded bytes was verified before the device sees them.
    plain
        Whether the core has nothing to do to the encoded bytes.
    reason
        Why the core does more than that, for people; empty where it does not.
    """

    device_steps: int
    frame: str | None
    filters: tuple[Filter, ...]
    swap: int
    checked: bool
    plain: bool
    reason: str = ""

    @property
    def device_only(self) -> bool:
        """Whether no CPU decodes the chunks."""
        return self.frame in DEVICE_ONLY

    @property
    def formats(self) -> frozenset[Format]:
        """The formats of streams that frames may hold."""
        return FRAMES[self.frame] if self.frame else frozenset()


def frame_of(step: Step) -> str:
    """Return the name of the frames that a step makes."""
    match step["id"]:
        case "blocks":
            return str(step["codec"])
        case "nvcomp":
            return f"nvcomp-{step['codec']}"
    return str(step["id"])


def leaf(chain: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the chain of the chunks that are decoded: the innermost of nested shards."""
    while "shard" in chain:
        chain = chain["shard"]["chain"]
    return chain


@dataclass(frozen=True)
class Start:
    """The steps at the start of a chain that a device knows, in both directions.

    Attributes
    ----------
    filters
        What undoes the filters among them, in the order in which they are done.
    taken
        How many steps.
    frame
        The last of them, where it is a compressor.
    other
        The first step that the device does not know; None where there is none, or a compressor is
        before it.
    """

    filters: tuple[Filter, ...]
    taken: int
    frame: Step | None = None
    other: Step | None = None


def start_of(steps: Sequence[Step], is_known: Callable[[Step], bool]) -> Start:
    """Look how far a device gets.

    Parameters
    ----------
    steps
        Of a chain, as the core reads them.
    is_known
        Whether it does (or undoes) a step that is a compressor.
    """
    filters: list[Filter] = []
    for number, step in enumerate(steps):
        if frame_of(step) in FRAMES and is_known(step):
            return Start(tuple(filters), number + 1, frame=step)
        known = _filter(step)
        if known is None:
            return Start(tuple(filters), number, other=step)
        filters += known
    return Start(tuple(filters), len(steps))


def program_of(chain: Mapping[str, Any], formats: frozenset[Format]) -> Program:
    """Decide which steps of a chain a device undoes.

    Parameters
    ----------
    chain
        The chain as the core reads it.
    formats
        What the device decodes.
    """
    chain = leaf(chain)
    steps: Sequence[Step] = chain.get("steps", ())
    start = start_of(steps, lambda step: _decodes(step, formats))
    reason = ""
    if start.other is not None and start.other["id"] not in CHECKSUMS:
        reason = f"no device decodes {frame_of(start.other)!r}"
        # Filters alone are not worth a second pass over the memory.
        start = Start((), 0)
    return Program(
        device_steps=start.taken,
        frame=None if start.frame is None else frame_of(start.frame),
        filters=tuple(f for f in reversed(start.filters) if not isinstance(f, Round)),
        swap=int(chain.get("swap", 0)),
        checked=any(step["id"] in CHECKSUMS for step in steps[start.taken :]),
        plain=start.frame is None and start.taken == len(steps),
        reason=reason,
    )


def _decodes(step: Step, formats: frozenset[Format]) -> bool:
    if step["id"] == "blosc":
        return BLOSC.get(step["cname"]) in formats
    return formats >= FRAMES[frame_of(step)]


def _filter(step: Step) -> list[Filter] | None:
    """What undoes a filter; None where a device can't, or not to the last bit."""
    match step["id"]:
        case "shuffle":
            return [Unshuffle(int(step["elementsize"]))] if step["elementsize"] > 1 else []
        case "swap":
            return [Swap(int(step["size"]))]
        case "bitround":
            size = int(step["itemsize"])
            dropped = _MANTISSA[size] - int(step["keepbits"])
            return [Round(size, dropped)] if dropped else []
        case "delta":
            return _undelta(step)
        case "fixedscaleoffset":
            return _unscale(step)
    return None


def _undelta(step: Step) -> list[Filter] | None:
    dtype, stored = np.dtype(step["dtype"]), np.dtype(step["astype"])
    # Sums of floats depend on their order.
    if dtype != stored or dtype.kind not in "iu" or not dtype.isnative:
        return None
    return [Undelta(dtype.itemsize)]


def _unscale(step: Step) -> list[Filter] | None:
    dtype, stored = np.dtype(step["dtype"]), np.dtype(step["astype"])
    known = dtype.str in {"<f4", "<f8"} and stored.isnative and stored.kind in "iuf"
    if not known or stored.str == "<f2":
        return None
    scale, offset = float(step["scale"]), float(step["offset"])
    return [Unscale(stored.kind, stored.itemsize, dtype.itemsize, scale, offset)]
