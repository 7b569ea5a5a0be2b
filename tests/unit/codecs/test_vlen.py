"""Items of any length: the layout is numcodecs', and nothing in it is believed unchecked."""

from __future__ import annotations

import contextlib

import numcodecs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazarr.codecs import VLenBytesCodec, VLenUTF8Codec
from blazarr.codecs.stage import Stage
from blazarr.errors import CorruptError

STAGE = Stage.of(np.dtype(object), (1,))


@given(st.lists(st.text()))
def test_text_is_numcodecs(texts):
    array = np.array(texts, dtype=object)
    codec, reference = VLenUTF8Codec(), numcodecs.VLenUTF8()
    encoded = codec.encode(array)
    if texts:
        assert encoded == bytes(reference.encode(array))
    assert codec.decode(encoded, STAGE).tolist() == texts


@given(st.lists(st.binary()))
def test_bytes_are_numcodecs(items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    codec, reference = VLenBytesCodec(), numcodecs.VLenBytes()
    encoded = codec.encode(array)
    if items:
        assert encoded == bytes(reference.encode(array))
    assert codec.decode(encoded, STAGE).tolist() == items


@given(st.binary(max_size=40))
def test_noise_is_an_error_or_items(data):
    for codec in (VLenUTF8Codec(), VLenBytesCodec()):
        with contextlib.suppress(CorruptError):
            assert len(codec.decode(data, STAGE)) <= len(data)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\1\0", "2 bytes are too short for a header"),
        (b"\xff\xff\xff\xff\0\0\0\0", "4294967295 items do not fit into 8 bytes"),
        (b"\1\0\0\0\5\0\0\0ab", "item 0 reaches past the end"),
        (b"\1\0\0\0\1\0\0\0\xff", "can't decode byte 0xff"),
    ],
)
def test_damage_is_named(data, text):
    with pytest.raises(CorruptError, match=text):
        VLenUTF8Codec().decode(data, STAGE)


def test_strings_of_numpy_encode():
    array = np.array(["a", "ü"], dtype=np.dtypes.StringDType())
    assert VLenUTF8Codec().encode(array) == VLenUTF8Codec().encode(array.astype(object))


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match="a text array takes str, not int: 5"):
        VLenUTF8Codec().encode(np.array([5], dtype=object))
    with pytest.raises(TypeError, match="an array of bytes takes bytes, not str"):
        VLenBytesCodec().encode(np.array(["a"], dtype=object))
