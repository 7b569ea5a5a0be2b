"""A pytest plug-in that puts blazarr in the place of zarr-python.

``import zarr`` and everything public below it gives blazarr's objects. What zarr-python's tests
import from its inside (buffers, the chunk grid's arithmetic, type names ...) stays zarr-python's
own, unless it is a public object by another path: `zarr.core.group.Group` is `blazarr.Group`.
"""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import importlib.abc
import importlib.util
import inspect
import json
import os
import re
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import stand_in_stores
from hypothesis.extra.numpy import array_shapes

import blazarr
from blazarr.engine.array_config import ArrayConfig
from blazarr.nodes import request
from blazarr.stores import resolve

# Modules that the tests import; loaded before blazarr takes the name.
INSIDE = (
    "zarr.core._info", "zarr.core.array", "zarr.core.array_spec", "zarr.core.attributes",
    "zarr.core.buffer.cpu", "zarr.core.chunk_grids", "zarr.core.chunk_key_encodings",
    "zarr.core.codec_pipeline", "zarr.core.common", "zarr.core.config", "zarr.core.dtype",
    "zarr.core.group", "zarr.core.indexing", "zarr.core.metadata.io",
    "zarr.core.metadata.repair", "zarr.core.metadata.v2", "zarr.core.metadata.v3",
    "zarr.core.sync", "zarr.core.sync_group", "zarr.storage._utils", "zarr.buffer",
    "zarr.experimental.cache_store", "zarr.testing.store", "zarr.testing.stateful",
)  # fmt: skip

# Loaded again from their files, so that they too work on blazarr.
AGAIN = ("zarr.testing.stateful", "zarr.testing.strategies")

# Public modules, with what stands in for them. `zarr.dtype` isn't among them: its many classes, which
# the tests take apart, stay zarr-python's; blazarr takes their objects.
PUBLIC = {
    "zarr": "blazarr",
    "zarr.abc.codec": "blazarr.abc.codec",
    "zarr.abc.store": "blazarr.abc.store",
    "zarr.api": "blazarr.api",
    "zarr.api.asynchronous": "blazarr.api.asynchronous",
    "zarr.api.synchronous": "blazarr.api.synchronous",
    "zarr.codecs": "blazarr.codecs",
    "zarr.codecs.numcodecs": "blazarr.codecs.numcodecs",
    "zarr.errors": "blazarr.errors",
    "zarr.experimental": "blazarr.experimental",
    "zarr.registry": "blazarr.registry",
    "zarr.storage": "blazarr.storage",
    "zarr.types": "blazarr.types",
}

STORES = {
    "LocalStore": stand_in_stores.LocalStore,
    "MemoryStore": stand_in_stores.MemoryStore,
    "ZipStore": stand_in_stores.ZipStore,
    **{
        name: stand_in_stores.absent(name)
        for name in (
            "FsspecStore", "LatencyStore", "LoggingStore", "ManagedMemoryStore", "ObjectStore", "WrapperStore",
        )
    },
}  # fmt: skip


def sync(coroutine: Any, loop: Any = None, timeout: Any = None) -> Any:
    """Wait for what stores with awaited methods give."""

    async def wait() -> Any:
        return await coroutine

    # In a thread of its own: tests that are coroutines have a loop running in theirs.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, wait()).result(timeout)


