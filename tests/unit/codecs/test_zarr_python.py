"""Codecs that were written for zarr-python's interfaces run in our chains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from blazarr.codecs import codec_class, normalise_chain
from blazarr.dtypes import parse_data_type
from blazarr.errors import UnknownCodecError

from .chains import LITTLE, run, v3

zarr = pytest.importorskip("zarr", minversion="3.1")
abc = pytest.importorskip("zarr.abc.codec")

ARRAY = np.arange(24, dtype="i4").reshape(4, 6)


@dataclass(frozen=True)
class Xor(abc.BytesBytesCodec):
    is_fixed_size = True
    key: int = 1

    @classmethod
    def from_dict(cls, data):
        return cls(**data.get("configuration", {}))

    def to_dict(self):
        return {"name": "test.xor", "configuration": {"key": self.key}}

    async def _encode_single(self, chunk_bytes, chunk_spec):
        flipped = chunk_bytes.as_numpy_array() ^ np.uint8(self.key)
        return chunk_spec.prototype.buffer.from_bytes(flipped.tobytes())

    _decode_single = _encode_single

    def compute_encoded_size(self, input_byte_length, _chunk_spec):
        return input_byte_length


@dataclass(frozen=True)
class Negate(abc.ArrayArrayCodec):
    is_fixed_size = True

    @classmethod
    def from_dict(cls, data):
        del data
        return cls()

    def to_dict(self):
        return {"name": "test.negate"}

    async def _encode_single(self, chunk_array, chunk_spec):
        assert chunk_array.shape == chunk_spec.shape
        return chunk_spec.prototype.nd_buffer.from_numpy_array(-chunk_array.as_numpy_array())

    _decode_single = _encode_single

    def compute_encoded_size(self, input_byte_length, _chunk_spec):
        return input_byte_length


@pytest.fixture
def registered():
    for name, codec in (("test.xor", Xor), ("test.negate", Negate)):
        zarr.registry.register_codec(name, codec)


@pytest.mark.usefixtures("registered")
def test_registered_codecs_run():
    xor = {"name": "test.xor", "configuration": {"key": 5}}
    encoded, decoded = run(v3(["test.negate", LITTLE, xor]), ARRAY)
    assert encoded == bytes(byte ^ 5 for byte in (-ARRAY).tobytes())
    np.testing.assert_array_equal(decoded, ARRAY)


@pytest.mark.usefixtures("registered")
def test_objects_are_taken_for_new_arrays():
    arguments = {"filters": [Negate()], "compressors": Xor(key=3)}
    stored = normalise_chain(3, parse_data_type("i4"), (4, 6), **arguments)
    assert codec_class("test.xor") is codec_class("test.xor")
    assert stored["codecs"] == [Negate().to_dict(), LITTLE, Xor(key=3).to_dict()]


def test_codecs_that_zarr_python_does_not_know_either():
    with pytest.raises(UnknownCodecError):
        v3([LITTLE, "test.nowhere"])
