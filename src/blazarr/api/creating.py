"""Functions that create arrays and groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from blazarr.engine.array_config import ArrayConfigLike
from blazarr.metadata import ArrayMetadata, GroupMetadata
from blazarr.nodes import creation, hierarchy, opening
from blazarr.nodes.array import Array
from blazarr.nodes.group import Group, node_of
from blazarr.nodes.location import StorePath
from blazarr.nodes.request import DEFAULT_FILL_VALUE, ArrayRequest

ZarrFormat = Literal[2, 3]


def create_array(
    store: Any,
    *,
    name: str | None = None,
    shape: int | Iterable[int] | None = None,
    dtype: Any = None,
    data: Any = None,
    chunks: Any = "auto",
    shards: Any = None,
    filters: Any = "auto",
    compressors: Any = "auto",
    serializer: Any = "auto",
    fill_value: Any = DEFAULT_FILL_VALUE,
    order: Literal["C", "F"] | None = None,
    zarr_format: ZarrFormat | None = 3,
    attributes: Mapping[str, Any] | None = None,
    chunk_key_encoding: Any = None,
    dimension_names: Iterable[str | None] | None = None,
    storage_options: dict[str, Any] | None = None,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
    write_data: bool = True,
) -> Array:
    """Create an array.

    Parameters
    ----------
    store, storage_options
        As for `open`.
    name
        Path in the store.
    shape, dtype
        What the array holds; not together with `data`.
    data
        Array that gives shape and data type, and the values to write.
    chunks
        ``"auto"``, a size, or a size (or a list of sizes) for each axis; -1 is the whole axis.
    shards
        Shape of the shards, ``"auto"``, or None for chunks that are stored on their own.
    filters, serializer, compressors
        Codecs; ``"auto"`` takes the defaults of the data type.
    fill_value
        Value of elements that were never written.
    order
        Memory layout of stored chunks; format 2 only.
    zarr_format
        2 or 3.
    attributes
        User attributes.
    chunk_key_encoding
        How chunks are called in the store.
    dimension_names
        Name of each axis, or None; format 3 only.
    overwrite
        Replace what is there; otherwise that is an error.
    config
        Configuration of the handle.
    write_data
        Whether to write `data`.
    """
    place = opening.locate(store, name, "a", storage_options)
    request = ArrayRequest(
        shape=shape,
        dtype=dtype,
        chunks=chunks,
        shards=shards,
        filters=filters,
        compressors=compressors,
        serializer=serializer,
        fill_value=fill_value,
        order=order,
        zarr_format=zarr_format or creation.default_format(),
        attributes=attributes,
        chunk_key_encoding=chunk_key_encoding,
        dimension_names=dimension_names,
    )
    return creation.create_array(
        place, request, data=data, write_data=write_data, overwrite=overwrite, config=config
    )


def from_array(
    store: Any,
    *,
    data: Any,
    write_data: bool = True,
    name: str | None = None,
    chunks: Any = "keep",
    shards: Any = "keep",
    filters: Any = "keep",
    compressors: Any = "keep",
    serializer: Any = "keep",
    fill_value: Any = DEFAULT_FILL_VALUE,
    order: Literal["C", "F"] | None = None,
    zarr_format: ZarrFormat | None = None,
    attributes: Mapping[str, Any] | None = None,
    chunk_key_encoding: Any = None,
    dimension_names: Iterable[str | None] | None = None,
    storage_options: dict[str, Any] | None = None,
    overwrite: bool = False,
    config: ArrayConfigLike | None = None,
) -> Array:
    """Create an array from another one.

    Parameters
    ----------
    data
        The source: an `Array`, or anything numpy makes an array of.
    chunks, shards, filters, compressors, serializer
        As for `create_array`; ``"keep"`` takes what the source has.
    store, write_data, name, fill_value, order, zarr_format, attributes, chunk_key_encoding
        As for `create_array`; by default what the source has.
    dimension_names, storage_options, overwrite, config
        As for `create_array`; by default what the source has.
    """
    place = opening.locate(store, name, "a", storage_options)
    request = ArrayRequest(
        shape=None,
        dtype=None,
        chunks=chunks,
        shards=shards,
        filters=filters,
        compressors=compressors,
        serializer=serializer,
        fill_value=fill_value,
        order=order,
        zarr_format=zarr_format,
        attributes=attributes,
        chunk_key_encoding=chunk_key_encoding,
        dimension_names=dimension_names,
    )
    return creation.from_array(
        place, request, data=data, write_data=write_data, overwrite=overwrite, config=config
    )


def create_group(
    store: Any,
    *,
    path: str | None = None,
    zarr_format: ZarrFormat | None = None,
    overwrite: bool = False,
    attributes: Mapping[str, Any] | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Group:
    """Create a group.

    Parameters
    ----------
    store, path, storage_options
        As for `open`.
    zarr_format
        2 or 3; by default ``config["default_zarr_format"]``.
    overwrite
        Replace what is there; otherwise that is an error.
    attributes
        User attributes.
    """
    place = opening.locate(store, path, "a", storage_options)
    return Group.from_store(
        place,
        attributes=attributes,
        zarr_format=zarr_format or creation.default_format(),
        overwrite=overwrite,
    )


def create_hierarchy(
    *,
    store: Any,
    nodes: Mapping[str, GroupMetadata | ArrayMetadata],
    overwrite: bool = False,
) -> Iterator[tuple[str, Group | Array]]:
    """Create many nodes; groups between them are created where they are missing.

    Parameters
    ----------
    store
        As for `open`.
    nodes
        Metadata by path.
    overwrite
        Replace the nodes that are there; otherwise one that is there is an error.

    Yields
    ------
    tuple of str and Array or Group
        Path and node.
    """
    for path, node, place in hierarchy.create(StorePath.locate(store), nodes, overwrite=overwrite):
        yield path, node_of(node, place)
