"""Codecs as users write them for zarr-python, in every kind and manner."""

import asyncio
import json
from dataclasses import dataclass, replace

import numpy as np
import zarr
from numcodecs.abc import Codec as NumcodecsCodec
from numcodecs.compat import ensure_ndarray
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr.dtype import Int64


class _Plain:
    """What the codecs here have in common: a name, no configuration, and calls that are counted."""

    is_fixed_size = False
    calls: list[str] = []  # noqa: RUF012 - counted for the whole process

    def to_dict(self):
        return {"name": type(self).__name__}

    @classmethod
    def from_dict(cls, data):
        return cls()

    def compute_encoded_size(self, length, spec):
        raise NotImplementedError


@dataclass(frozen=True)
class Inverting(_Plain, BytesBytesCodec):
    """Every bit the other way round, in the loop's own thread."""

    async def _encode_single(self, chunk, spec):
        self.calls.append("encode")
        return spec.prototype.buffer.from_array_like(~chunk.as_numpy_array())

    async def _decode_single(self, chunk, spec):
        self.calls.append("decode")
        return spec.prototype.buffer.from_array_like(~chunk.as_numpy_array())


@dataclass(frozen=True)
class Waiting(Inverting):
    """The same, waiting for the loop and for one of its threads."""

    async def _encode_single(self, chunk, spec):
        await asyncio.sleep(0)
        return await asyncio.to_thread(asyncio.run, super()._encode_single(chunk, spec))

    async def _decode_single(self, chunk, spec):
        await asyncio.sleep(0)
        return await asyncio.to_thread(asyncio.run, super()._decode_single(chunk, spec))


@dataclass(frozen=True)
class InBatches(_Plain, BytesBytesCodec):
    """Bytes in reverse; it only has methods for many chunks."""

    async def encode(self, chunks_and_specs):
        return [
            chunk and spec.prototype.buffer.from_array_like(chunk.as_numpy_array()[::-1].copy())
            for chunk, spec in chunks_and_specs
        ]

    decode = encode


@dataclass(frozen=True)
class Widening(_Plain, ArrayArrayCodec):
    """Numbers of four bytes as twice that number, in eight."""

    def resolve_metadata(self, spec):
        return replace(spec, dtype=Int64(), fill_value=np.int64(0))

    async def _encode_single(self, chunk, spec):
        assert chunk.shape == spec.shape
        return spec.prototype.nd_buffer.from_numpy_array(2 * chunk.as_numpy_array().astype("i8"))

    async def _decode_single(self, chunk, spec):
        assert chunk.dtype == "i8"
        halves = (chunk.as_numpy_array() // 2).astype(spec.dtype.to_native_dtype())
        return spec.prototype.nd_buffer.from_numpy_array(halves)


@dataclass(frozen=True)
class AsText(_Plain, ArrayBytesCodec):
    """Lists of numbers as JSON."""

    async def _encode_single(self, chunk, spec):
        text = json.dumps(chunk.as_numpy_array().tolist()).encode()
        return spec.prototype.buffer.from_bytes(text)

    async def _decode_single(self, chunk, spec):
        numbers = np.array(json.loads(chunk.to_bytes()), spec.dtype.to_native_dtype())
        return spec.prototype.nd_buffer.from_numpy_array(numbers.reshape(spec.shape))


@dataclass(frozen=True)
class Refusing(Inverting):
    """A codec that fails in a way of its own."""

    async def _decode_single(self, chunk, spec):
        raise LookupError("the key to this codec is lost")


@dataclass(frozen=True)
class Dropping(Inverting):
    """A codec that stores nothing for a chunk of nothing but one byte."""

    async def _encode_single(self, chunk, spec):
        data = chunk.as_numpy_array()
        return None if (data == data[0]).all() else await super()._encode_single(chunk, spec)


class Xor(NumcodecsCodec):
    """A compressor of numcodecs' kind."""

    codec_id = "blazarr-tests-xor"

    def __init__(self, key=0):
        self.key = key

    def encode(self, buf):
        return (ensure_ndarray(buf).reshape(-1, order="A").view("u1") ^ self.key).tobytes()

    def decode(self, buf, out=None):
        return (np.frombuffer(buf, "u1") ^ self.key).tobytes()

    def get_config(self):
        # What the key is stays with who made the codec.
        return {"id": self.codec_id}


for codec in (Inverting, Waiting, InBatches, Widening, AsText, Refusing, Dropping):
    zarr.registry.register_codec(codec.__name__, codec)
