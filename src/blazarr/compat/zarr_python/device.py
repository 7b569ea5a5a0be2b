"""Reads to a GPU: whole selections go through the wave executor, straight into the result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from zarr.core.buffer import cpu

from blazarr.compat.zarr_python.sessions import NativeSession
from blazarr.compat.zarr_python.transfer import Item
from blazarr.cuda.gpu import cuda_device, import_cupy
from blazarr.cuda.options import Options
from blazarr.cuda.pieces import PieceEngine
from blazarr.engine.chunks import ChunkBatch


@dataclass(frozen=True)
class DeviceSession(NativeSession):
    """One read to a GPU.

    Attributes
    ----------
    engine
        What decodes the chunks.
    ready
        An event after which the result's memory may be written.
    """

    engine: PieceEngine
    ready: Any

    def room(self, shape: tuple[int, ...], target: Any) -> Any:
        """Return the memory to read into: the target."""
        del shape
        return target

    def batch(self, items: list[Any], memory: Any, drop_axes: tuple[int, ...]) -> Any:
        """Take what zarr-python asks of a pipeline; None where only numpy knows what it means."""
        shape, strides = list(memory.shape), list(memory.strides)
        core = self.chunks.device_batch(items, shape, strides, drop_axes)
        return None if core is None else DeviceBatch(core, self, memory)


@dataclass(frozen=True)
class DeviceBatch:
    """Chunks whose elements go to a GPU: what places ask of a batch, for reads."""

    core: ChunkBatch
    session: DeviceSession
    memory: Any

    def read(self, store: Any, *, threads: int | None = None) -> bytes:
        """Read from a store of the core's; a byte for each chunk: whether it was there."""
        del threads
        return self._run(self.core.rows(store))

    def decode(self, data: list[Any], *, threads: int | None = None) -> bytes:
        """Read from bytes at hand."""
        del threads
        return self._run(self.core.rows_at_hand(data))

    def index_ranges(self) -> list[None]:
        """Return that all of each key is to be fetched.

        The core finds the parts of a shard while it fills what is absent, which needs the host's
        memory; folders, whose shards are read by ranges, do not ask.
        """
        return [None] * len(self.core)

    def _run(self, rows: Any) -> bytes:
        address, strides = int(self.memory.data.ptr), self.memory.strides
        return self.session.engine.read(rows, address, strides, self.session.ready)


def on_device(
    session: NativeSession, items: list[Item], target: Any, options: dict[str, Any]
) -> tuple[NativeSession, list[Item]]:
    """Let a GPU decode where the result is on one, and it can.

    Parameters
    ----------
    session
        What would do it on the CPU.
    items
        What zarr-python asks of the pipeline.
    target
        The array behind the result.
    options
        Members of `blazarr.cuda.Options`.

    Returns
    -------
    NativeSession
    list
        The same items, whose bytes stay in the host's memory until they are staged.
    """
    fits = type(session) is NativeSession and getattr(target, "dtype", None) == session.dtype
    if not fits or not hasattr(target, "__cuda_array_interface__"):
        return session, items
    device = cuda_device(int(target.device.id))
    with device.current():
        ready = device.record(import_cupy().cuda.get_current_stream())
    engine = PieceEngine(device, Options(**options), session.chunks.spec)
    prototype = cpu.buffer_prototype
    on_host = [(item[0], replace(item[1], prototype=prototype), *item[2:]) for item in items]
    return DeviceSession(session.chunks, session.dtype, engine, ready), on_host
