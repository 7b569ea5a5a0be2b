"""Functions that create and open arrays on a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from blazarr.api.creating import create_array
from blazarr.api.opening import open_array
from blazarr.config import config
from blazarr.dtypes import parse_data_type

if TYPE_CHECKING:
    from blazarr.cuda import Options
    from blazarr.cuda.array import CudaArray


def create_cuda_array(
    store: Any,
    *,
    device: str = "cuda",
    options: Options | None = None,
    data: Any = None,
    compressors: Any = "auto",
    filters: Any = "auto",
    **kwargs: Any,
) -> CudaArray:
    """Create an array that is read to a GPU and written from one.

    Where codecs are left to blazarr, bytes of numbers are shuffled and compressed by zstd: every
    Zarr library reads that, and a GPU decodes and encodes it.

    Parameters
    ----------
    store, **kwargs
        As for `create_array`.
    device
        ``"cuda"``, or ``"cuda:1"`` for another than cupy's current one.
    options
        Memory, and what is left to the CPU.
    data
        Array of any device that gives shape and data type, and the values to write.
    compressors, filters
        Codecs, as for `create_array`; ``"auto"`` is the default said above.
    """
    from blazarr.cuda.array import CudaArray

    if data is not None:
        kwargs = {"shape": data.shape, "dtype": np.dtype(str(data.dtype)), **kwargs}
    codecs = {"compressors": compressors, "filters": filters}
    left_open = all(isinstance(given, str) and given == "auto" for given in codecs.values())
    if left_open and "dtype" in kwargs:
        codecs = _portable(parse_data_type(kwargs["dtype"]).native, kwargs.get("zarr_format", 3))
    made = CudaArray(create_array(store, **codecs, **kwargs), device, options)
    if data is not None:
        made[...] = data
    return made


def open_cuda_array(
    store: Any = None, *, device: str = "cuda", options: Options | None = None, **kwargs: Any
) -> CudaArray:
    """Open an array that is read to a GPU and written from one.

    Parameters
    ----------
    store, **kwargs
        As for `open_array`.
    device, options
        As for `create_cuda_array`.
    """
    from blazarr.cuda.array import CudaArray

    return CudaArray(open_array(store, **kwargs), device, options)


def _portable(dtype: np.dtype[Any], zarr_format: int | None) -> dict[str, Any]:
    """Codecs that every library reads, and that a GPU decodes and encodes."""
    size = dtype.itemsize
    if dtype.kind not in "biufc":
        return {}
    if zarr_format == 2:
        shuffle = [{"id": "shuffle", "elementsize": size}] if size > 1 else None
        return {"filters": shuffle, "compressors": {"id": "zstd", "level": 0}}
    zstd = {
        "name": "zstd",
        "configuration": {"level": 0, "checksum": config.get("array.checksum")},
    }
    shuffled = [{"name": "numcodecs.shuffle", "configuration": {"elementsize": size}}]
    return {"compressors": [*(shuffled if size > 1 else []), zstd]}
