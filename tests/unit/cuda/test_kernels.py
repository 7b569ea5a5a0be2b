"""The kernels, compiled for the host, beside numpy: plain and under sanitizers."""

import ctypes
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import numcodecs
import numpy as np
import pytest

from blazarr.cuda import checks, hostkernels, nvrtc
from blazarr.cuda.rows import ends_of
from tests.unit.cuda.wheels import libraries

pytestmark = pytest.mark.skipif(hostkernels.compiler() is None, reason="no C++ compiler")

ROUNDS = int(os.environ.get("BLAZARR_KERNEL_ROUNDS", "60"))
LIBRARY = os.environ.get("BLAZARR_KERNELS")


@pytest.fixture(scope="module")
def launch():
    library = ctypes.CDLL(LIBRARY) if LIBRARY else hostkernels.library()

    def run(kernel, *arguments):
        values = [a.ctypes.data if isinstance(a, np.ndarray) else int(a) for a in arguments]
        hostkernels.launch(library, kernel, tuple(values))

    return run


@pytest.fixture
def rng():
    return np.random.default_rng(20261130)


def words(values):
    return np.asarray(values, np.int64)


def shuffled(data, kind, size, block):
    """Blosc's shuffle, written down again."""
    out = data.copy()
    for start in range(0, len(data), block):
        part = data[start : start + block]
        count = len(part) // size
        body = part[: count * size].reshape(count, size)
        if kind == 1:
            out[start : start + count * size] = body.T.reshape(-1)
        elif kind == 2 and count % 8 == 0:
            bits = np.unpackbits(body, axis=1, bitorder="little").reshape(count, size * 8)
            planes = np.packbits(bits.T.reshape(-1), bitorder="little")
            out[start : start + count * size] = planes
    return out


def random_axes(rng, item):
    """A strided or indexed selection of a chunk, and its place in a result, by numpy."""
    rank = int(rng.integers(1, 4))
    shape = rng.integers(1, 9, rank)
    picks, axes, tables = [], [], []
    strides = np.cumprod([item, *shape[:0:-1]])[::-1]
    first = 0
    for n, stride in zip(shape, strides, strict=True):
        count = int(rng.integers(1, n + 1))
        if rng.random() < 0.3:
            index = rng.integers(0, n, count)
            axes.append([count, 0, 0, len(tables), -1])
            tables.extend(index * stride)
        else:
            step = int(rng.choice([-1, 1])) if n < 2 * count else int(rng.choice([-2, 2]))
            index = np.arange(count) * step
            index -= index.min()
            if index.max() >= n:
                index = np.arange(count)[:: int(np.sign(step))]
            move = (index[1] - index[0]) if count > 1 else 0
            first += int(index[0]) * stride
            axes.append([count, move * stride, 0, -1, -1])
        picks.append(index)
    return tuple(shape), picks, axes, tables, first


@pytest.mark.parametrize("item", [1, 2, 3, 4, 8, 16, 24])
def test_scatter_and_gather_place_every_element(launch, rng, item):
    variant = item if item in {1, 2, 4, 8, 16} else "any"
    for _ in range(ROUNDS):
        shape, picks, axes, tables, first = random_axes(rng, item)
        chunk = rng.integers(0, 256, (*shape, item)).astype(np.uint8)
        kind, size = int(rng.integers(0, 3)), int(rng.integers(1, 9))
        if rng.random() < 0.5:
            size = item
        block = max(size, int(rng.integers(1, chunk.size + 1)))
        stored = np.ascontiguousarray(shuffled(chunk.reshape(-1), kind, size, block))
        counts = [len(index) for index in picks]
        steps = np.cumprod([item, *counts[:0:-1]])[::-1]
        for axis, step in zip(axes, steps, strict=True):
            axis[2] = step
        unit = item if item in {2, 4, 8} and rng.random() < 0.3 else 0
        # Whole words only are aligned; anything may be in an aligned buffer.
        buffer = np.zeros(len(stored) + 32, np.uint8)
        buffer = buffer[-buffer.ctypes.data % 16 :][: len(stored)]
        buffer[:] = stored
        total = int(np.prod(counts))
        head = [buffer.ctypes.data, first, 0, total, chunk.size, kind, size, block]
        table = words(head + [n for axis in axes for n in axis])
        out = np.zeros((total, item), np.uint8)
        ends, tables = ends_of(words([total])), words(tables or [0])
        launch(f"scatter_{variant}", table, len(axes), ends, 1, tables, out, unit, item)
        expected = chunk[np.ix_(*picks)].reshape(total, item)
        if unit:
            expected = expected[:, ::-1]
        np.testing.assert_array_equal(out, expected)
        if kind == 0 and not tables.any():
            back = np.zeros_like(buffer)
            table[0] = back.ctypes.data
            launch(f"gather_{variant}", table, len(axes), ends, 1, tables, out, unit, item)
            again = back.reshape(chunk.shape)[np.ix_(*picks)].reshape(total, item)
            np.testing.assert_array_equal(again, chunk[np.ix_(*picks)].reshape(total, item))


