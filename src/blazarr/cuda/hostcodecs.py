"""The batched codecs of the host device: nvCOMP's formats by the CPU's libraries.

For ANS, Bitcomp and Cascaded the CPU has no library; what stands in for them here is deflate behind
one byte that names the format, so that all around the streams is tested.
"""

from __future__ import annotations

import ctypes
import json
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from blazarr import _core
from blazarr.cuda.device import Batch, Format
from blazarr.errors import BlazarrError

CANNOT = 12
STAND_INS = {Format.ANS, Format.BITCOMP, Format.CASCADED}
# Where these begin, the real decoders want their input and output aligned so.
ALIGNMENT = {Format.GDEFLATE: 4, Format.ANS: 16, Format.BITCOMP: 8, Format.CASCADED: 8}


def at(address: int, count: int, dtype: str) -> Any:
    """Return the array of this many items at an address."""
    nbytes = count * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_uint8 * nbytes).from_address(address), dtype)


def decode(format: Format, batch: Batch, *, poison: int) -> None:
    """Decode every stream of a batch."""
    made, statuses = _results(batch, poison)
    for number, (source, length, target, capacity) in enumerate(_columns(batch)):
        _check_alignment(format, source, target)
        try:
            content = _content(format, at(source, length, "u1").tobytes(), capacity)
        except (BlazarrError, zlib.error):
            statuses[number], made[number] = CANNOT, 0
            continue
        ctypes.memmove(target, content, len(content))
        statuses[number], made[number] = 0, len(content)


def encode(format: Format, batch: Batch, *, poison: int) -> None:
    """Encode every stream of a batch."""
    made, statuses = _results(batch, poison)
    for number, (source, length, target, capacity) in enumerate(_columns(batch)):
        assert source % 16 == target % 16 == 0, "streams begin at multiples of 16"
        assert length <= batch.largest
        encoded = stream(format, at(source, length, "u1").tobytes())
        assert len(encoded) <= capacity, "the bound was too low"
        ctypes.memmove(target, encoded, len(encoded))
        statuses[number], made[number] = 0, len(encoded)


def _results(batch: Batch, poison: int) -> tuple[Any, Any]:
    # A codec may do what it likes with its scratch.
    at(batch.temp, batch.temp_bytes, "u1")[:] = poison
    return at(batch.made, batch.count, "u8"), at(batch.statuses, batch.count, "i4")


def _columns(batch: Batch) -> Iterable[tuple[int, int, int, int]]:
    addresses = (batch.sources, batch.lengths, batch.targets, batch.capacities)
    columns = [at(address, batch.count, "u8").tolist() for address in addresses]
    return zip(*columns, strict=True)


def _check_alignment(format: Format, source: int, target: int) -> None:
    wanted = ALIGNMENT.get(format, 1)
    assert source % wanted == 0, f"a {format.name} stream begins at {source}"
    assert target % wanted == 0, f"a {format.name} stream decodes to {target}"


def _content(format: Format, stream: bytes, size: int) -> bytes:
    if format is Format.GZIP:
        return zlib.decompressobj(31).decompress(stream, size)
    if format is Format.DEFLATE:
        return zlib.decompressobj(-15).decompress(stream, size)
    if format in STAND_INS:
        if stream[:1] != bytes([format]):
            raise zlib.error("another format")
        return zlib.decompressobj(-15).decompress(stream[1:], size)
    return _core.decode_stream(format, stream, size)


def stream(format: Format, data: bytes) -> bytes:
    """Encode one stream."""
    if format is Format.ZSTD:
        return _core.codec_encode(json.dumps({"id": "zstd", "level": 1}), data)
    if format is Format.LZ4:
        # Without numcodecs' length in front.
        return _core.codec_encode(json.dumps({"id": "lz4", "acceleration": 1}), data)[4:]
    if format in {Format.SNAPPY, Format.GDEFLATE}:
        return _core.encode_stream(format, data)
    bits = 31 if format is Format.GZIP else -15
    encoder = zlib.compressobj(1, zlib.DEFLATED, bits)
    deflated = encoder.compress(data) + encoder.flush()
    return bytes([format]) + deflated if format in STAND_INS else deflated
