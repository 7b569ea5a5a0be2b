"""The contract that third parties run, on codecs of every kind and origin."""

from dataclasses import dataclass
from typing import ClassVar

import numcodecs
import numpy as np
import pytest
import zarr.codecs

from blazarr.codecs import (
    ArrayArrayCodec,
    ArrayBytesCodec,
    BytesBytesCodec,
    GzipCodec,
    register_codec,
)
from blazarr.codecs.numcodecs import BZ2, Delta
from blazarr.errors import CorruptError
from blazarr.testing.codec_contract import CodecContract


@register_codec
@dataclass(frozen=True)
class Reversed(BytesBytesCodec):
    """Bytes backwards, after a mark."""

    name: ClassVar[str] = "test.reversed"
    mark: str = "<"

    def encode(self, data):
        return self.mark.encode() + bytes(data)[::-1]

    def decode(self, data):
        if bytes(data[:1]) != self.mark.encode():
            raise CorruptError("the mark is missing", codec=self.name)
        return bytes(data)[:0:-1]


@register_codec
@dataclass(frozen=True)
class Negated(ArrayArrayCodec):
    """Numbers with the other sign."""

    name: ClassVar[str] = "test.negated"
    elementwise: ClassVar[bool] = True

    def encode(self, array):
        return np.negative(array)

    def decode(self, array, stage):
        return np.negative(array)


@register_codec
@dataclass(frozen=True)
class AsText(ArrayBytesCodec):
    """Numbers as decimal digits."""

    name: ClassVar[str] = "test.text"

    def encode(self, array):
        return " ".join(map(repr, array.reshape(-1).tolist())).encode()

    def decode(self, data, stage):
        numbers = [float(number) for number in bytes(data).decode().split()]
        return np.array(numbers).reshape(stage.shape).astype(stage.dtype)

    def max_encoded(self, size):
        return 32 * size + 32


CODECS = {
    "own bytes": (Reversed(), {}),
    "own filter": (Negated(), {}),
    "own serializer": (AsText(), {}),
    "built in": (GzipCodec(level=1), {}),
    "document": ({"name": "zstd", "configuration": {"level": 1, "checksum": True}}, {}),
    "external": (BZ2(level=1), {}),
    "filter of numcodecs": (Delta(dtype="<i4"), {"dtypes": ("int32",), "sharded": True}),
    "numcodecs": (numcodecs.LZMA(preset=1), {}),
    "numcodecs with loss": (
        numcodecs.Quantize(1, "<f8"), {"dtypes": ("float64",), "tolerance": 0.1},
    ),
    "zarr-python": (zarr.codecs.BloscCodec(cname="lz4"), {}),
    "n5": (
        {"name": "n5_default", "configuration": {"codecs": [
            {"name": "transpose", "configuration": {"order": [1, 0]}},
            {"name": "bytes", "configuration": {"endian": "big"}},
        ]}},
        {},
    ),
}  # fmt: skip


def contract(codec, options):
    class Contract(CodecContract):
        @pytest.fixture
        def codec(self):
            return codec

    for name, value in options.items():
        setattr(Contract, name, value)
    return Contract


for number, (codec, options) in enumerate(CODECS.values()):
    globals()[f"TestCodec{number}"] = contract(codec, options)


class Forgetful(Reversed):
    """A codec that loses its option on the way to the document."""

    name: ClassVar[str] = "test.forgetful"

    def configuration(self):
        return {}


class Careless(Reversed):
    """A codec whose failures are nobody's errors."""

    name: ClassVar[str] = "test.careless"

    def decode(self, data):
        return bytes(data)


@pytest.mark.parametrize(
    ("codec", "test"),
    [
        (Careless(), "test_what_is_written_is_read"),
        (Forgetful("!"), "test_its_form_in_documents"),
    ],
)
def test_the_contract_finds_faults(codec, test):
    register_codec(type(codec))
    with pytest.raises((AssertionError, CorruptError)):
        getattr(CodecContract(), test)(codec)
