"""zarr-python's arrays on a GPU."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict
from types import TracebackType
from typing import Any

import zarr

from blazarr.compat.zarr_python.activation import PATH
from blazarr.cuda import Options
from blazarr.cuda.gpu import import_cupy


class GpuConfiguration(AbstractContextManager["GpuConfiguration"]):
    """What `configure_gpu` changed, until it is left."""

    def __init__(self, undo: ExitStack) -> None:
        self._undo = undo

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.restore()

    def restore(self) -> None:
        """Put everything back; a second time does nothing."""
        self._undo.close()


def configure_gpu(
    options: Options | None = None,
    *,
    async_concurrency: int | None = None,
    allocator: Any = None,
) -> GpuConfiguration:
    """Make zarr-python read to a GPU, and write from one, through blazarr.

    Selections of arrays of numbers are decoded on the GPU, or on the CPU where `options` or a
    codec want it so, straight into the result; values on the GPU are encoded there in the same way.

    Parameters
    ----------
    options
        How much memory a read may use, and what is left to the CPU.
    async_concurrency
        zarr-python's ``async.concurrency``: how many requests are under way; None leaves it.
    allocator
        What cupy takes memory from, such as ``rmm.allocators.cupy.rmm_cupy_allocator``; None
        leaves it.

    Returns
    -------
    GpuConfiguration
        A context manager; leaving it, or its ``restore()``, puts back what was set before.
    """
    cupy = import_cupy()
    settings: dict[str, Any] = {
        "codec_pipeline.path": PATH,
        "codec_pipeline.gpu": asdict(options or Options()),
        "buffer": "zarr.buffer.gpu.Buffer",
        "ndbuffer": "zarr.buffer.gpu.NDBuffer",
    }
    if async_concurrency is not None:
        settings["async.concurrency"] = async_concurrency
    undo = ExitStack()
    if allocator is not None:
        undo.callback(cupy.cuda.set_allocator, cupy.cuda.get_allocator())
        cupy.cuda.set_allocator(allocator)
    undo.enter_context(zarr.config.set(settings))
    return GpuConfiguration(undo)
