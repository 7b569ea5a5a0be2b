"""Choosing the pipeline."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import zarr

PATH = "blazarr.compat.zarr_python.BlazarrCodecPipeline"


def enable() -> AbstractContextManager[Any]:
    """Make zarr-python read and write through blazarr.

    Arrays that are open already keep the pipeline they have.

    Returns
    -------
    context manager
        Leaving it puts back what was set before. Not entered, the choice stays.

    Examples
    --------
    >>> import blazarr
    >>> blazarr.enable()  # doctest: +SKIP
    >>> with blazarr.enable():  # doctest: +SKIP
    ...     zarr.open_array("data.zarr")[:]
    """
    setting: AbstractContextManager[Any] = zarr.config.set({"codec_pipeline.path": PATH})
    return setting
