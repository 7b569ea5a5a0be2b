"""GDeflate on the CPU: streams that NVIDIA's library wrote, zarrs' pages, blazarr's blocks, nvCOMP's container."""

import base64
import ctypes
import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest

import blazarr
from blazarr.codecs import parse_codec
from blazarr.errors import CorruptError, MetadataError

# What nvCOMP 6.0's compressor for the CPU made of the data of the same name, at level 12.
STREAMS = json.loads((Path(__file__).parent / "gdeflate.json").read_text())


def samples() -> dict[str, bytes]:
    steps = np.random.default_rng(7).integers(-3, 4, 900)
    return {
        "one": b"a",
        "text": b"lanes of a stream, streams of lanes; " * 40,
        "zeros": bytes(65_536),
        "noise": bytes((k * 167 + k * k % 251) % 256 for k in range(700)),
        "far": bytes(range(256))
        + bytes(40_000)
        + bytes(range(256))
        + bytes(20_000)
        + bytes(range(200)),
        "walk": np.cumsum(steps).astype("<i4").tobytes(),
    }


def pages(decoded: int, *streams: bytes) -> bytes:
    lengths = [decoded, len(streams), *map(len, streams)]
    return struct.pack(f"<{len(lengths)}Q", *lengths) + b"".join(streams)


def blocks(data: bytes, stream: bytes) -> bytes:
    header = struct.pack("<QIII", len(data), 65_536, 0, len(stream))
    return header.ljust(32, b"\0") + stream.ljust(-(-len(stream) // 16) * 16, b"\0")


def read(codec: object, chunk: bytes, size: int) -> bytes:
    store = {}
    blazarr.create_array(store, shape=(size,), dtype="u1", compressors=[codec])
    store["c/0"] = chunk
    return bytes(blazarr.open_array(store, mode="r")[...])


@pytest.mark.parametrize("name", samples())
def test_streams_of_nvidia(name):
    data, stream = samples()[name], base64.b64decode(STREAMS[name])
    assert read({"name": "zarrs.gdeflate"}, pages(len(data), stream), len(data)) == data
    if len(stream) < len(data):
        assert read({"name": "blazarr.gdeflate"}, blocks(data, stream), len(data)) == data


@pytest.mark.parametrize(
    "name", ["zarrs.gdeflate", "gdeflate", "https://codec.zarrs.dev/bytes_to_bytes/gdeflate"]
)
def test_pages_of_zarrs(name):
    store = {}
    codec = {"name": name, "configuration": {"level": 9}}
    data = np.arange(100_000, dtype="<i4") ** 2
    array = blazarr.create_array(
        store, shape=data.shape, chunks=(60_000,), dtype="i4", compressors=[codec]
    )
    array[...] = data
    array[10:20_000:3] = 5
    data[10:20_000:3] = 5
    assert (blazarr.open_array(store)[...] == data).all()
    decoded, count, first = struct.unpack_from("<3Q", store["c/0"])
    assert (decoded, count) == (240_000, 4)
    assert first % 4 == 0


def test_blocks_change_in_part_without_a_gpu():
    data = np.arange(90_000, dtype="<i4")
    array = blazarr.create_array({}, data=data, compressors=[{"name": "blazarr.gdeflate"}])
    array[7:80_000:11] = -1
    data[7:80_000:11] = -1
    assert (array[...] == data).all()


@pytest.mark.parametrize(
    "chunk",
    [
        b"",
        pages(700),
        pages(700, b""),
        pages(700, bytes(64)),
        pages(2**62, bytes(64)),
        struct.pack("<QQ", 700, 2**61),
        pages(700, base64.b64decode(STREAMS["noise"])) + b"\0",
        pages(700, base64.b64decode(STREAMS["noise"])[:-300]),
        pages(700, base64.b64decode(STREAMS["text"])),
    ],
)
def test_damaged_pages(chunk):
    with pytest.raises(CorruptError, match="gdeflate"):
        read({"name": "zarrs.gdeflate"}, chunk, 700)


def test_levels_are_checked():
    with pytest.raises(MetadataError, match="level"):
        parse_codec({"name": "zarrs.gdeflate", "configuration": {"level": 13}}, "codecs")


@pytest.mark.skipif(
    "BLAZARR_GPU_WHEELS" not in os.environ, reason="nvCOMP's wheels are not at hand"
)
@pytest.mark.parametrize("level", [0, 1, 6, 12])
def test_nvidia_reads_what_is_written(level):
    library = next(
        Path(os.environ["BLAZARR_GPU_WHEELS"]).glob("*cu12==6*/nvidia/*/lib64/libnvcomp_cpu.so.6")
    )
    decompress = ctypes.CDLL(str(library))._ZN6nvcomp8gdeflate13decompressCPUEPKPKvPKmmPKPvPmSA_
    for data in [*samples().values(), np.random.default_rng(1).bytes(65_536)]:
        store = {}
        codec = {"name": "zarrs.gdeflate", "configuration": {"level": level}}
        blazarr.create_array(
            store, data=np.frombuffer(data, "u1"), compressors=[codec], chunks=(len(data),)
        )
        source = ctypes.create_string_buffer(bytes(store.get("c/0", b""))[24:])
        if len(source) == 1:
            continue  # nothing but the fill value
        out = ctypes.create_string_buffer(len(data))
        pointers = [(ctypes.c_void_p * 1)(ctypes.addressof(buffer)) for buffer in (source, out)]
        sizes = [(ctypes.c_size_t * 1)(n) for n in (len(source) - 1, len(data), 0)]
        decompress(pointers[0], sizes[0], ctypes.c_size_t(1), pointers[1], sizes[1], sizes[2])
        assert out.raw == data
