"""Codecs in documents that mean harm: an error of ours, whatever they say."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazarr.codecs.numcodecs import _BY_ID
from blazarr.codecs.registry import _BUILT_IN
from blazarr.errors import BlazarrError, MetadataError

from .chains import LITTLE, v2, v3
from .test_classes import ALL

WORDS = [
    "order", "level", "checksum", "endian", "typesize", "cname", "clevel", "shuffle", "blocksize",
    "chunk_shape", "codecs", "index_codecs", "index_location", "shape", "dtype", "astype", "keepbits",
    "offset", "scale", "data_type", "rounding", "out_of_range", "scalar_map", "encode", "decode",
    "elementsize", "labels", "digits", "encode_dtype", "decode_dtype", "location", "mode", "rate",
    "padding_encoding", "first_bit", "last_bit", "acceleration", "preset", "filters", "encoding",
]  # fmt: skip
VALUES = [
    "little", "end", "start", "<i4", ">f8", "O", "V0", "U0", "S", "zstd", "lz4", "wrap", "NaN",
    "int16", "nearest-even", "(9,9)f8", "i4,i4", "m8", "?", "c8", "bytes", "first_byte",
]  # fmt: skip
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 70)
    | st.integers()
    | st.floats()
    | st.sampled_from(VALUES)
    | st.text(max_size=4)
)
names_v3 = st.sampled_from([*_BUILT_IN, *(f"numcodecs.{name}" for name in _BY_ID), "no.such"])
documents = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
        | st.builds(lambda n, c: {"name": n, "configuration": c}, names_v3, inner)
    ),
    max_leaves=8,
)
configurations = st.dictionaries(st.sampled_from(WORDS), documents, max_size=4)


@given(
    st.lists(
        st.builds(lambda name, c: {"name": name, "configuration": c}, names_v3, configurations),
        max_size=3,
    ),
    st.sampled_from(["int32", "float64", "bool", "complex64", "string", "r24"]),
)
def test_v3(entries, data_type):
    for codecs in (entries, [*entries, LITTLE], [LITTLE, *entries]):
        with contextlib.suppress(BlazarrError):
            v3(codecs, data_type)


@given(
    st.lists(
        st.builds(
            lambda name, c: {**c, "id": name},
            st.sampled_from([*_BY_ID, "vlen-utf8"]),
            configurations,
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(["<i4", ">f8", "|b1", "<U3", "|O", "|S2"]),
    st.sampled_from(["C", "F"]),
)
def test_v2(filters, dtype, order):
    with contextlib.suppress(BlazarrError):
        v2(dtype, filters, order=order)


@given(st.data(), st.sampled_from(ALL))
def test_one_wrong_member(data, made):
    module, name, options = made
    stored = getattr(module, name)(**options).to_dict()
    configuration = dict(stored.get("configuration", {}))
    if configuration:
        configuration[data.draw(st.sampled_from(list(configuration)))] = data.draw(documents)
    entry = {"name": stored["name"], "configuration": configuration}
    for codecs in ([entry], [entry, LITTLE], [LITTLE, entry]):
        for data_type in ("float64", "int32"):
            with contextlib.suppress(BlazarrError):
                v3(codecs, data_type)


@pytest.mark.parametrize("dtype", ["V0", "U0", "O", "(9,9)f8", "i4,i4", "nonsense", 5, ["<i4"]])
def test_filters_name_types_of_a_size(dtype):
    with pytest.raises(MetadataError, match="dtype must be a plain data type"):
        v2(filters=[{"id": "delta", "dtype": dtype}])
