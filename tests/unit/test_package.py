"""`import blazarr` itself: cheap, and honest about a slow build. Each check runs in a fresh interpreter."""

import json
import subprocess
import sys

import numpy as np

import blazarr

LOADS_ON_USE = (
    "numcodecs",
    "zarr",
    "asyncio",
    "fsspec",
    "cupy",
    "dask",
    "xarray",
    "rich",
)

# What opening and reading an array has no use for, and a user would wait for.
NOT_FOR_READING = (
    "numcodecs",
    "msgspec",
    "asyncio",
    "zipfile",
    "logging",
    "html",
    "blazarr.drawing",
    "blazarr.codecs.numcodecs",
    "blazarr.codecs.normalise",
    "blazarr.nodes.upkeep",
    "blazarr.metadata.models",
)

WITH_SLOW_CORE = """
import json, sys, types, warnings
core = types.ModuleType("blazarr._core")
core.OPTIMISED = False
core.__getattr__ = lambda name: type(name, (), {})
sys.modules["blazarr._core"] = core
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import blazarr
print(json.dumps([str(warning.message) for warning in caught]))
"""


def run(code: str) -> object:
    command = [sys.executable, "-c", code]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_import_loads_no_other_package():
    loaded = run("import json, sys, blazarr; print(json.dumps(list(sys.modules)))")
    assert set(LOADS_ON_USE).isdisjoint(loaded)


def test_reading_an_array_loads_what_it_needs(tmp_path):
    blazarr.create_array(tmp_path, data=np.arange(10))
    read = f"blazarr.open_array({str(tmp_path)!r}, mode='r')[2:5].tolist()"
    before = "import json, sys, numpy; before = set(sys.modules); import blazarr"
    loaded = "sorted(set(sys.modules) - before)"
    values, modules = run(f"{before}; values = {read}; print(json.dumps([values, {loaded}]))")
    assert values == [2, 3, 4]
    assert set(NOT_FOR_READING).isdisjoint(modules)


def test_every_public_name_is_there():
    absent = "[n for n in blazarr.__all__ if not hasattr(blazarr, n)]"
    code = f"import json, blazarr; print(json.dumps({absent}))"
    assert run(code) == []


def test_import_warns_of_a_core_built_without_optimisation():
    assert any("optimis" in message for message in run(WITH_SLOW_CORE))
