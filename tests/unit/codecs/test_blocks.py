"""blazarr's container of blocks, and czarr's names."""

import json

import numpy as np
import pytest

import blazarr
from blazarr.codecs import codec_class, parse_codec
from blazarr.errors import MetadataError, UnsupportedError


def array(codec, dtype="i4", **kwargs):
    store = {}
    made = blazarr.create_array(
        store, shape=(50, 3000), chunks=(20, 1500), dtype=dtype, compressors=codec, **kwargs
    )
    return store, made


@pytest.mark.parametrize("name", ["blazarr.snappy", "blazarr.deflate", "blazarr.gdeflate"])
def test_compressors_that_the_cpu_has_too(name):
    store, made = array([{"name": "numcodecs.shuffle"}, {"name": name}, {"name": "crc32c"}])
    data = np.arange(150_000, dtype="i4").reshape(50, 3000)
    made[...] = data
    assert (blazarr.open_array(store)[...] == data).all()
    assert sum(len(value) for key, value in store.items() if "c/" in key) < data.nbytes // 2
    made[3:5, ::7] = 1
    data[3:5, ::7] = 1
    assert (made[...] == data).all()


@pytest.mark.parametrize("name", ["ans", "bitcomp", "cascaded"])
def test_what_only_a_gpu_decodes_says_so(name):
    _, made = array({"name": f"blazarr.{name}"})
    with pytest.raises(UnsupportedError, match="cuda"):
        made[...] = 5
    assert (made[...] == 0).all()


def test_types_come_from_the_array():
    def stored(name, dtype):
        store, _ = array({"name": f"blazarr.{name}"}, dtype)
        (codec,) = json.loads(bytes(store["zarr.json"]))["codecs"][1:]
        return codec["configuration"]

    assert stored("cascaded", "i2") == {"block_bytes": 65_536, "data_type": "int16"}
    assert stored("bitcomp", "f8") == {
        "block_bytes": 65_536,
        "data_type": "uint64",
        "sparse": False,
    }
    assert stored("ans", "f2")["data_type"] == "float16"
    assert stored("ans", "f4")["data_type"] == "uint8"
    assert stored("bitcomp", "c16")["data_type"] == "uint8"


@pytest.mark.parametrize("size", [0, 100, 4104, 1 << 25, "64K"])
def test_sizes_of_blocks_are_checked(size):
    with pytest.raises(MetadataError, match="block_bytes"):
        parse_codec({"name": "blazarr.ans", "configuration": {"block_bytes": size}}, "codecs")


def test_names_of_czarr_are_read_and_kept():
    configuration = {
        "chunk_size": 65_536,
        "checksum_policy": "NO_COMPUTE_NO_VERIFY",
        "device_id": None,
        "algorithm_type": 0,
    }
    for name in ("ans", "bitcomp", "cascaded", "deflate", "gdeflate", "snappy"):
        document = {"name": f"czarr.{name}", "configuration": configuration}
        codec = parse_codec(document, "codecs")
        assert codec.to_dict() == document
        assert codec == codec_class(f"czarr.{name}").from_dict(document)
        store, made = array(document)
        with pytest.raises(UnsupportedError, match="read, not written"):
            made[...] = 1
        store["c/0/0"] = bytes(100)
        with pytest.raises(blazarr.errors.CorruptError, match="container"):
            made[0, 0]
