"""Reads to a GPU and writes from one: whole selections go through the wave executor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from zarr.core.buffer import cpu
from zarr.storage import LocalStore, StorePath

from blazarr.compat.zarr_python.sessions import NativeSession
from blazarr.compat.zarr_python.transfer import Item
from blazarr.cuda.gpu import cuda_device, import_cupy
from blazarr.cuda.options import Options
from blazarr.cuda.pieces import PieceEngine
from blazarr.engine.chunks import ChunkBatch


@dataclass(frozen=True)
class DeviceSession(NativeSession):
    """One read to a GPU, or one write from it.

    Attributes
    ----------
    engine
        What decodes and encodes the chunks.
    ready
        An event after which the memory of the result may be written, or that of the value is.
    """

    engine: PieceEngine
    ready: Any

    def room(self, shape: tuple[int, ...], target: Any) -> Any:
        """Return the memory to read into: the target."""
        del shape
        return target

    def source(self, value: Any) -> Any:
        """Return the memory of elements to be written: the value's own."""
        return value.as_ndarray_like()

    def batch(self, items: list[Any], memory: Any, drop_axes: tuple[int, ...]) -> Any:
        """Take what zarr-python asks of a pipeline; None where only numpy knows what it means."""
        shape, strides = list(memory.shape), list(memory.strides)
        core = self.chunks.device_batch(items, shape, strides, drop_axes)
        if core is None:
            return None
        on_host = partial(super().batch, items, drop_axes=drop_axes)
        return DeviceBatch(core, self, memory, on_host)


@dataclass(frozen=True)
class DeviceBatch:
    """Chunks whose elements are on a GPU: what places ask of a batch."""

    core: ChunkBatch
    session: DeviceSession
    memory: Any
    # The same chunks with memory of the host.
    on_host: Callable[[Any], ChunkBatch | None]

    def read(self, store: Any, *, threads: int | None = None) -> bytes:
        """Read from a store of the core's; a byte for each chunk: whether it was there."""
        del threads
        return self._read(lambda: self.core.rows(store))

    def decode(self, data: list[Any], *, threads: int | None = None) -> bytes:
        """Read from bytes at hand."""
        del threads
        return self._read(lambda: self.core.rows_at_hand(data))

    def write(self, store: Any, *, threads: int | None = None, write_empty: bool = False) -> None:
        """Write to a store of the core's."""
        if self.core.repeats():
            self._copied().write(store, threads=threads, write_empty=write_empty)
            return
        program = self.session.engine.encode_program
        chunks = self.core.chunks(store, program.device_steps, program.for_core)
        self._write(chunks, write_empty=write_empty)

    def encode(
        self, data: list[Any], *, threads: int | None = None, write_empty: bool = False
    ) -> list[bytes | memoryview | None]:
        """Encode over the chunks at hand; for each its new bytes, or None where it is to be absent."""
        if self.core.repeats():
            return self._copied().encode(data, threads=threads, write_empty=write_empty)
        program = self.session.engine.encode_program
        steps, frame = program.device_steps, program.for_core
        chunks, made = self.core.chunks_at_hand(data, steps, frame)
        self._write(chunks, write_empty=write_empty)
        return made.take()

    def partial(self) -> list[int]:
        """Return the numbers of the chunks of which a write changes only a part."""
        return self.core.partial()

    def index_ranges(self) -> list[tuple[int, int | None] | None]:
        """Return for each chunk where its index is; None where all of the key is to be fetched."""
        return self.core.index_ranges()

    def ranges(self, number: int, index: Any) -> list[tuple[int, int]]:
        """Return the parts of a shard that are wanted, by its index."""
        return self.core.ranges(number, index)

    def _copied(self) -> ChunkBatch:
        """The batch over a copy in the host's memory: a device knows no order in which elements are written."""
        copied = self.on_host(import_cupy().asnumpy(self.memory))
        assert copied is not None
        return copied

    @property
    def _place(self) -> tuple[int, tuple[int, ...]]:
        return int(self.memory.data.ptr), self.memory.strides

    def _read(self, rows: Callable[[], Any]) -> bytes:
        return self.session.engine.read(rows, *self._place, self.session.ready)

    def _write(self, chunks: Any, *, write_empty: bool) -> None:
        engine, ready = self.session.engine, self.session.ready
        engine.write(chunks, *self._place, ready, elide=not write_empty)


def on_device(
    session: NativeSession, items: list[Item], target: Any, options: dict[str, Any]
) -> tuple[NativeSession, list[Item]]:
    """Let a GPU decode or encode where the result or value is on one, and it can.

    Parameters
    ----------
    session
        What would do it on the CPU.
    items
        What zarr-python asks of the pipeline.
    target
        The array behind the result or value.
    options
        Members of `blazarr.cuda.Options`.

    Returns
    -------
    NativeSession
    list
        The same items, whose bytes stay in the host's memory until they are staged.
    """
    fits = type(session) is NativeSession and getattr(target, "dtype", None) == session.dtype
    named = all(hasattr(item[0], "path") for item in items)
    if not (fits and named) or not hasattr(target, "__cuda_array_interface__"):
        return session, items
    device = cuda_device(int(target.device.id))
    with device.current():
        ready = device.record(import_cupy().cuda.get_current_stream())
    engine = PieceEngine(device, Options(**options), session.chunks.spec, _folder(items))
    prototype = cpu.buffer_prototype
    on_host = [(item[0], replace(item[1], prototype=prototype), *item[2:]) for item in items]
    return DeviceSession(session.chunks, session.dtype, engine, ready), on_host


def _folder(items: list[Item]) -> Path | None:
    """The folder that chunks are in; None for other stores."""
    place = items[0][0]
    if type(place) is StorePath and isinstance(place.store, LocalStore):
        return place.store.root
    return None
