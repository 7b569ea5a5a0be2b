"""zarr-python's older ways to create arrays: ``create``, ``zeros``, ``empty_like`` and their kin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from blazarr.api.creating import from_array
from blazarr.api.opening import open_array
from blazarr.engine.array_config import ArrayConfigLike
from blazarr.errors import BlazarrError
from blazarr.nodes import classic, creation, opening
from blazarr.nodes.array import Array
from blazarr.nodes.request import DEFAULT_FILL_VALUE

ZarrFormat = Literal[2, 3]


def create(
    shape: int | Iterable[int],
    *,
    chunks: Any = None,
    dtype: Any = None,
    compressor: Any = "auto",
    fill_value: Any = DEFAULT_FILL_VALUE,
    order: Literal["C", "F"] | None = None,
    store: Any = None,
    synchronizer: Any = None,
    overwrite: bool = False,
    path: str | None = None,
    chunk_store: Any = None,
    filters: Iterable[Any] | None = None,
    cache_metadata: bool | None = None,
    cache_attrs: bool | None = None,
    read_only: bool | None = None,
    object_codec: Any = None,
    dimension_separator: Literal[".", "/"] | None = None,
    write_empty_chunks: bool | None = None,
    zarr_format: ZarrFormat | None = None,
    meta_array: Any = None,
    attributes: Mapping[str, Any] | None = None,
    chunk_shape: Any = None,
    chunk_key_encoding: Any = None,
    codecs: Iterable[Any] | None = None,
    dimension_names: Iterable[str | None] | None = None,
    storage_options: dict[str, Any] | None = None,
    config: ArrayConfigLike | None = None,
    mode: Literal["r", "r+", "a", "w", "w-"] | None = None,
    data: Any = None,
) -> Array:
    """Create an array; `create_array` is the newer way.

    Parameters
    ----------
    shape
        Number of elements along each axis.
    chunks, chunk_shape
        Shape of the chunks (two names of one argument).
    dtype
        Data type; float64 by default.
    compressor, filters, dimension_separator
        Codecs and the separator in chunk keys; format 2 only.
    codecs, chunk_key_encoding, dimension_names
        The same of format 3, and a name for each axis.
    fill_value, order, overwrite, attributes, zarr_format, config
        As for `create_array`.
    store, path, storage_options
        As for `open`.
    write_empty_chunks
        As in `config`.
    mode
        ``"w"`` overwrites; ``"w-"`` fails where anything is.
    data
        Values to write.
    synchronizer, chunk_store, cache_metadata, cache_attrs, read_only, object_codec, meta_array
        Of zarr-python 2; without effect.
    """
    return classic.create(
        opening.locate(store, path, mode or "a", storage_options),
        shape=shape,
        chunks=chunks,
        dtype=dtype,
        compressor=compressor,
        fill_value=fill_value,
        order=order,
        synchronizer=synchronizer,
        overwrite=overwrite or mode == "w",
        chunk_store=chunk_store,
        filters=filters,
        cache_metadata=cache_metadata,
        cache_attrs=cache_attrs,
        read_only=read_only,
        object_codec=object_codec,
        dimension_separator=dimension_separator,
        write_empty_chunks=write_empty_chunks,
        zarr_format=zarr_format,
        meta_array=meta_array,
        attributes=attributes,
        chunk_shape=chunk_shape,
        chunk_key_encoding=chunk_key_encoding,
        codecs=codecs,
        dimension_names=dimension_names,
        config=config,
        data=data,
    )


def array(data: Any, **kwargs: Any) -> Array:
    """Create an array filled with `data`.

    Parameters
    ----------
    data
        An `Array`, or anything numpy makes an array of.
    **kwargs
        Arguments of `create` (of `from_array` where `data` is an `Array`).
    """
    if isinstance(data, Array):
        return from_array(kwargs.pop("store", None), data=data, **kwargs)
    if kwargs.pop("read_only", False):
        raise BlazarrError("a new array cannot be read-only", argument="read_only")
    if not (hasattr(data, "shape") and hasattr(data, "dtype")):
        data = np.asanyarray(data)
    given = {name: value for name, value in kwargs.items() if value is not None}
    return create(**{**classic.like(data), **given}, data=data)


def empty(shape: int | Iterable[int], **kwargs: Any) -> Array:
    """Create an array of the data type's default fill value; arguments are those of `create`."""
    return create(shape, **kwargs)


def zeros(shape: int | Iterable[int], **kwargs: Any) -> Array:
    """Create an array whose fill value is 0; arguments are those of `create`."""
    return create(shape, fill_value=0, **kwargs)


def ones(shape: int | Iterable[int], **kwargs: Any) -> Array:
    """Create an array whose fill value is 1; arguments are those of `create`."""
    return create(shape, fill_value=1, **kwargs)


def full(shape: int | Iterable[int], fill_value: Any, **kwargs: Any) -> Array:
    """Create an array with the given fill value; arguments are those of `create`."""
    return create(shape, fill_value=fill_value, **kwargs)


def empty_like(a: Any, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Array:
    """Create an empty array like `a`; arguments override what `a` has."""
    return create(**{**classic.like(a, zarr_format), **kwargs})


def full_like(a: Any, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Array:
    """Create an array like `a`, with its fill value unless another is given."""
    return create(**{**classic.like(a, zarr_format), **kwargs})


def zeros_like(a: Any, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Array:
    """Create an array like `a` whose fill value is 0."""
    return create(**{**classic.like(a, zarr_format), **kwargs, "fill_value": 0})


def ones_like(a: Any, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Array:
    """Create an array like `a` whose fill value is 1."""
    return create(**{**classic.like(a, zarr_format), **kwargs, "fill_value": 1})


def open_like(a: Any, path: str, *, zarr_format: ZarrFormat | None = None, **kwargs: Any) -> Array:
    """Open an array, creating it like another one if it is missing.

    Parameters
    ----------
    a
        An array; gives shape, chunks, data type and codecs.
    path
        Path in the store.
    zarr_format
        2 or 3; by default what is there.
    **kwargs
        Arguments of `open_array`; ``mode`` is ``"a"`` by default.
    """
    like = classic.like(a, zarr_format or creation.default_format())
    del like["zarr_format"]
    arguments = {**like, **kwargs, "mode": kwargs.get("mode") or "a"}
    array: Array = open_array(path=path, zarr_format=zarr_format, **arguments)
    return array
