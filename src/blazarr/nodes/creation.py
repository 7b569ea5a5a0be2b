"""New arrays: stored metadata, and values that are written or copied."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from blazarr.config import config as settings
from blazarr.engine.array_config import ArrayConfigLike
from blazarr.errors import BlazarrError
from blazarr.grids import ChunkGrid
from blazarr.indexing import parse_basic
from blazarr.metadata import ArrayMetadata
from blazarr.nodes import documents, layout, values
from blazarr.nodes.array import Array
from blazarr.nodes.location import StorePath
from blazarr.nodes.request import DEFAULT_FILL_VALUE, ArrayRequest

# Memory that a copy from array to array may hold at once.
COPY_BYTES = 64 << 20


def default_format() -> int:
    """Return the format of new nodes for which none is asked."""
    return int(settings.get("default_zarr_format"))


def create_array(
    place: StorePath,
    request: ArrayRequest,
    *,
    data: Any = None,
    write_data: bool = True,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
) -> Array:
    """Create an array; `data` gives shape, data type and values.

    Parameters
    ----------
    place
        Where it shall be.
    request
        What it shall be.
    data
        An `Array`, or anything numpy makes an array of.
    write_data
        Whether to write `data`.
    overwrite
        Replace what is there.
    config
        Configuration of the handle.
    """
    if data is None:
        return _store(place, request.metadata(), overwrite=overwrite, config=config)
    if request.shape is not None or request.dtype is not None:
        raise BlazarrError(
            "data= gives shape and data type; leave out shape= and dtype=", argument="data"
        )
    return from_array(
        place, request, data=data, write_data=write_data, overwrite=overwrite, config=config
    )


def create_filled(
    place: StorePath,
    request: ArrayRequest,
    value: Any,
    *,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
) -> Array:
    """Create an array and write a value to all of it.

    Parameters
    ----------
    place
        Where it shall be.
    request
        What it shall be.
    value
        A scalar, or an array that fits the shape.
    overwrite
        Replace what is there.
    config
        Configuration of the handle.
    """
    metadata = request.metadata()
    converted = values.converted(value, metadata.data_type.native)
    fitted = values.fitted(converted, parse_basic(..., metadata.shape))
    array = _store(place, metadata, overwrite=overwrite, config=config)
    array[...] = fitted
    return array


def from_array(
    place: StorePath,
    request: ArrayRequest,
    *,
    data: Any,
    write_data: bool = True,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
) -> Array:
    """Create an array like another one, and copy the values.

    Parameters
    ----------
    place
        Where it shall be.
    request
        What it shall be; ``"keep"`` stands for what `data` has.
    data
        The source: an `Array`, or anything numpy makes an array of.
    write_data
        Whether to copy the values.
    overwrite
        Replace what is there.
    config
        Configuration of the handle.
    """
    source = place_of(data)
    if write_data and overwrite and source is not None:
        refuse_overlap(source, place)
    if isinstance(data, Array):
        request = _kept(request, data)
    else:
        if not (hasattr(data, "shape") and hasattr(data, "dtype")):
            data = np.asarray(data)
        request = _chosen(replace(request, shape=data.shape, dtype=data.dtype))
    metadata = request.metadata()
    array = _store(place, metadata, overwrite=overwrite, config=config)
    if write_data:
        for region in layout.regions(metadata, COPY_BYTES):
            array[region] = data[region]
    return array


def _store(
    place: StorePath,
    metadata: ArrayMetadata,
    *,
    overwrite: bool,
    config: ArrayConfigLike | None,
) -> Array:
    array = Array(metadata, place, config)
    # An array whose chunks cannot be encoded has to fail before anything is deleted.
    array.check_codecs()
    documents.create(place, metadata, overwrite=overwrite)
    return array


def _kept(request: ArrayRequest, source: Array) -> ArrayRequest:
    metadata = source.metadata
    zarr_format = request.zarr_format or metadata.zarr_format
    same = zarr_format == metadata.zarr_format
    chunks, shards = _kept_grids(request, metadata, zarr_format)
    default_fill = request.fill_value is DEFAULT_FILL_VALUE
    order = metadata.order if zarr_format == 2 else None
    # Format 2 has nowhere to put names.
    names = metadata.dimension_names if zarr_format == 3 else None
    key_encoding = metadata.chunk_key_encoding if same else None
    return replace(
        _kept_codecs(request, source, same=same),
        zarr_format=zarr_format,
        shape=metadata.shape,
        dtype=metadata.data_type,
        chunks=chunks,
        shards=shards,
        fill_value=metadata.fill_value if default_fill else request.fill_value,
        order=request.order or order,
        chunk_key_encoding=request.chunk_key_encoding or key_encoding,
        dimension_names=request.dimension_names or names,
        attributes=metadata.attributes if request.attributes is None else request.attributes,
    )


def _kept_grids(
    request: ArrayRequest, metadata: ArrayMetadata, zarr_format: int
) -> tuple[Any, Any]:
    inner = layout.inner_shape(metadata)
    chunks, shards = request.chunks, request.shards
    if _is(chunks, "keep"):
        chunks = metadata.grid if inner is None else ChunkGrid.regular(inner)
    if _is(shards, "keep"):
        shards = None if inner is None or zarr_format == 2 else metadata.grid
    return chunks, shards


def _kept_codecs(request: ArrayRequest, source: Array, *, same: bool) -> ArrayRequest:
    def kept(given: Any, own: Any) -> Any:
        if not _is(given, "keep"):
            return given
        return own if same else "auto"

    return replace(
        request,
        filters=kept(request.filters, source.filters or None),
        compressors=kept(request.compressors, source.compressors or None),
        serializer=kept(request.serializer, source.serializer or "auto"),
    )


def _chosen(request: ArrayRequest) -> ArrayRequest:
    """Return a request where nothing is kept, as there is no array to keep it from."""
    instead = {
        "chunks": "auto",
        "shards": None,
        "filters": "auto",
        "compressors": "auto",
        "serializer": "auto",
    }
    changes: dict[str, Any] = {
        name: new for name, new in instead.items() if _is(getattr(request, name), "keep")
    }
    return replace(request, zarr_format=request.zarr_format or default_format(), **changes)


def place_of(data: Any) -> StorePath | None:
    """Return where the values of an array, or of a part that is not read yet, are; None if unknown."""
    found = getattr(getattr(data, "array", data), "store_path", None)
    return None if found is None else StorePath.locate(found)


def refuse_overlap(source: StorePath, place: StorePath) -> None:
    """Raise where replacing what is at a place would take a source away before it is read."""
    if source.overlaps(place):
        raise BlazarrError(
            f"{place} cannot be overwritten with what is at {source}, because one is inside of "
            "the other; write to another path, or read all of it first, as data=array[...] does",
            argument="data",
        )


def _is(given: Any, word: str) -> bool:
    return isinstance(given, str) and given == word
