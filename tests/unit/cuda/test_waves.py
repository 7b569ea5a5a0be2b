"""Reads through the wave executor over the host device, beside numpy."""

import numpy as np
import pytest

from tests.unit.cuda.arrays import case, noise

BLOSC = {"id": "blosc", "clevel": 5, "blocksize": 0}
CHAINS = {
    "plain": {"steps": []},
    "zstd": {"steps": [{"id": "zstd", "level": 1}]},
    "zstd checked": {"steps": [{"id": "zstd", "level": 1, "checksum": True}]},
    "gzip": {"steps": [{"id": "gzip", "level": 1}]},
    "zlib": {"steps": [{"id": "zlib", "level": 1}]},
    "lz4 crc32c": {"steps": [{"id": "lz4", "acceleration": 1}, {"id": "crc32c"}]},
    "blosc zstd": {"steps": [BLOSC | {"cname": "zstd", "shuffle": "bitshuffle", "typesize": 4}]},
    "blosc lz4": {"steps": [BLOSC | {"cname": "lz4", "shuffle": "shuffle", "typesize": 4}]},
    "blosc zlib": {"steps": [BLOSC | {"cname": "zlib", "shuffle": "shuffle", "typesize": 4}]},
    "blosc plain": {"steps": [BLOSC | {"cname": "lz4", "shuffle": "noshuffle", "typesize": 4}]},
    "blosclz": {"steps": [BLOSC | {"cname": "blosclz", "shuffle": "shuffle", "typesize": 4}]},
    "shuffle zstd": {"steps": [{"id": "shuffle", "elementsize": 4}, {"id": "zstd", "level": 1}]},
    "delta shuffle blosc": {
        "steps": [
            {"id": "delta", "dtype": "<i4", "astype": "<i4"},
            {"id": "shuffle", "elementsize": 4},
            BLOSC | {"cname": "lz4", "shuffle": "shuffle", "typesize": 4},
        ]
    },
    "swap zstd": {"swap": 4, "steps": [{"id": "zstd", "level": 1}]},
    "gdeflate": {"steps": [{"id": "blocks", "codec": "gdeflate", "block": 1024}]},
    "transposed": {"order": [1, 0], "steps": [{"id": "zstd", "level": 1}]},
    "packbits": {"steps": [{"id": "transpose", "shape": [37, 29], "order": [1, 0], "itemsize": 4}]},
}
KEYS = [
    ...,
    np.s_[3:90:7, 100:2:-3],
    np.s_[5],
    np.s_[7, 8],
    np.s_[10:10],
    (np.array([80, 3, 3, 50]), slice(None, None, 2)),
    (np.array([80, 3, 3, 50]), np.array([1, 2, 3, 119])),
]


@pytest.mark.parametrize("name", CHAINS)
def test_every_chain_reads_as_it_was_written(name):
    data = noise((100, 120), "i4")
    made = case(data, (37, 29), CHAINS[name])
    for key in KEYS:
        out, report = made.read(key)
        assert (out == data[key]).all(), key
        assert report.retried == 0
    on_device = name not in {"packbits", "blosclz"}
    assert (report.device_rows > 0) == on_device
    assert (report.host_rows == 0) == on_device
