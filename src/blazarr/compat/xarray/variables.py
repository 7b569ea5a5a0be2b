"""An array as xarray's variable: names of its axes, attributes, encoding, values on demand.

The conventions are those of https://docs.xarray.dev/en/stable/internals/zarr-encoding-spec.html.
"""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from blazarr.errors import MetadataError
from blazarr.grids import ChunkGrid
from blazarr.metadata import ArrayV2Metadata
from blazarr.nodes import Array, layout

DIMENSIONS = "_ARRAY_DIMENSIONS"


def variable(array: Array, *, fill_value_is_mask: bool) -> xr.Variable:
    """Return an array as a variable that reads on demand.

    Parameters
    ----------
    array
        The array.
    fill_value_is_mask
        Whether the fill value becomes ``_FillValue``, which xarray masks.
    """
    dimensions = dimension_names(array)
    attributes = _attributes(array)
    encoding = _encoding(array, dimensions)
    if fill_value_is_mask:
        if array.fill_value is not None:
            attributes["_FillValue"] = array.fill_value
    else:
        if array.metadata.zarr_format == 3:
            encoding["fill_value"] = array.fill_value
        if "_FillValue" in attributes:
            attributes["_FillValue"] = decoded_fill_value(attributes["_FillValue"], array.dtype)
    data = indexing.LazilyIndexedArray(LazyValues(array))
    return xr.Variable(dimensions, data, attributes, encoding)


def dimension_names(array: Array) -> tuple[str, ...]:
    """Return the names of an array's axes.

    Format 3 has them in the metadata; in format 2 they are an attribute of xarray's convention, or
    members that NetCDF's library writes.

    Raises
    ------
    MetadataError
        There are none, or not one for each axis.
    """
    metadata = array.metadata
    names: Any = metadata.dimension_names or array.attrs.get(DIMENSIONS) or _netcdf_names(array)
    named = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    if named and len(names) == array.ndim:
        return tuple(names)
    if array.ndim == 0:
        return ()
    raise MetadataError(
        f"array {array.name!r} has no name for each of its {array.ndim} axes (found {names!r}); "
        f"leave it out with drop_variables=[{array.basename!r}], or write dimension_names (in "
        f"format 2 the attribute {DIMENSIONS!r})",
        key=array.path,
    )


def _netcdf_names(array: Array) -> list[str] | None:
    """Return what NetCDF's library wrote, which names dimensions by their full path."""
    metadata = array.metadata
    if not isinstance(metadata, ArrayV2Metadata):
        return None
    found = metadata.extra.get("_NCZARR_ARRAY") or array.attrs.get("_nczarr_array")
    names = found.get("dimrefs") if isinstance(found, dict) else None
    return None if names is None else [str(name).rpartition("/")[2] for name in names]


def _attributes(array: Array) -> dict[str, Any]:
    """Return the attributes without those that belong to the conventions."""
    shown = {name: value for name, value in array.attrs.items() if name != DIMENSIONS}
    if array.metadata.zarr_format == 3:
        return shown
    return {name: value for name, value in shown.items() if not name.lower().startswith("_nc")}


def _encoding(array: Array, dimensions: tuple[str, ...]) -> dict[str, Any]:
    """Return how the array is stored, in the terms that ``Dataset.to_zarr`` takes."""
    metadata = array.metadata
    chunks = _sizes(layout.chunk_grid(metadata), array.shape)
    encoding: dict[str, Any] = {
        "chunks": chunks,
        "preferred_chunks": dict(zip(dimensions, chunks, strict=True)),
        "shards": None if array.shards is None else _sizes(metadata.grid, array.shape),
    }
    if isinstance(metadata, ArrayV2Metadata):
        stored = () if metadata.compressor is None else (metadata.compressor,)
        encoding["filters"] = tuple(_numcodec(codec) for codec in metadata.filters)
        encoding["compressors"] = tuple(_numcodec(codec) for codec in stored)
    else:
        encoding["filters"] = tuple(codec.to_dict() for codec in array.filters)
        encoding["compressors"] = tuple(codec.to_dict() for codec in array.compressors)
        encoding["serializer"] = array.serializer and array.serializer.to_dict()
    if array.dtype.kind == "T":
        encoding["dtype"] = array.dtype
    return encoding


def _numcodec(stored: dict[str, Any]) -> Any:
    """Return a codec of format 2 as zarr-python takes it for new arrays."""
    from numcodecs import get_codec

    try:
        return get_codec(stored)
    except ValueError:
        # Unknown there: that does not keep anybody from reading the other arrays.
        return stored


def _sizes(grid: ChunkGrid, shape: tuple[int, ...]) -> tuple[int | tuple[int, ...], ...]:
    """Return a size for each regular axis, and the sizes of all chunks of the others."""
    return tuple(
        axis.size if axis.is_regular else axis.sizes(extent)
        for axis, extent in zip(grid.axes, shape, strict=True)
    )


def decoded_fill_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a ``_FillValue`` attribute of format 3 as a value of the data type.

    xarray writes floats and bytes in base64; others write plain numbers, or JSON's names of those
    that it has no numbers for.

    Parameters
    ----------
    value
        The attribute.
    dtype
        The array's data type.
    """
    if dtype.kind == "c" and isinstance(value, list):
        real, imaginary = (decoded_fill_value(part, np.dtype("f8")) for part in value)
        return complex(real, imaginary)
    if not isinstance(value, str) or dtype.kind not in "fS":
        return value
    if dtype.kind == "f" and value in {"NaN", "Infinity", "-Infinity"}:
        return float(value)
    try:
        data = base64.b64decode(value, validate=True)
        return data if dtype.kind == "S" else np.frombuffer(data, "<f8")[0]
    except (ValueError, IndexError) as error:
        raise MetadataError(
            f"the attribute _FillValue is {value!r}, which is no {dtype} in base64; correct "
            "the attribute, or leave the array out with drop_variables",
            path="attributes._FillValue",
        ) from error


class LazyValues(BackendArray):
    """An array whose values xarray reads when it needs them.

    Parameters
    ----------
    array
        The array.
    """

    __slots__ = ("_array", "dtype", "shape")

    def __init__(self, array: Array) -> None:
        # Without the underscore xarray would take it for values that are there already.
        self._array = array
        self.shape = array.shape
        self.dtype = array.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        array: Any = self._array
        if isinstance(key, indexing.VectorizedIndexer):
            array = array.vindex
        elif isinstance(key, indexing.OuterIndexer):
            array = array.oindex
        value = indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.VECTORIZED, array.__getitem__
        )
        return np.asarray(value, self.dtype) if self.dtype.kind == "T" else value

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        """Read a part in a thread."""
        return await asyncio.to_thread(self.__getitem__, key)
