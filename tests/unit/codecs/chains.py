"""Chains for the tests: compiled from what a document holds, and run on one chunk."""

from __future__ import annotations

import json

import numpy as np

from blazarr import _core
from blazarr.codecs import CompiledChain, compile_chain
from blazarr.metadata import parse_array_v2, parse_array_v3

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BIG = {"name": "bytes", "configuration": {"endian": "big"}}


def v3(codecs, data_type="int32", chunks=(4, 6), grid=None) -> CompiledChain:
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [2 * n for n in chunks],
        "data_type": data_type,
        "chunk_grid": grid or {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": "" if data_type == "string" else 0,
        "codecs": codecs,
    }
    return compile_chain(parse_array_v3(json.dumps(document).encode(), "zarr.json"))


def v2(dtype="<i4", filters=None, compressor=None, order="C", chunks=(4, 6)) -> CompiledChain:
    document = {
        "zarr_format": 2,
        "shape": [2 * n for n in chunks],
        "chunks": list(chunks),
        "dtype": dtype,
        "fill_value": None,
        "order": order,
        "filters": filters,
        "compressor": compressor,
    }
    return compile_chain(parse_array_v2(json.dumps(document).encode(), None, ".zarray"))


def run(chain: CompiledChain, array: np.ndarray) -> tuple[bytes, np.ndarray]:
    """Encode and decode a chunk, step by step, in the core and in Python."""
    native = chain.native
    order = native.get("order", range(array.ndim))
    data = np.ascontiguousarray(array.transpose(order)).tobytes()
    steps = [{"id": "swap", "size": native["swap"]}] if native.get("swap") else []
    steps += native["steps"]
    sizes = []
    for step in steps:
        sizes.append(len(data))
        data = _encoded(chain, step, data)
    encoded = data
    for step, size in zip(reversed(steps), reversed(sizes), strict=True):
        data = _decoded(chain, step, data, size)
    stored = [array.shape[axis] for axis in order]
    decoded = np.frombuffer(data, array.dtype).reshape(stored).transpose(np.argsort(order))
    return encoded, decoded


def _encoded(chain: CompiledChain, step: dict, data: bytes) -> bytes:
    if step["id"] == "external":
        return bytes(chain.externals[step["index"]].encode(data))
    return _core.codec_encode(json.dumps(step), data)


def _decoded(chain: CompiledChain, step: dict, data: bytes, size: int) -> bytes:
    if step["id"] == "external":
        return bytes(chain.externals[step["index"]].decode(data))
    return _core.codec_decode(json.dumps(step), data, size)
