"""The table of nvCOMP's symbols against the real libraries and their headers, without a GPU."""

import ctypes
import re
import subprocess

import pytest

from blazarr.cuda import hostkernels
from blazarr.cuda.device import Format
from blazarr.cuda.nvcomp import ALIGNED, CODECS, MOST_DECODED, DecodeOptions, Nvcomp, Properties
from tests.unit.cuda.wheels import libraries

LIBRARIES = libraries("libnvcomp.so.*")

# The decoder of gzip that is asked for, the default.
LIMITS = {"Gzip": "GzipNaive"}


@pytest.mark.parametrize("path", LIBRARIES)
def test_every_symbol_is_there_and_the_version_is_known(path):
    library = Nvcomp(path)
    assert library.version in {(5, 2), (5, 3), (6, 0)}
    assert path.name.endswith(str(library.version[0]))
    assert set(library._calls) == set(CODECS)


@pytest.mark.parametrize("path", LIBRARIES)
def test_alignments_are_what_is_arranged(path):
    library = Nvcomp(path)
    for format in CODECS:
        found = library.alignments(format)
        assert found.input <= ALIGNED.get(format, 1), format
        # Streams of blosc may go to any byte.
        assert found.output == 1, format
        assert found.temp <= 256, format


@pytest.mark.parametrize("path", LIBRARIES)
def test_scratch_is_sized_as_the_host_device_says(path):
    from blazarr.cuda.host import HostDevice

    library, host = Nvcomp(path), HostDevice()
    for count, largest in [(1, 1 << 20), (64, 256 << 10), (4096, 32 << 10), (7, 100_000_000)]:
        total = count * largest
        for format in CODECS:
            asked = library.temp_bytes(format, count, largest, total)
            assumed = host.decode_temp_bytes(format, count, largest, total)
            assert asked == pytest.approx(assumed, rel=0.05), (format, count, largest)
    assert library.temp_bytes(Format.ZSTD, 0, 0, 0) == 0


# What a C compiler says about the headers in the wheel.
PROGRAM = """
#include <stdio.h>
typedef struct CUstream_st *cudaStream_t;
#include "nvcomp.h"
%s
int main(void) {
%s
  printf("properties %%zu\\n", sizeof(nvcompProperties_t));
  printf("alignments %%zu\\n", sizeof(nvcompAlignmentRequirements_t));
  return 0;
}
"""


@pytest.mark.parametrize("path", LIBRARIES)
def test_structures_and_calls_match_the_headers(path, tmp_path):
    include = path.parent.parent / "include"
    if hostkernels.compiler() is None:
        pytest.skip("no C++ compiler")
    names = list(CODECS.values())
    lines = "".join(
        f'  printf("{n} %zu %zu\\n", sizeof(nvcompBatched{n}DecompressOpts_t), '
        f"(size_t)nvcomp{LIMITS.get(n, n)}DecompressionMaxAllowedChunkSize);\n"
        for n in names
    )
    includes = "".join(f'#include "nvcomp/{n.lower()}.h"\n' for n in names)
    source = tmp_path / "sizes.cpp"
    source.write_text(PROGRAM % (includes, lines))
    program = tmp_path / "sizes"
    command = [hostkernels.compiler(), f"-I{include}", source, "-o", program]
    subprocess.run(command, check=True, capture_output=True, text=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n")
    sizes = {line.split()[0]: [int(n) for n in line.split()[1:]] for line in said if line}
    assert sizes["properties"] == [ctypes.sizeof(Properties)]
    assert sizes["alignments"] == [24]
    for format, name in CODECS.items():
        assert sizes[name][0] == ctypes.sizeof(DecodeOptions) == 64
        assert MOST_DECODED[format] <= sizes[name][1], name


@pytest.mark.parametrize("path", LIBRARIES)
def test_arguments_are_in_the_headers_order(path):
    include = path.parent.parent / "include" / "nvcomp"
    for name in CODECS.values():
        text = (include / f"{name.lower()}.h").read_text()
        call = re.search(rf"nvcompBatched{name}DecompressAsync\((.*?)\);", text, re.DOTALL)
        arguments = [argument.split()[-1].strip("*") for argument in call[1].split(",")]
        assert [re.sub(r"^device_|s$", "", a) for a in arguments] == [
            "compressed_chunk_ptr",
            "compressed_chunk_byte",
            "uncompressed_buffer_byte",
            "uncompressed_chunk_byte",
            "num_chunk",
            "temp_ptr",
            "temp_byte",
            "uncompressed_chunk_ptr",
            "decompress_opt",
            "statuse",
            "stream",
        ]
