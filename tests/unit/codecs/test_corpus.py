"""Chains of arrays that other implementations wrote: each compiles, or is known not to."""

from __future__ import annotations

import json

import pytest

from blazarr.codecs import compile_chain
from blazarr.errors import BlazarrError, UnsupportedError
from blazarr.metadata import parse_array_v2, parse_array_v3

# Codecs that no test installs or that blazarr does not have, and why that is so.
EXPLAINED = {
    "zfpy": "needs numcodecs[zfpy]",
    "pcodec": "needs numcodecs[pcodec]",
    "msgpack2": "needs numcodecs[msgpack]",
}


def _arrays(folder):
    for path in sorted(folder.rglob("zarr.json")):
        if _node_type(path) == "array":
            yield path, lambda p: parse_array_v3(p.read_bytes(), p.name)
    for path in sorted(folder.rglob(".zarray")):
        yield path, lambda p: parse_array_v2(p.read_bytes(), None, p.name)


def _node_type(path):
    try:
        return json.loads(path.read_bytes()).get("node_type")
    except (ValueError, AttributeError):
        return None


def test_chains_compile(shared):
    compiled, unexplained = 0, []
    for path, parse in _arrays(shared / "files"):
        try:
            metadata = parse(path)
        except BlazarrError:
            continue  # the metadata's tests account for these
        try:
            compile_chain(metadata)
            compiled += 1
        except UnsupportedError as error:
            if error.codec not in EXPLAINED:
                unexplained.append(f"{path.relative_to(shared)}: {error}")
        except BlazarrError as error:
            unexplained.append(f"{path.relative_to(shared)}: {error}")
    if not compiled:
        pytest.skip(f"no arrays under {shared}")
    assert not unexplained, "\n".join(unexplained)
