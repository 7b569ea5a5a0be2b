"""zarr-python's arrays on a GPU."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import zarr

from blazarr.compat.zarr_python.activation import PATH
from blazarr.cuda.gpu import import_cupy


def configure_gpu(async_concurrency: int | None = None) -> AbstractContextManager[Any]:
    """Make zarr-python read to a GPU, and write from one, through blazarr.

    Every codec works, and shards are read by ranges: chunks are decoded by the CPU, and each read
    is copied to the GPU once. To decode on the GPU use ``blazarr.open_array(device="cuda")``.

    Parameters
    ----------
    async_concurrency
        zarr-python's ``async.concurrency``; None leaves it.

    Returns
    -------
    context manager
        Leaving it puts back what was set before. Not entered, the settings stay.
    """
    import_cupy()
    settings: dict[str, Any] = {
        "codec_pipeline.path": PATH,
        "buffer": "zarr.buffer.gpu.Buffer",
        "ndbuffer": "zarr.buffer.gpu.NDBuffer",
    }
    if async_concurrency is not None:
        settings["async.concurrency"] = async_concurrency
    setting: AbstractContextManager[Any] = zarr.config.set(settings)
    return setting
