"""The engine of one array: its metadata compiled for the core."""

from __future__ import annotations

import json
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from blazarr import _core
from blazarr.codecs import CompiledChain, compile_chain
from blazarr.config import config as settings
from blazarr.engine.array_config import ArrayConfig
from blazarr.engine.objects import FILL, HANDLE, ObjectChain
from blazarr.engine.plan import Plan
from blazarr.errors import BlazarrError
from blazarr.grids import Axis
from blazarr.indexing import Selection
from blazarr.metadata import ArrayMetadata
from blazarr.stores import Store, native

AnyArray = npt.NDArray[Any]

# Kinds of data types that numpy always exports through the buffer protocol.
_EXPORTED = "biufc"

# A plan of more rows is cut: it is for looking at, and each row is a Python string.
PLAN_ROWS = 1_000_000


class Engine(Protocol):
    """Reads, writes and plans selections of one array."""

    def read(self, selection: Selection, out: AnyArray) -> None:
        """Read a selection into an array of its result shape and the native data type."""

    async def read_async(self, selection: Selection, out: AnyArray) -> None:
        """Do the same while the event loop does other things; a cancelled read asks no more."""

    def write(self, selection: Selection, value: AnyArray) -> None:
        """Write an array of a selection's flat shape and the native data type."""

    def plan(self, selection: Selection) -> Plan:
        """Return the plan that reading a selection runs."""


def engine_of(metadata: ArrayMetadata, store: Store, path: str, config: ArrayConfig) -> Engine:
    """Return the engine of an array.

    Parameters
    ----------
    metadata
        The array's metadata.
    store
        Where its chunks are.
    path
        The array's path in the store.
    config
        How it is read and written.
    """
    chain = compile_chain(metadata)
    if chain.variable:
        return _ObjectEngine(ObjectChain(chain, metadata), metadata, store, path, config)
    array = core_array(chain, metadata, store, path)
    return _NativeEngine(array, metadata.data_type.native, config, store)


def core_array(
    chain: CompiledChain, metadata: ArrayMetadata, store: Store, path: str
) -> _core.Array:
    """Return the core's view of an array whose elements have a fixed size.

    Parameters
    ----------
    chain
        Its codecs.
    metadata, store, path
        As for `engine_of`.
    """
    itemsize = metadata.data_type.native.itemsize
    spec = _spec(metadata, path, chain.native, itemsize, metadata.fill_bytes)
    return _core.Array(spec, native(store), list(chain.externals))


class _NativeEngine:
    """Elements of a fixed size: one call of the core reads or writes them."""

    __slots__ = ("_array", "_missing_is_error", "_store", "_view", "_write_empty")

    def __init__(
        self, array: _core.Array, dtype: np.dtype[Any], config: ArrayConfig, store: Store
    ) -> None:
        self._array = array
        self._store = store
        self._missing_is_error = not config.read_missing_chunks
        self._write_empty = config.write_empty_chunks
        exported = dtype.kind in _EXPORTED and dtype.isbuiltin == 1
        self._view = None if exported else np.dtype((np.void, dtype.itemsize))

    def read(self, selection: Selection, out: AnyArray) -> None:
        if out.shape != selection.flat_shape:
            flat = np.empty(selection.flat_shape, out.dtype)
            self.read(selection, flat)
            out[...] = flat.reshape(out.shape)
            return
        try:
            self._array.read(
                selection.core(),
                out if self._view is None else out.view(self._view),
                threads=settings.get("threading.max_workers"),
                missing_is_error=self._missing_is_error,
            )
        except BlazarrError as error:
            error.locate(self._store)
            raise

    async def read_async(self, selection: Selection, out: AnyArray) -> None:
        import asyncio

        flat = out
        if out.shape != selection.flat_shape:
            flat = np.empty(selection.flat_shape, out.dtype)
        if not await self._overlapped(selection, flat):
            # A store whose answers have to be waited for.
            await asyncio.to_thread(self.read, selection, flat)
        if flat is not out:
            out[...] = flat.reshape(out.shape)

    async def _overlapped(self, selection: Selection, out: AnyArray) -> bool:
        """Read without a thread that waits, if the store can do that."""
        import asyncio

        loop = asyncio.get_running_loop()
        done = loop.create_future()

        def end(error: Exception | None) -> None:
            if not done.done():
                done.set_result(error)

        def tell(error: Exception | None) -> None:
            loop.call_soon_threadsafe(end, error)

        reading = self._array.start(
            selection.core(),
            out if self._view is None else out.view(self._view),
            tell,
            threads=settings.get("threading.max_workers"),
            missing_is_error=self._missing_is_error,
        )
        if reading is None:
            return False
        try:
            error = await done
        finally:
            reading.cancel()
        if isinstance(error, BlazarrError):
            error.locate(self._store)
        if error is not None:
            raise error
        return True

    def write(self, selection: Selection, value: AnyArray) -> None:
        try:
            self._array.write(
                selection.core(),
                value if self._view is None else value.view(self._view),
                threads=settings.get("threading.max_workers"),
                write_empty=self._write_empty,
            )
        except BlazarrError as error:
            error.locate(self._store)
            raise

    def plan(self, selection: Selection) -> Plan:
        table = self._array.plan(selection.core(), limit=PLAN_ROWS)
        return Plan(table, len(selection.shape), len(selection.axes))


