"""The native codecs against numcodecs, in both directions, over random shapes of data."""

import json

import numcodecs
import numpy as np
import pytest

from blazarr import _core, errors

RNG = np.random.default_rng(7)
SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
LENGTHS = (0, 1, 31, 1000, 100_001)
COMPRESSORS = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")


def arrays(length):
    waves = np.sin(np.arange(length) * 0.01)
    yield waves.astype("f4")
    yield (waves * 1000).round().astype("i8")
    yield (waves * 100).astype("i2")
    yield RNG.integers(0, 256, length, "u1")
    yield np.zeros(length, "c16")
    yield np.repeat(waves, 3).astype("f4").view("V12")


def encode(step, array):
    return _core.codec_encode(json.dumps(step), np.ascontiguousarray(array).tobytes())


def decode(step, data, size=None):
    return _core.codec_decode(json.dumps(step), data, size, 1 << 30)


def check_both_ways(step, codec, array):
    plain = array.tobytes()
    foreign = bytes(codec.encode(array))
    assert decode(step, foreign, len(plain)) == plain
    assert decode(step, foreign) == plain
    own = encode(step, array)
    assert decode(step, own, len(plain)) == plain
    if plain:  # some of numcodecs' decoders refuse empty data
        assert bytes(codec.decode(own)) == plain


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("shuffle", SHUFFLES)
@pytest.mark.parametrize("cname", COMPRESSORS)
def test_blosc(cname, shuffle, length):
    for array in arrays(length):
        for clevel, blocksize in ((5, 0), (1, 1024)):
            step = {"id": "blosc", "cname": cname, "clevel": clevel, "shuffle": shuffle}
            step |= {"typesize": array.itemsize, "blocksize": blocksize}
            codec = numcodecs.Blosc(cname, clevel, SHUFFLES[shuffle], blocksize)
            check_both_ways(step, codec, array.view("u1") if array.dtype.kind == "V" else array)


@pytest.mark.parametrize("typesize", [1, 2, 3, 5, 12, 16, 17, 40, 255])
@pytest.mark.parametrize("shuffle", SHUFFLES)
def test_blosc_of_any_typesize(shuffle, typesize):
    for length in (typesize * 999, 70_000):
        array = (np.arange(length) % 91).astype("u1")
        step = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": shuffle}
        step |= {"typesize": typesize, "blocksize": 0}
        codec = numcodecs.Blosc("lz4", 5, SHUFFLES[shuffle], typesize=typesize)
        check_both_ways(step, codec, array)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(
    ("step", "codec"),
    [
        ({"id": "zstd", "level": 3}, numcodecs.Zstd(3)),
        ({"id": "zstd", "level": 1, "checksum": True}, numcodecs.Zstd(1, checksum=True)),
        ({"id": "gzip", "level": 5}, numcodecs.GZip(5)),
        ({"id": "zlib", "level": 9}, numcodecs.Zlib(9)),
        ({"id": "lz4", "acceleration": 1}, numcodecs.LZ4()),
        ({"id": "crc32c"}, numcodecs.CRC32C()),
        ({"id": "crc32"}, numcodecs.CRC32()),
        ({"id": "adler32"}, numcodecs.Adler32()),
    ],
    ids=str,
)
def test_compressors_and_checksums(step, codec, length):
    for array in arrays(length):
        if array.size or step["id"] != "lz4":
            check_both_ways(step, codec, array)


def test_errors_name_the_codec():
    with pytest.raises(errors.CorruptError) as caught:
        decode({"id": "crc32c"}, b"abcdefgh")
    assert (caught.value.kind, caught.value.codec) == ("checksum", "crc32c")
    with pytest.raises(errors.CorruptError):
        decode({"id": "zstd", "level": 1}, encode({"id": "zstd", "level": 1}, np.zeros(9)), 71)
    with pytest.raises(errors.MetadataError, match="level must be"):
        encode({"id": "gzip", "level": 11}, np.zeros(1))
    with pytest.raises(ValueError, match="limit"):
        _core.codec_decode('{"id":"crc32"}', b"1234", 10, 5)


def test_a_limit_holds():
    step = {"id": "gzip", "level": 5}
    bomb = encode(step, np.zeros(10**7, "u1"))
    with pytest.raises(errors.CorruptError, match="more than"):
        _core.codec_decode(json.dumps(step), bomb, None, 10**6)
