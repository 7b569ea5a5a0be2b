"""Write codec_vectors.json: what numcodecs 0.17 makes of small inputs, for every codec and option.

Run with numcodecs 0.17, numpy 2 and google-crc32c installed: ``python make_vectors.py``. Each
vector names its input, holds the encoded bytes in hexadecimal and, for lossy codecs, the decoded
bytes as well.
"""

import json
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

warnings.simplefilter("ignore")
import numcodecs  # noqa: E402

OUTPUT = Path(__file__).with_name("codec_vectors.json")


def inputs() -> dict[str, np.ndarray]:
    ramp = np.arange(300)
    waves = np.sin(ramp * 0.1)
    return {
        "one": np.array([7], "u1"),
        "text": np.frombuffer(b"the quick brown fox jumps over the lazy dog" * 4, "u1"),
        "i2": (ramp % 50).astype("<i2"),
        "f4": np.round(waves, 2).astype("<f4"),
        "short": np.round(waves[:60], 2).astype("<f4"),
        "f8": waves[:128].astype("<f8"),
        "f2": waves[:50].astype("<f2"),
        "u3": (ramp % 7).astype("u1"),
        "bools": ramp[:77] % 3 == 0,
        "i4": (ramp[:80] * 100 - 7000).astype("<i4"),
        "i8": (ramp[:40] * 2**40).astype("<i8"),
        "u1": (ramp[:80] * 5 % 256).astype("u1"),
        "special": np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1.5, 3.4e38], "<f4"),
    }


def vectors(data: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []

    def add(step: dict[str, Any], codec: Any, *names: str, lossy: bool = False) -> None:
        for name in names:
            encoded = np.asarray(codec.encode(data[name])).tobytes()
            vector = {"step": step, "input": name, "encoded": encoded.hex()}
            if lossy:
                vector["decoded"] = (
                    np.asarray(codec.decode(codec.encode(data[name]))).tobytes().hex()
                )
            made.append(vector)

    for level, checksum in product((1, 3, 0, -3), (False, True)):
        step = {"id": "zstd", "level": level, "checksum": checksum}
        add(step, numcodecs.Zstd(level=level, checksum=checksum), "one", "text")
    for level in (0, 1, 9):
        add({"id": "gzip", "level": level}, numcodecs.GZip(level), "one", "text")
        add({"id": "zlib", "level": level}, numcodecs.Zlib(level), "one", "text")
    for acceleration in (1, 10):
        add({"id": "lz4", "acceleration": acceleration}, numcodecs.LZ4(acceleration), "one", "text")
    for location in ("start", "end"):
        for name, kind in (
            ("crc32", numcodecs.CRC32),
            ("adler32", numcodecs.Adler32),
            ("crc32c", numcodecs.CRC32C),
        ):
            add({"id": name, "location": location}, kind(location=location), "one", "text")
    add({"id": "fletcher32"}, numcodecs.Fletcher32(), "one", "text", "f4")
    blosc_vectors(add)
    filter_vectors(add)
    return made


def blosc_vectors(add: Any) -> None:
    shuffles = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
    for cname, (shuffle, number) in product(
        ("blosclz", "lz4", "lz4hc", "zlib", "zstd"), shuffles.items()
    ):
        for name, typesize, blocksize in (
            ("one", 1, 0),
            ("f4", 4, 0),
            ("f4", 4, 512),
            ("i2", 2, 256),
            ("f8", 8, 0),
        ):
            step = {
                "id": "blosc",
                "cname": cname,
                "clevel": 5,
                "shuffle": shuffle,
                "typesize": typesize,
                "blocksize": blocksize,
            }
            add(step, numcodecs.Blosc(cname, 5, number, blocksize), name)
    for clevel in (0, 9):
        step = {
            "id": "blosc",
            "cname": "zstd",
            "clevel": clevel,
            "shuffle": "shuffle",
            "typesize": 4,
        }
        add(step, numcodecs.Blosc("zstd", clevel, 1), "f4")
    step = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": "bitshuffle", "typesize": 3}
    add(step, numcodecs.Blosc("lz4", 5, 2, typesize=3), "u3")


def filter_vectors(add: Any) -> None:
    for elementsize, name in ((4, "f4"), (8, "f8"), (2, "i2"), (3, "u3"), (1, "one")):
        add({"id": "shuffle", "elementsize": elementsize}, numcodecs.Shuffle(elementsize), name)
    add({"id": "packbits"}, numcodecs.PackBits(), "bools")
    deltas = [
        ("i2", "<i2", "<i2"),
        ("i4", "<i4", "<i2"),
        ("i4", "<i4", "<i8"),
        ("i8", "<i8", "<i8"),
    ]
    deltas += [
        ("u1", "|u1", "|i1"),
        ("u1", "|u1", "|u1"),
        ("short", "<f4", "<f4"),
        ("f8", "<f8", "<f4"),
    ]
    deltas += [("short", "<f4", "<f8"), ("i2", "<i2", "<f4"), ("u3", "|u1", "<u4")]
    for name, dtype, astype in deltas:
        step = {"id": "delta", "dtype": dtype, "astype": astype}
        add(step, numcodecs.Delta(dtype, astype), name, lossy=True)
    for keepbits, name in (
        (3, "short"),
        (23, "short"),
        (0, "short"),
        (10, "f8"),
        (2, "f2"),
        (5, "special"),
    ):
        itemsize = {"f2": 2, "short": 4, "f8": 8, "special": 4}[name]
        step = {"id": "bitround", "keepbits": keepbits, "itemsize": itemsize}
        add(step, numcodecs.BitRound(keepbits), name, lossy=True)
    scales = [
        ("f8", 0, 100, "<f8", "|i1"),
        ("short", 0, 100, "<f4", "<i2"),
        ("short", -1.5, 40.5, "<f4", "|u1"),
    ]
    scales += [
        ("f8", 1.5, 1000, "<f8", "<i4"),
        ("f8", 0.1, 3, "<f8", "<f4"),
        ("short", 0.1, 7, "<f4", "<f8"),
    ]
    scales += [
        ("i4", 1000, 1, "<i4", "<i4"),
        ("i4", 1000, 0.25, "<i4", "<i2"),
        ("i2", 5, 2, "<i2", "<i2"),
    ]
    scales += [
        ("u1", 3, 2, "|u1", "<u2"),
        ("short", 0, 10, "<f4", "<f4"),
        ("i8", 10, 0.5, "<i8", "<i8"),
    ]
    for name, offset, scale, dtype, astype in scales:
        step = {
            "id": "fixedscaleoffset",
            "offset": offset,
            "scale": scale,
            "dtype": dtype,
            "astype": astype,
        }
        codec = numcodecs.FixedScaleOffset(offset, scale, dtype, astype)
        add(step, codec, name, lossy=True)


def main() -> None:
    data = inputs()
    document = {
        "numcodecs": numcodecs.__version__,
        "inputs": {name: array.tobytes().hex() for name, array in data.items()},
        "vectors": vectors(data),
    }
    lines = (
        json.dumps(document["vectors"])
        .replace("}, {", "},\n{")
        .replace(", ", ",")
        .replace(": ", ":")
    )
    head = json.dumps({name: document[name] for name in ("numcodecs", "inputs")})[:-1]
    OUTPUT.write_text(f'{head},\n"vectors":{lines}}}\n')
    print(len(document["vectors"]), "vectors,", OUTPUT.stat().st_size, "bytes")


main()