class _ObjectEngine:
    """Elements that are Python objects: the core reads and writes handles of them."""

    __slots__ = ("_chain", "_config", "_native", "_spec", "_store")

    def __init__(
        self,
        chain: ObjectChain,
        metadata: ArrayMetadata,
        store: Store,
        path: str,
        config: ArrayConfig,
    ) -> None:
        fill = np.array(FILL, HANDLE).tobytes()
        self._spec = _spec(metadata, path, chain.native, HANDLE.itemsize, fill)
        self._chain = chain
        self._store = store
        self._native = native(store)
        self._config = config

    def _handles(self, table: Any) -> _NativeEngine:
        array = _core.Array(self._spec, self._native, self._chain.externals(table))
        return _NativeEngine(array, HANDLE, self._config, self._store)

    def read(self, selection: Selection, out: AnyArray) -> None:
        table = self._chain.table()
        handles = np.empty(out.shape, HANDLE)
        self._handles(table).read(selection, handles)
        out[...] = table.take(handles)

    async def read_async(self, selection: Selection, out: AnyArray) -> None:
        table = self._chain.table()
        handles = np.empty(out.shape, HANDLE)
        await self._handles(table).read_async(selection, handles)
        out[...] = table.take(handles)

    def write(self, selection: Selection, value: AnyArray) -> None:
        table = self._chain.table()
        # Axes that are broadcast hold the same objects again and again.
        once = value[(*(slice(0, 1) if n == 0 else slice(None) for n in value.strides), ...)]
        handles = table.add(once.astype(object).ravel()).reshape(once.shape)
        self._handles(table).write(selection, np.broadcast_to(handles, value.shape))

    def plan(self, selection: Selection) -> Plan:
        return self._handles(self._chain.table()).plan(selection)


def _spec(
    metadata: ArrayMetadata, path: str, chain: dict[str, Any], itemsize: int, fill: bytes
) -> bytes:
    encoding = metadata.chunk_key_encoding
    spec = {
        "shape": list(metadata.shape),
        "grid": [_axis(axis) for axis in metadata.grid.axes],
        "item": itemsize,
        "fill": fill.hex(),
        "keys": {
            "prefix": f"{path}/" if path else "",
            "kind": encoding.kind,
            "separator": encoding.separator,
        },
        "chain": chain,
        "max_chunk_bytes": settings.limits.chunk_bytes,
    }
    return json.dumps(spec).encode()


def _axis(axis: Axis) -> dict[str, Any]:
    return {"size": axis.size} if axis.lengths is None else {"edges": list(axis.edges)}
