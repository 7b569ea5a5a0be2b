"""zarr-python's older arguments for new arrays, those of ``create``, made into the newer ones."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from blazarr.engine.array_config import ArrayConfig, ArrayConfigLike
from blazarr.errors import BlazarrError, ZarrRuntimeWarning
from blazarr.nodes import creation
from blazarr.nodes.array import Array
from blazarr.nodes.location import StorePath
from blazarr.nodes.request import DEFAULT_FILL_VALUE, ArrayRequest


@dataclass(frozen=True, kw_only=True)
class ClassicRequest:
    """What a new array shall be; the fields are arguments of `blazarr.create`."""

    shape: Any
    chunks: Any = None
    dtype: Any = None
    compressor: Any = "auto"
    fill_value: Any = DEFAULT_FILL_VALUE
    order: str | None = None
    filters: Iterable[Any] | None = None
    dimension_separator: Literal[".", "/"] | None = None
    zarr_format: int | None = None
    attributes: Mapping[str, Any] | None = None
    chunk_shape: Any = None
    chunk_key_encoding: Any = None
    codecs: Iterable[Any] | None = None
    dimension_names: Iterable[str | None] | None = None

    # zarr-python 2's; without effect.
    synchronizer: Any = None
    chunk_store: Any = None
    cache_metadata: Any = None
    cache_attrs: Any = None
    read_only: Any = None
    object_codec: Any = None
    meta_array: Any = None

    def request(self) -> ArrayRequest:
        """Return the same request in the newer arguments."""
        warn_without_effect(
            synchronizer=self.synchronizer,
            chunk_store=self.chunk_store,
            cache_metadata=self.cache_metadata,
            cache_attrs=self.cache_attrs,
            read_only=self.read_only,
            object_codec=self.object_codec,
            meta_array=self.meta_array,
        )
        if self.chunks is not None and self.chunk_shape is not None:
            raise BlazarrError("give only one of chunks and chunk_shape", argument="chunk_shape")
        chunks = self.chunk_shape if self.chunks is None else self.chunks
        zarr_format = self.zarr_format or creation.default_format()
        if zarr_format == 2 and _is_falsy(chunks):
            chunks = None
        return ArrayRequest(
            shape=self.shape,
            dtype="float64" if self.dtype is None else self.dtype,
            chunks="auto" if chunks is None else chunks,
            fill_value=self.fill_value,
            order=self.order,
            zarr_format=zarr_format,
            attributes=self.attributes,
            dimension_names=self.dimension_names,
            **(self._only_v3() if zarr_format == 3 else self._only_v2()),
        )

    def _only_v3(self) -> dict[str, Any]:
        self._refuse(
            3, dimension_separator="chunk_key_encoding", filters="codecs", compressor="codecs"
        )
        return {"codecs": self.codecs, "chunk_key_encoding": self.chunk_key_encoding}

    def _only_v2(self) -> dict[str, Any]:
        self._refuse(2, codecs="filters and compressor", chunk_key_encoding="dimension_separator")
        return {
            "filters": "auto" if self.filters is None else self.filters,
            "compressors": self.compressor,
            "chunk_key_encoding": {"name": "v2", "separator": self.dimension_separator or "."},
        }

    def _refuse(self, zarr_format: int, **instead: str) -> None:
        for name, other in instead.items():
            value = getattr(self, name)
            if value is not None and not (isinstance(value, str) and value == "auto"):
                raise BlazarrError(
                    f"format {zarr_format} has no {name}; use {other} instead", argument=name
                )


def _is_falsy(chunks: Any) -> bool:
    """Tell what zarr-python's ``create`` takes for no chunks in format 2: 0, False, and what is empty."""
    if isinstance(chunks, np.ndarray):
        return chunks.size < 2 and not chunks.any()
    return not chunks


def create(
    place: StorePath,
    *,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
    write_empty_chunks: bool | None = None,
    data: Any = None,
    **arguments: Any,
) -> Array:
    """Create an array.

    Parameters
    ----------
    place
        Where it shall be.
    overwrite
        Replace what is there.
    config
        Configuration of the handle.
    write_empty_chunks
        As in `config`.
    data
        Values to write.
    **arguments
        Fields of `ClassicRequest`.
    """
    parsed = ArrayConfig.parse(config)
    if write_empty_chunks is not None:
        parsed = replace(parsed, write_empty_chunks=write_empty_chunks)
    request = ClassicRequest(**arguments).request()
    if request.zarr_format == 2 and request.order is None:
        request = replace(request, order=parsed.order)
    if data is None:
        return creation.create_array(place, request, overwrite=overwrite, config=parsed)
    return creation.create_filled(place, request, data, overwrite=overwrite, config=parsed)


def like(a: Any, zarr_format: int | None = None) -> dict[str, Any]:
    """Return arguments of `create` for an array like another one.

    Parameters
    ----------
    a
        An `Array`, or anything with a shape and a data type.
    zarr_format
        Format of the new array; by default that of `a`. Codecs are those of `a` where the format
        is the same.
    """
    if not isinstance(a, Array):
        chunks = getattr(a, "chunks", None)
        regular = isinstance(chunks, tuple) and len(chunks) == len(a.shape)
        found = {"shape": a.shape, "dtype": a.dtype, "chunks": chunks if regular else None}
        return {**found, **({} if zarr_format is None else {"zarr_format": zarr_format})}
    metadata = a.metadata
    arguments = {
        "shape": a.shape,
        "dtype": metadata.data_type,
        "chunks": metadata.grid,
        "fill_value": metadata.fill_value,
        "zarr_format": zarr_format or metadata.zarr_format,
    }
    if arguments["zarr_format"] != metadata.zarr_format:
        return arguments
    if metadata.zarr_format == 3:
        return {**arguments, "codecs": metadata.codecs}
    return {
        **arguments,
        "order": metadata.order,
        "filters": a.filters or None,
        "compressor": a.compressor,
    }


def renamed_compressor(compressor: Any, compressors: Any) -> Any:
    """Return the ``compressors`` argument, where its older name may have been given instead."""
    if isinstance(compressor, str) and compressor == "auto":
        return compressors
    if not (isinstance(compressors, str) and compressors == "auto"):
        raise BlazarrError("give only one of compressor and compressors", argument="compressor")
    return compressor


def warn_without_effect(**arguments: Any) -> None:
    """Warn of arguments of zarr-python 2 that were given and have no effect."""
    for name, value in arguments.items():
        if value is not None:
            warnings.warn(f"{name} has no effect", ZarrRuntimeWarning, stacklevel=4)
