"""The table of nvCOMP's symbols against the real libraries and their headers, without a GPU."""

import ctypes
import re
import subprocess

import pytest

from blazarr.cuda import hostkernels
from blazarr.cuda.device import Format, Tuning
from blazarr.cuda.encoding import MOST_ENCODED
from blazarr.cuda.nvcomp import ALIGNED, CODECS, MOST_DECODED, Nvcomp, Properties
from blazarr.cuda.nvcomp_options import Options, decode_options, encode_options
from blazarr.errors import InternalError
from tests.unit.cuda.wheels import libraries

LIBRARIES = libraries("libnvcomp.so.*")

# The default type of elements.
CASCADED = {5: "int32", 6: "uint32"}

# The decoder of gzip that is asked for, the default.
LIMITS = {"Gzip": "GzipNaive"}


@pytest.mark.parametrize("path", LIBRARIES)
def test_every_symbol_is_there_and_the_version_is_known(path):
    library = Nvcomp(path)
    assert library.version in {(5, 2), (5, 3), (6, 0)}
    assert path.name.endswith(str(library.version[0]))
    assert set(library._decoders) == set(library._encoders) == set(CODECS)


@pytest.mark.parametrize("path", LIBRARIES)
def test_alignments_are_what_is_arranged(path):
    library = Nvcomp(path)
    for format in CODECS:
        found = library.alignments(format)
        assert ALIGNED.get(format, 1) % found.input == 0, format
        # Streams of blosc may go to any byte, blocks to multiples of 16.
        blocks = format in {Format.ANS, Format.BITCOMP, Format.CASCADED}
        assert (16 if blocks else 1) % found.output == 0, format
        assert found.temp <= 256, format
        # What is encoded comes from and goes to multiples of 16.
        found = library.alignments(format, encoding=True)
        assert 16 % found.input == 16 % found.output == 256 % found.temp == 0, format


@pytest.mark.parametrize("path", LIBRARIES)
def test_scratch_is_sized_as_the_host_device_says(path):
    from blazarr.cuda.host import HostDevice

    library, host = Nvcomp(path), HostDevice()
    for count, largest in [(1, 1 << 20), (64, 256 << 10), (4096, 32 << 10), (7, 100_000_000)]:
        total = count * largest
        for format in CODECS:
            if largest > MOST_DECODED[format]:
                with pytest.raises(InternalError, match="18"):
                    library.temp_bytes(format, count, largest, total)
                continue
            asked = library.temp_bytes(format, count, largest, total)
            assumed = host.decode_temp_bytes(format, count, largest, total)
            # Bitcomp asks for 20 bytes.
            assert asked == pytest.approx(assumed, rel=0.05, abs=32), (format, count, largest)
    assert library.temp_bytes(Format.ZSTD, 0, 0, 0) == 0


@pytest.mark.parametrize("path", LIBRARIES)
def test_encoders_say_how_much_room_they_need(path):
    library = Nvcomp(path)
    for format in CODECS:
        for largest in (1, 4096, 65_536, 1 << 20):
            bound = library.bound(format, largest)
            # A stream of gzip has 72 KiB at least.
            assert largest <= bound <= 2.3 * largest + 80_000, (format, largest)
            if format is Format.ZSTD:
                # It looks at the device first, and there is none here.
                continue
            scratch = library.temp_bytes(format, 8, largest, 8 * largest, encoding=True)
            assert scratch <= 80 * largest + (16 << 20), (format, largest)


# What a C compiler says about the headers in the wheel.
PROGRAM = """
#include <stdio.h>
typedef struct CUstream_st *cudaStream_t;
#include "nvcomp.h"
%s
static void show(const void *options) {
  for (int i = 0; i < 64; i++) printf("%%02x", ((const unsigned char *)options)[i]);
  printf(" ");
}
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
        f'  printf("{n} %zu %zu %zu %zu ", sizeof(nvcompBatched{n}DecompressOpts_t), '
        f"(size_t)nvcomp{LIMITS.get(n, n)}DecompressionMaxAllowedChunkSize, "
        f"sizeof(nvcompBatched{n}CompressOpts_t), "
        f"(size_t)nvcomp{n}CompressionMaxAllowedChunkSize);\n"
        f"  show(&nvcompBatched{n}DecompressDefaultOpts);\n"
        f"  show(&nvcompBatched{n}CompressDefaultOpts);\n"
        f'  printf("\\n");\n'
        for n in names
    )
    includes = "".join(f'#include "nvcomp/{n.lower()}.h"\n' for n in names)
    source = tmp_path / "sizes.cpp"
    source.write_text(PROGRAM % (includes, lines))
    program = tmp_path / "sizes"
    command = [hostkernels.compiler(), f"-I{include}", source, "-o", program]
    subprocess.run(command, check=True, capture_output=True, text=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n")
    sizes = {line.split()[0]: line.split()[1:] for line in said if line}
    assert sizes["properties"] == [str(ctypes.sizeof(Properties))]
    assert sizes["alignments"] == ["24"]
    major = Nvcomp(path).version[0]
    for format, name in CODECS.items():
        decode_size, decoded, encode_size, encoded = map(int, sizes[name][:4])
        assert decode_size == encode_size == ctypes.sizeof(Options) == 64
        assert MOST_DECODED[format] <= decoded, name
        assert MOST_ENCODED[format] <= encoded, name
        # Ours are the defaults, but for the backend and the types of elements.
        default, ours = bytes.fromhex(sizes[name][4]), bytes(decode_options(major, format))
        assert ours[4:] == default[4:], name
        default = bytes.fromhex(sizes[name][5])
        tuned = Tuning({"Bitcomp": "uint8", "Cascaded": CASCADED[major]}.get(name, "uint8"))
        assert bytes(encode_options(major, format, tuned)) == default, name


DECODE = """
    compressed_chunk_ptr compressed_chunk_byte uncompressed_buffer_byte uncompressed_chunk_byte
    num_chunk temp_ptr temp_byte uncompressed_chunk_ptr decompress_opt statuse stream
"""
ENCODE = """
    uncompressed_chunk_ptr uncompressed_chunk_byte max_uncompressed_chunk_byte num_chunk temp_ptr
    temp_byte compressed_chunk_ptr compressed_chunk_byte compress_opt statuse stream
"""


@pytest.mark.parametrize("path", LIBRARIES)
@pytest.mark.parametrize(("call", "expected"), [("Decompress", DECODE), ("Compress", ENCODE)])
def test_arguments_are_in_the_headers_order(path, call, expected):
    include = path.parent.parent / "include" / "nvcomp"
    for name in CODECS.values():
        text = (include / f"{name.lower()}.h").read_text()
        found = re.search(rf"nvcompBatched{name}{call}Async\(\s*(const .*?)\);", text, re.DOTALL)
        arguments = [argument.split()[-1].strip("*") for argument in found[1].split(",")]
        plain = [re.sub(r"^device_|s$", "", argument) for argument in arguments]
        assert plain == expected.split(), name
