"""What blazarr writes is read by zarr-python and TensorStore with equal values, and the reverse.

The cases and the peers are those of `make interop`, which has GDAL and zarrita.js besides.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("zarr")
pytest.importorskip("tensorstore")

pytestmark = pytest.mark.filterwarnings("ignore")

TOOLS = Path(__file__).parent.parent.parent / "tools" / "interop"
CODECS = [
    *((3, codec) for codec in (
        "none", "zstd", "zstd, checksum", "gzip", "blosc lz4", "blosc zstd", "crc32c", "transpose",
        "big endian", "sharded", "sharded zstd",
    )),
    *((2, codec) for codec in (
        "none", "zstd", "gzip", "zlib", "lz4", "blosc lz4", "order F", "dots to slashes",
    )),
]  # fmt: skip


@pytest.fixture(scope="module")
def tools() -> Iterator[dict[str, ModuleType]]:
    names = ("cases", "peers", "run")
    sys.path.insert(0, str(TOOLS))
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.pop(0)
        for name in names:
            sys.modules.pop(name, None)


def test_all_codecs_are_here(tools: dict[str, ModuleType]) -> None:
    codecs = tools["cases"].CODECS
    assert [(number, codec) for number in codecs for codec in codecs[number]] == CODECS


@pytest.mark.parametrize(("zarr_format", "codec"), CODECS)
def test_values_cross_every_border(
    tools: dict[str, ModuleType], tmp_path: Path, zarr_format: int, codec: str
) -> None:
    cases, run = tools["cases"], tools["run"]
    dtypes = cases.DTYPES
    try:
        importlib.import_module("ml_dtypes")
    except ImportError:
        dtypes = tuple(dtype for dtype in dtypes if dtype != "bfloat16")
    wanted = [case for case in cases.cases((zarr_format,), dtypes) if case.codec == codec]
    peers = [make() for make in tools["peers"].PYTHON_PEERS]
    results = run.run(peers, wanted, tmp_path)
    assert [result for result in results if result.outcome in {run.WRONG, run.FAULT}] == []
    # Numbers are in everything but TensorStore's lz4.
    assert [
        result
        for result in results
        if result.case.dtype in cases.NUMBERS
        and result.outcome != run.OK
        and (result.peer, codec) != ("TensorStore", "lz4")
    ] == []