def of_facade(original: Any) -> Any:
    """Return an `__init__` that also takes the facade of a node, as zarr-python's does."""

    def init(node: Any, metadata: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(metadata, (blazarr.AsyncArray, blazarr.AsyncGroup)):
            _, arguments, *_ = metadata.node.__reduce__()
            original(node, *arguments)
        else:
            original(node, metadata, *args, **kwargs)

    return init


def show_grids(inside: ModuleType) -> None:
    """Let metadata say its grid as zarr-python's model, and let `chunks` be one."""
    parse = request.chunks_from_argument

    def chunks(given: Any, *args: Any, **kwargs: Any) -> Any:
        if hasattr(given, "chunk_shapes"):
            return blazarr.grids.parse_grid(json.loads(json.dumps(given.to_dict())), args[0])
        return parse(given, *args, **kwargs)

    request.chunks_from_argument = chunks
    blazarr.metadata.ArrayMetadata.chunk_grid = property(
        lambda metadata: inside.parse_chunk_grid(metadata.grid.to_json())
    )


def create_array_metadata(*, shape: Any, dtype: Any, fill_value: Any = 0, **options: Any) -> Any:
    """The helper of zarr-python's conftest, which builds its own models there."""
    array = blazarr.create_array({}, shape=shape, dtype=dtype, fill_value=fill_value, **options)
    return array.metadata


class SyncMixin:
    """zarr-python's mixin of that name."""

    def _sync(self, coroutine: Any) -> Any:
        return sync(coroutine)

    def _sync_iter(self, items: Any) -> list[Any]:
        async def collect() -> list[Any]:
            return [item async for item in items]

        return sync(collect())


# What the inside has under another name, or what tests use to reach it.
INSTEAD: dict[str, Any] = {
    "ArrayConfig": ArrayConfig,
    "ArrayV2Metadata": blazarr.metadata.ArrayV2Metadata,
    "ArrayV3Metadata": blazarr.metadata.ArrayV3Metadata,
    "GroupMetadata": blazarr.metadata.GroupMetadata,
    "ConsolidatedMetadata": blazarr.metadata.ConsolidatedMetadata,
    "SyncMixin": SyncMixin,
    "config": blazarr.config,
    "sync": sync,
    **STORES,
}


def names_of(module: ModuleType) -> Iterator[str]:
    return (name for name in dir(module) if not name.startswith("__"))


def twins(real: dict[str, ModuleType]) -> dict[int, Any]:
    """Map each public object of zarr-python (by identity) to blazarr's of that name."""
    found = {}
    for name, ours in PUBLIC.items():
        theirs, mine = real[name], importlib.import_module(ours)
        for item in names_of(theirs):
            value = getattr(theirs, item)
            if isinstance(value, ModuleType) or not callable(value):
                continue
            if callable(twin := getattr(mine, item, None)):
                found[id(value)] = twin
    return found


class StandIn(ModuleType):
    """One module of zarr-python, made of blazarr's names and, for the rest, of the real one."""

    def __init__(self, name: str, real: ModuleType, known: dict[int, Any]) -> None:
        super().__init__(name)
        public = importlib.import_module(PUBLIC[name]) if name in PUBLIC else None
        self.__dict__.update(__path__=[], __file__=real.__file__)
        self.__dict__["_parts"] = (real, public, known)

    def __getattr__(self, item: str) -> Any:
        real, public, known = self.__dict__["_parts"]
        if item.startswith("__"):
            return getattr(real, item)
        if item in INSTEAD:
            return INSTEAD[item]
        if public is not None and hasattr(public, item):
            value = getattr(public, item)
            if not isinstance(value, ModuleType):
                return value
        value = getattr(real, item)
        if isinstance(value, ModuleType) and value.__name__.startswith("zarr."):
            return importlib.import_module(value.__name__)
        try:
            return known.get(id(value), value)
        except TypeError:
            return value


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives `StandIn`s for the modules of zarr-python."""

    def __init__(self, real: dict[str, ModuleType]) -> None:
        self.real = real
        self.known = twins(real)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "zarr" and not name.startswith("zarr."):
            return None
        if name in AGAIN:
            file = self.real[name].__file__
            places = [str(Path(file).parent)] if file.endswith("__init__.py") else None
            return importlib.util.spec_from_file_location(
                name, file, submodule_search_locations=places
            )
        if name not in self.real:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec: Any) -> ModuleType:
        return StandIn(spec.name, self.real[spec.name], self.known)

    def exec_module(self, module: ModuleType) -> None:
        pass


def take_the_place() -> None:
    """Load zarr-python, put its modules aside, and answer for it from now on."""
    import zarr  # noqa: F401

    for name in (*INSIDE, *PUBLIC, "zarr.dtype"):
        importlib.import_module(name)
    real = {
        name: sys.modules.pop(name)
        for name in list(sys.modules)
        if name == "zarr" or name.startswith("zarr.")
    }
    sys.meta_path.insert(0, Finder(real))
    # blazarr asks zarr-python for codecs that it hasn't got itself, which would now ask blazarr.
    importlib.import_module("blazarr.codecs.zarr_python").adapted_class = lambda _: None
    show_grids(real["zarr.core.metadata.v3"])
    # Its models of metadata hold codecs; blazarr's hold what documents say of them.
    strategies = importlib.import_module("zarr.testing.strategies")
    positive = array_shapes(max_dims=4)
    strategies.sharded_arrays = lambda **_: strategies.simple_arrays(shapes=positive)
    resolve.MemoryStore = stand_in_stores.MemoryStore
    resolve.LocalStore = stand_in_stores.LocalStore
    ArrayConfig.to_dict = dataclasses.asdict
    of_numpy = real["zarr.core.dtype"].get_data_type_from_native_dtype
    of_array = property(lambda array: of_numpy(array.dtype))
    blazarr.AsyncArray._zdtype = of_array  # noqa: SLF001
    ArrayConfig.from_dict = ArrayConfig.parse
    ArrayConfig.from_global = lambda: ArrayConfig.parse(None)
    for node, facade in ((blazarr.Array, "_async_array"), (blazarr.Group, "_async_group")):
        node.__init__ = of_facade(node.__init__)
        setattr(node, facade, property(lambda node: node.aio))


class RaisesByClass:
    """`pytest.raises` for the class of an error alone; another text is noted, not failed."""

    def __init__(self, check: Any, match: str, notes: list[str]) -> None:
        self.check = check
        self.match = match
        self.notes = notes

    def __enter__(self) -> Any:
        self.info = self.check.__enter__()
        return self.info

    def __exit__(self, *error: object) -> Any:
        caught = self.check.__exit__(*error)
        if caught and not re.search(self.match, str(self.info.value)):
            self.notes.append(f"other text: {self.info.value}")
        return caught


class MayWarn:
    """`pytest.warns`, for which another warning, or none, is noted, not failed."""

    def __init__(self, expected: Any, match: str | None, notes: list[str]) -> None:
        self.expected = expected
        self.match = match or ""
        self.notes = notes

    def __enter__(self) -> Any:
        self.context = warnings.catch_warnings(record=True)
        self.caught = self.context.__enter__()
        warnings.simplefilter("always")
        return self.caught

    def __exit__(self, *error: object) -> None:
        self.context.__exit__(*error)
        found = [item.message for item in self.caught if issubclass(item.category, self.expected)]
        if error[0] is None and not any(re.search(self.match, str(item)) for item in found):
            said = f"other text: {found[0]}" if found else "no warning"
            self.notes.append(said)


class Recorder:
    """Writes what became of each test, a line at a time: a run that is cut short keeps its results."""

    def __init__(self, file: str) -> None:
        self.file = Path(file)
        self.outcomes: dict[str, dict[str, str]] = {}
        self.notes: list[str] = []
        self.original_raises = pytest.raises
        pytest.raises = self.raises
        pytest.warns = self.warns

    def raises(
        self, expected: Any = Exception, *args: Any, match: Any = None, **kwargs: Any
    ) -> Any:
        if args or kwargs or match is None:
            return self.original_raises(expected, *args, match=match, **kwargs)
        return RaisesByClass(self.original_raises(expected), match, self.notes)

    def warns(self, expected: Any = Warning, *, match: Any = None) -> Any:
        return MayWarn(expected, match, self.notes)

    def pytest_collection(self) -> None:
        sys.modules["tests.conftest"].create_array_metadata = create_array_metadata

    def pytest_runtest_setup(self) -> None:
        self.notes.clear()

    def pytest_runtest_logreport(self, report: Any) -> None:
        known = self.outcomes.setdefault(report.nodeid, {"outcome": "passed", "message": ""})
        if report.outcome != "passed" and known["outcome"] == "passed":
            known |= {"outcome": report.outcome, "message": message_of(report)}
        elif report.when == "call" and self.notes:
            known |= {"outcome": "noted", "message": self.notes[0]}
        if report.when == "teardown":
            self.write(report.nodeid, known)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            message = str(report.longrepr).strip().splitlines()[-1]
            self.write(report.nodeid, {"outcome": "failed", "message": message})

    def pytest_sessionfinish(self) -> None:
        self.write("", {"outcome": "finished"})

    def write(self, test: str, said: dict[str, str]) -> None:
        with self.file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"test": test, **said}) + "\n")


def message_of(report: Any) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    crash = getattr(report.longrepr, "reprcrash", None)
    message = str(crash.message if crash is not None else report.longrepr)
    if not message.startswith("ExceptionGroup"):
        return message
    # What is in the group says why.
    parts = dict.fromkeys(
        re.findall(r"^ +\| ([\w.]+(?:Error|Failed): .*)", str(report.longrepr), re.MULTILINE)
    )
    return "; ".join((message.splitlines()[0], *parts))


def pytest_configure(config: Any) -> None:
    config.pluginmanager.register(Recorder(os.environ["ZARR_TESTS_RESULT"]))


if not inspect.ismodule(sys.modules.get("blazarr")):
    raise RuntimeError("blazarr is not there")
take_the_place()
