"""Codec objects whose names nobody registered: this process reads what they write, others say what is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from numcodecs.abc import Codec

import blazarr
from blazarr.errors import UnknownCodecError, UnsupportedError

DATA = np.arange(10, dtype="i4")


class Rotate(Codec):
    """Of numcodecs' interface."""

    codec_id = "test-rotate"

    def __init__(self, by: int = 1) -> None:
        self.by = by

    def encode(self, buf: object) -> bytes:
        data = np.ascontiguousarray(buf).view(np.uint8)
        return (data + np.uint8(self.by)).tobytes()

    def decode(self, buf: object, out: object = None) -> bytes:
        del out
        return (np.frombuffer(buf, np.uint8) - np.uint8(self.by)).tobytes()


def rotated() -> bytes:
    return (DATA[:4].view(np.uint8) + np.uint8(3)).tobytes()


def reopened_elsewhere(folder: object) -> str:
    code = f"import blazarr; a = blazarr.open_array({str(folder)!r}); print(a.shape); a[...]"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert found.stdout.strip() == "(10,)"
    return found.stderr.splitlines()[-1]


def test_an_object_of_numcodecs(tmp_path):
    array = blazarr.create_array(
        tmp_path, shape=(10,), chunks=(4,), dtype="i4", compressors=Rotate(3), zarr_format=2
    )
    array[...] = DATA
    assert json.loads((tmp_path / ".zarray").read_bytes())["compressor"] == {
        "id": "test-rotate",
        "by": 3,
    }
    assert (tmp_path / "0").read_bytes() == rotated()
    assert (blazarr.open_array(tmp_path)[...] == DATA).all()
    error = reopened_elsewhere(tmp_path)
    assert "UnknownCodecError" in error
    assert "test-rotate" in error


def test_an_object_of_numcodecs_has_no_name_in_format_3():
    with pytest.raises(UnsupportedError, match=r"compressors\[0\].*'test-rotate'.*zarr_format=2"):
        blazarr.create_array({}, shape=(10,), dtype="i4", compressors=[Rotate(3)])


def test_an_object_of_zarr_python(tmp_path):
    abc = pytest.importorskip("zarr.abc.codec")

    @dataclass(frozen=True)
    class Flip(abc.BytesBytesCodec):
        is_fixed_size = True
        key: int = 1

        @classmethod
        def from_dict(cls, data):
            return cls(**data.get("configuration", {}))

        def to_dict(self):
            return {"name": "test.flip", "configuration": {"key": self.key}}

        async def _encode_single(self, chunk_bytes, chunk_spec):
            flipped = chunk_bytes.as_numpy_array() ^ np.uint8(self.key)
            return chunk_spec.prototype.buffer.from_bytes(flipped.tobytes())

        _decode_single = _encode_single

        def compute_encoded_size(self, input_byte_length, _chunk_spec):
            return input_byte_length

    array = blazarr.create_array(
        tmp_path, shape=(10,), chunks=(4,), dtype="i4", compressors=[Flip(key=7)]
    )
    array[...] = DATA
    assert (tmp_path / "c/0").read_bytes() == (DATA[:4].view(np.uint8) ^ np.uint8(7)).tobytes()
    assert (blazarr.open_array(tmp_path)[...] == DATA).all()
    error = reopened_elsewhere(tmp_path)
    assert "UnknownCodecError" in error
    assert "test.flip" in error


def test_registered_names_stay_who_they_are():
    class Imposter:
        def to_dict(self):
            return {"name": "gzip", "configuration": {"level": 3}}

    array = blazarr.create_array({}, data=DATA, compressors=[Imposter()])
    assert array.compressors == (blazarr.codecs.GzipCodec(level=3),)


def test_what_has_a_name_and_no_interface():
    class Nothing:
        def to_dict(self):
            return {"name": "test.nothing"}

    with pytest.raises(UnknownCodecError, match=r"test\.nothing"):
        blazarr.create_array({}, data=DATA, compressors=[Nothing()])
