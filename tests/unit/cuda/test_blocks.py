"""blazarr's and nvCOMP's containers, read through waves."""

import struct
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import blazarr
from blazarr import _core
from blazarr.cuda import hostcodecs, hostkernels
from blazarr.cuda.array import CudaArray
from blazarr.cuda.device import Format
from blazarr.cuda.options import Options
from blazarr.errors import UnsupportedError
from tests.unit.cuda import fake_cupy
from tests.unit.cuda.arrays import noise
from tests.unit.cuda.wheels import libraries

# A fixture.
cupy = fake_cupy.cupy
OPTIONS = Options(memory=4 << 20, crossover=0, least_streams=0)


def container(major, format, data, block):
    """nvCOMP's container around streams of the host device's."""
    starts = range(0, len(data), block)
    streams = [hostcodecs.stream(format, data[start : start + block]) for start in starts]
    padded = [stream.ljust(-(-len(stream) // 8) * 8, b"\0") for stream in streams]
    offsets = np.cumsum([0, *map(len, padded)])[:-1].tolist()
    where = 72 + 16 * len(streams)
    words = [sum(map(len, padded)), len(data), len(streams)]
    words += [1, 0, block, where, 0] if major == 5 else [block, where, 1 << 32, 0, 0]
    head = struct.pack("<IBBH", 0x5291_1321 + major, major, 3, 2)
    tables = struct.pack(f"<{2 * len(streams)}Q", *offsets, *map(len, streams))
    return head + struct.pack("<8Q", *words) + tables + b"".join(padded)


@pytest.mark.parametrize("major", [5, 6])
@pytest.mark.parametrize("name", ["ans", "bitcomp", "cascaded", "gdeflate", "snappy", "deflate"])
def test_arrays_of_czarr_are_read(name, major, cupy):
    data = noise((40, 50_000), "u2")
    store = {}
    configuration = {"chunk_size": 65_536, "checksum_policy": "NO_COMPUTE_NO_VERIFY"}
    blazarr.create_array(
        store,
        shape=data.shape,
        chunks=(20, 50_000),
        dtype="u2",
        compressors={"name": f"czarr.{name}", "configuration": configuration},
    )
    for row in (0, 1):
        plain = data[20 * row : 20 * row + 20].tobytes()
        store[f"c/{row}/0"] = container(major, Format[name.upper()], plain, 65_536)
    array = blazarr.open_array(store)
    pending = CudaArray(array, "cuda", OPTIONS).read_async(np.s_[3:, ::5])
    assert (pending.result().get() == data[3:, ::5]).all()
    assert (pending.report.device_rows, pending.report.retried) == (2, 0)
    if name in {"gdeflate", "snappy", "deflate"}:
        small = CudaArray(array, "cuda", replace(OPTIONS, crossover=4 << 20)).read_async(3)
        assert (small.result().get() == data[3]).all()
        assert small.report.host_rows == 1
        assert (array[3:, ::5] == data[3:, ::5]).all()
    else:
        with pytest.raises(UnsupportedError, match="only a GPU"):
            array[3]


@pytest.mark.parametrize("name", ["ans", "bitcomp", "cascaded", "gdeflate", "snappy", "deflate"])
def test_arrays_of_blocks_are_written_and_read(name, cupy):
    made = blazarr.create_cuda_array(
        {},
        shape=(60, 9000),
        chunks=(20, 9000),
        shards=(40, 9000),
        dtype="f4",
        compressors=[{"name": f"blazarr.{name}"}, {"name": "crc32c"}],
        options=OPTIONS,
    )
    data = noise((60, 9000), "f4")
    report = made.write(..., cupy.asarray(data))
    assert (report.device_rows, report.host_rows) == (3, 0)
    assert (made[::-1, 5:].get() == data[::-1, 5:]).all()


PROGRAM = """
typedef void *unused;
#include <cstdio>
#include <vector>
#include "nvcomp.hpp"
#include "nvcomp/lz4_cpu.hpp"
int main(int, char **argv) {
  std::vector<unsigned char> data(200000);
  for (size_t i = 0; i < data.size(); i++) data[i] = (unsigned char)(i / 9);
  nvcomp::LZ4CPUManager manager(65536, 1, 1);
  auto plan = manager.configure_compression(data.size());
  std::vector<unsigned char> out(plan.max_compressed_buffer_size);
  manager.compress(data.data(), out.data(), plan);
  FILE *file = fopen(argv[1], "wb");
  fwrite(out.data(), 1, manager.get_compressed_output_size(out.data()), file);
  return fclose(file);
}
"""
# What nvCOMP's headers want of CUDA's, which need not be here.
STUB = "#pragma once\ntypedef struct CUstream_st *cudaStream_t;\ntypedef struct CUevent_st *cudaEvent_t;\n"


@pytest.mark.parametrize("path", libraries("libnvcomp_cpu.so.*"))
def test_the_container_is_that_of_the_real_library(path, tmp_path):
    if hostkernels.compiler() is None:
        pytest.skip("no C++ compiler")
    (tmp_path / "cuda_runtime.h").write_text(STUB)
    (tmp_path / "cuda_fp16.h").write_text(STUB)
    source, program = tmp_path / "write.cpp", tmp_path / "write"
    source.write_text(PROGRAM)
    include = path.parent.parent / "include"
    command = [hostkernels.compiler(), "-std=c++17", "-D__device__=", "-D__host__="]
    command += [f"-I{include}", f"-I{tmp_path}", source, path, f"-Wl,-rpath,{path.parent}"]
    subprocess.run([*command, "-o", program], check=True, capture_output=True, text=True)
    subprocess.run([program, tmp_path / "out"], check=True)
    frame = (tmp_path / "out").read_bytes()
    plain = (np.arange(200_000) // 9).astype("u1").tobytes()
    at = 48 if path.name.endswith("5") else 32
    count, block = struct.unpack_from("<Q", frame, 24)[0], struct.unpack_from("<Q", frame, at)[0]
    assert (count, block) == (4, 65_536)
    where = struct.unpack_from("<I", frame, at + 8)[0]
    numbers = struct.unpack_from("<8Q", frame, where - 64)
    for index, (offset, length) in enumerate(zip(numbers[:4], numbers[4:], strict=True)):
        part = plain[65_536 * index : 65_536 * (index + 1)]
        stream = frame[where + offset : where + offset + length]
        assert _core.decode_stream(Format.LZ4, stream, len(part)) == part
