"""zarr-python's module names: imports of what lives in a room, and nothing else."""

import asyncio
import importlib
import subprocess
import sys

import numpy as np
import pytest

MODULES = (
    "abc.buffer",
    "abc.codec",
    "abc.metadata",
    "abc.numcodec",
    "abc.store",
    "api.asynchronous",
    "api.synchronous",
    "dtype",
    "experimental",
    "registry",
    "storage",
    "types",
)


@pytest.mark.parametrize("name", MODULES)
def test_every_name_is_there(name):
    module = importlib.import_module(f"blazarr.{name}")
    assert module.__all__
    assert all(getattr(module, item) is not None for item in module.__all__)


def test_attributes_load_the_modules():
    blazarr = importlib.import_module("blazarr")
    assert blazarr.storage.MemoryStore is blazarr.stores.MemoryStore
    assert blazarr.registry.get_codec_class("zstd") is blazarr.codecs.ZstdCodec


def test_functions_are_awaited():
    opened = importlib.import_module("blazarr.api.asynchronous")
    array = asyncio.run(opened.zeros(shape=(4,), chunks=(2,), dtype="i4"))
    assert asyncio.run(array.getitem(slice(None))).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "options", "numpy"),
    [
        ("Bool", {}, "bool"),
        ("UInt8", {}, "u1"),
        ("Int16", {"endianness": "big"}, ">i2"),
        ("Complex64", {}, "<c8"),
        ("DateTime64", {"unit": "s", "scale_factor": 10}, "<M8[10s]"),
        ("TimeDelta64", {}, "<m8"),
        ("FixedLengthUTF32", {"length": 3, "endianness": "big"}, ">U3"),
        ("NullTerminatedBytes", {"length": 5}, "S5"),
        ("RawBytes", {"length": 5}, "V5"),
    ],
)
def test_data_types(name, options, numpy):
    dtype = importlib.import_module("blazarr.dtype")
    made = getattr(dtype, name)(**options)
    assert made.numpy == np.dtype(numpy)
    assert isinstance(made, dtype.ZDType)


def test_data_types_that_hold_others():
    dtype = importlib.import_module("blazarr.dtype")
    fields = (("a", dtype.Int32()), ("b", dtype.Struct(fields=[("c", dtype.UInt8())])))
    assert dtype.Struct(fields=fields).numpy == np.dtype([("a", "i4"), ("b", [("c", "u1")])])
    assert dtype.VariableLengthUTF8().name == "string"
    assert dtype.parse_dtype({"name": "|O", "object_codec_id": "vlen-utf8"}, zarr_format=2).variable
    assert dtype.parse_dtype("<f4", zarr_format=3).name == "float32"


def test_codecs_of_numcodecs_are_known_by_what_they_have():
    numcodecs = pytest.importorskip("numcodecs")
    protocol = importlib.import_module("blazarr.abc.numcodec").Numcodec
    assert isinstance(numcodecs.Delta("i4"), protocol)
    assert not isinstance(object(), protocol)


@pytest.mark.parametrize("name", [*MODULES, "codecs.numcodecs"])
def test_modules_are_attributes_without_an_import_of_their_own(name):
    code = f"import blazarr; blazarr.{name}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_packages_have_no_other_attributes():
    blazarr = importlib.import_module("blazarr")
    assert not hasattr(blazarr.api, "nothing")
    assert not hasattr(blazarr.abc, "nothing")