def test_unshuffle_of_odd_sizes(launch, rng):
    for _ in range(ROUNDS):
        data = rng.integers(0, 256, int(rng.integers(1, 20_000))).astype(np.uint8)
        kind, size = int(rng.integers(0, 3)), int(rng.integers(1, 40))
        block = int(rng.integers(1, len(data) + 1))
        stored, out = shuffled(data, kind, size, block), np.zeros_like(data)
        table = words([stored.ctypes.data, len(data), kind, size, block])
        launch("unshuffle", table, words([out.ctypes.data]), ends_of(words([len(data)])), 1)
        np.testing.assert_array_equal(out, data)
        table = words([data.ctypes.data, len(data), kind, size, block])
        launch("shuffle", table, words([out.ctypes.data]), ends_of(words([len(data)])), 1)
        np.testing.assert_array_equal(out, stored)


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8"])
def test_delta_wraps_as_numpy_does(launch, rng, dtype):
    for count in [1, 255, 256, 257, 5000, 100_000]:
        steps = rng.integers(-(1 << 62), 1 << 62, count).astype(dtype)
        data, sums = steps.copy(), np.zeros(count // 256 + 1, np.uint64)
        runs = words([-(-count // 256)])
        where, counts, sums_at = (
            words([data.ctypes.data]),
            words([count]),
            words([sums.ctypes.data]),
        )
        size = data.itemsize
        launch("delta_sums", where, counts, sums_at, ends_of(runs), 1, size)
        launch("delta_scan", counts, sums_at, 1)
        launch("delta_apply", where, counts, sums_at, ends_of(runs), 1, size)
        np.testing.assert_array_equal(data, np.cumsum(steps, dtype=dtype))


@pytest.mark.parametrize("wide", ["f4", "f8"])
@pytest.mark.parametrize("stored", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"])
def test_unscale_divides_as_numpy_does(launch, rng, stored, wide):
    encoded = rng.integers(0, 120, 5000).astype(stored)
    out = np.zeros(5000, wide)
    numbers = np.array([3.7, -1234.5])
    size, kind = encoded.itemsize, ord(encoded.dtype.kind)
    counts = words([5000])
    places = words([encoded.ctypes.data]), words([out.ctypes.data])
    launch("unscale", *places, counts, ends_of(counts), 1, kind, size, out.itemsize, numbers)
    np.testing.assert_array_equal(out, (encoded / 3.7 + -1234.5).astype(wide))


@pytest.mark.parametrize("wide", ["f4", "f8"])
@pytest.mark.parametrize("stored", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"])
def test_scale_is_that_of_numcodecs(launch, rng, stored, wide):
    data = rng.uniform(0, 30, 5000).astype(wide)
    # Halves are rounded to even.
    data[:100] = np.arange(100) / 6 + 0.25
    out, counts = np.zeros(5000, stored), words([5000])
    for scale, offset in ((3.7, -0.3), (2.0, 0.25)):
        numbers = np.array([scale, offset])
        places = words([data.ctypes.data]), words([out.ctypes.data])
        kind, size = ord(out.dtype.kind), out.itemsize
        launch("scale", *places, counts, ends_of(counts), 1, kind, size, data.itemsize, numbers)
        codec = numcodecs.FixedScaleOffset(offset, scale, wide, stored)
        np.testing.assert_array_equal(out, codec.encode(data))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_rounded_bits_are_those_of_numcodecs(launch, rng, dtype):
    mantissa = np.finfo(dtype).nmant
    data = rng.integers(0, 256, 4000 * np.dtype(dtype).itemsize).astype(np.uint8).view(dtype)
    for keepbits in range(mantissa):
        out, counts = data.copy(), words([4000])
        where = words([out.ctypes.data])
        dropped = mantissa - keepbits
        launch("round_bits", where, counts, ends_of(counts), 1, out.itemsize, dropped)
        expected = numcodecs.BitRound(keepbits).encode(data)
        assert out.tobytes() == np.asarray(expected).tobytes()


def test_units_are_reversed_and_runs_copied(launch, rng):
    for unit in (2, 3, 4, 8, 16):
        data = rng.integers(0, 256, 5000 // unit * unit).astype(np.uint8)
        out, counts = np.zeros_like(data), words([len(data)])
        places = words([data.ctypes.data]), words([out.ctypes.data])
        launch("copy", *places, counts, ends_of(counts), 1)
        np.testing.assert_array_equal(out, data)
        units = counts // unit
        launch("reverse_units", places[1], units, ends_of(units), 1, unit)
        np.testing.assert_array_equal(out.reshape(-1, unit), data.reshape(-1, unit)[:, ::-1])


TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


@pytest.mark.parametrize("stored", TYPES)
@pytest.mark.parametrize("wanted", TYPES)
def test_scatter_cast_is_astype(launch, rng, stored, wanted):
    stored, wanted = np.dtype(stored), np.dtype(wanted)
    data = rng.integers(0, 256, 8 * 3000).astype(np.uint8)[: 3000 * stored.itemsize].view(stored)
    data = data.astype("u1").astype("?") if stored.kind == "b" else data
    if stored.kind == "f" and wanted.kind in "iu":
        # Floats out of an integer's range are undefined in C, and so in numpy.
        data = rng.uniform(0, 127, 3000).astype(stored)
    elif stored.kind == "f":
        near = np.array([0, -0.0, 1, 65504, 65519.99, 65520, 6e-8, 2.9e-8, 3e-8, np.inf, 6.1e-5])
        with np.errstate(over="ignore"):
            data = np.concatenate([data, near.astype(stored), -near.astype(stored)])
    count = len(data)
    head = [data.ctypes.data, 0, 0, count, data.nbytes, 0, 1, 1]
    table = words([*head, count, stored.itemsize, wanted.itemsize, -1, -1])
    out, ends = np.zeros(count, wanted), ends_of(words([count]))
    kinds = ord(stored.kind), ord(wanted.kind), wanted.itemsize
    launch("scatter_cast", table, 1, ends, 1, words([0]), out, 0, stored.itemsize, *kinds)
    with np.errstate(all="ignore"):
        expected = data.astype(wanted)
    if wanted.kind == "f":
        assert (np.isnan(out) == np.isnan(expected)).all()
        out, expected = out[~np.isnan(out)], expected[~np.isnan(expected)]
    assert out.tobytes() == expected.tobytes()


def test_fill_and_differ_know_a_pattern(launch, rng):
    for size in [1, 2, 3, 8, 16]:
        pattern = rng.integers(0, 256, size).astype(np.uint8)
        rows = [np.zeros(n * size, np.uint8) for n in (1, 700, 5000)]
        where, lengths = words([row.ctypes.data for row in rows]), words(list(map(len, rows)))
        launch("fill", where, lengths, ends_of(lengths), 3, pattern, size)
        for row in rows:
            np.testing.assert_array_equal(
                row.reshape(-1, size), np.tile(pattern, (len(row) // size, 1))
            )
        rows[1][-1] ^= 1
        marks = np.zeros(3, np.uint32)
        launch("differ", where, lengths, ends_of(lengths), 3, pattern, size, marks)
        assert marks.tolist() == [0, 1, 0]


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8"])
def test_differences_are_numpys(launch, rng, dtype):
    data = rng.integers(-(1 << 62), 1 << 62, 9000).astype(dtype)
    out, counts = np.zeros_like(data), words([9000])
    places = words([data.ctypes.data]), words([out.ctypes.data])
    launch("differences", *places, counts, ends_of(counts), 1, data.itemsize)
    np.testing.assert_array_equal(out, np.diff(data, prepend=np.zeros(1, dtype)))


def crc32c(data):
    table = checks.remainders(checks.CRC32C).tolist()
    crc = 0xFFFFFFFF
    for byte in data.tolist():
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def xxh64(data):
    """From its specification; the data is shorter than a stripe."""
    assert len(data) < 32
    mask, rotate = (1 << 64) - 1, lambda v, n: (v << n | v >> (64 - n)) & ((1 << 64) - 1)
    p1, p2, p3, p4, p5 = (
        11400714785074694791,
        14029467366897019727,
        1609587929392839161,
        9650029242287828579,
        2870177450012600261,
    )
    h, rest = (p5 + len(data)) & mask, bytes(data)
    while len(rest) >= 8:
        word = int.from_bytes(rest[:8], "little")
        h ^= rotate(word * p2 & mask, 31) * p1 & mask
        h, rest = (rotate(h, 27) * p1 + p4) & mask, rest[8:]
    if len(rest) >= 4:
        h ^= int.from_bytes(rest[:4], "little") * p1 & mask
        h, rest = (rotate(h, 23) * p2 + p3) & mask, rest[4:]
    for byte in rest:
        h = rotate(h ^ byte * p5 & mask, 11) * p1 & mask
    h = (h ^ h >> 33) * p2 & mask
    h = (h ^ h >> 29) * p3 & mask
    return h ^ h >> 32


def test_checksums_are_those_of_the_libraries(launch, rng):
    for size in [1, 7, 31, 4095, 4096, 4097, 12_289, 70_001]:
        data = rng.integers(0, 256, size).astype(np.uint8)
        where, lengths = words([data.ctypes.data]), words([size])
        pieces = ends_of(words([-(-size // checks.PIECE)]))
        sums = np.zeros(size // checks.PIECE + 1, np.uint32)
        sums_at, result = words([sums.ctypes.data]), np.zeros(1, np.uint64)
        for polynomial, expected in ((checks.CRC32, zlib.crc32), (checks.CRC32C, crc32c)):
            table, matrix = checks.remainders(polynomial), checks.after_piece(polynomial)
            launch("crc_pieces", where, lengths, sums_at, pieces, 1, table)
            launch("crc_join", lengths, sums_at, 1, table, matrix, result)
            assert result[0] == expected(data)
        launch("adler_pieces", where, lengths, sums_at, pieces, 1)
        launch("adler_join_rows", lengths, sums_at, 1, result)
        assert result[0] == zlib.adler32(data)
        if size < 32:
            launch("xxh64", where, lengths, 1, result)
            assert result[0] == xxh64(data)


def test_no_kernel_was_left_out():
    source = (nvrtc.FOLDER / nvrtc.MAIN).read_text()
    named = re.findall(r"^KERNEL (\w+)\(", source, re.MULTILINE)
    assert len(named) > 15
    tests = Path(__file__).read_text()
    for name in named:
        if not name.startswith(("scatter_", "gather_")):
            assert f'"{name}"' in tests, name


@pytest.mark.skipif(LIBRARY is not None, reason="this is the run under sanitizers")
def test_the_same_under_sanitizers(tmp_path):
    flags = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    library = hostkernels.build(tmp_path / "kernels.so", *flags)
    runtime = subprocess.run(
        [hostkernels.compiler(), "-print-file-name=libasan.so"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    if not Path(runtime).is_absolute():
        pytest.skip("the compiler has no address sanitizer")
    environment = {k: v for k, v in os.environ.items() if k != "BLAZARR_GPU_WHEELS"} | {
        "BLAZARR_KERNELS": str(library),
        "BLAZARR_KERNEL_ROUNDS": "15",
        "LD_PRELOAD": runtime,
        "ASAN_OPTIONS": "detect_leaks=0",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", __file__]
    folder = Path(__file__).parents[3]
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


ARCHITECTURES = [75, 80, 86, 89, 90, 100, 120]


@pytest.mark.parametrize("path", libraries("libnvrtc.so.*"))
def test_nvrtc_compiles_the_kernels(path):
    compiler = nvrtc.Nvrtc(path)
    for architecture in ARCHITECTURES:
        image = compiler.compile(architecture)
        assert image.kind == "cubin"
        assert image.data.startswith(b"\x7fELF")
        assert b"scatter_16" in image.data
    assert compiler.compile(999).kind == "ptx"
