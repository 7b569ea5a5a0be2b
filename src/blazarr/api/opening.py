"""Functions that open what is there, and create what is missing if the mode says so.

Modes: ``r`` reads what is there, ``r+`` also writes to it, ``a`` creates what is missing, ``w``
replaces what is there, ``w-`` creates where there is nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from blazarr.engine.array_config import ArrayConfigLike
from blazarr.errors import GroupNotFoundError
from blazarr.nodes import classic, opening
from blazarr.nodes.array import Array
from blazarr.nodes.group import Group

if TYPE_CHECKING:
    from blazarr.cuda.array import CudaArray

Mode = Literal["r", "r+", "a", "w", "w-"]
ZarrFormat = Literal[2, 3]


def open(
    store: Any = None,
    *,
    mode: Mode | None = None,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    config: ArrayConfigLike | None = None,
    **kwargs: Any,
) -> Array | Group:
    """Open the array or group at a place.

    Parameters
    ----------
    store
        A folder (str or Path), URL, store, or dictionary; None is a new store in memory.
    mode
        How to open it; ``"a"`` (``"r"`` for a read-only store) by default.
    zarr_format
        2 or 3; by default what is there.
    path
        Path in the store.
    storage_options
        Options of a remote store.
    config
        Configuration of an array's handle.
    **kwargs
        Passed on to `open_array` or `open_group`; with ``shape``, a missing array is created.
    """
    chosen = mode or opening.default_mode(store)
    place = opening.locate(store, path, chosen, storage_options)
    if chosen in {"r", "r+", "a"}:
        node = opening.open_node(place, zarr_format, config, kwargs.get("use_consolidated"))
        if node is not None:
            return node
    if "shape" in kwargs:
        return opening.open_array(place, chosen, zarr_format, config, kwargs)
    if chosen in {"r", "r+"}:
        raise GroupNotFoundError(
            f"there is no array or group at {place}", store=str(place.store), key=place.path
        )
    if config is not None:
        raise TypeError(f"config configures arrays, but {place} is to be a group")
    return opening.open_group(place, chosen, zarr_format, **kwargs)


@overload
def open_array(store: Any = ..., *, device: str, **kwargs: Any) -> CudaArray: ...
@overload
def open_array(store: Any = ..., *, device: None = ..., **kwargs: Any) -> Array: ...
def open_array(
    store: Any = None,
    *,
    zarr_format: ZarrFormat | None = None,
    path: str = "",
    storage_options: dict[str, Any] | None = None,
    config: ArrayConfigLike | None = None,
    mode: Mode | None = None,
    device: str | None = None,
    **kwargs: Any,
) -> Array | CudaArray:
    """Open an array.

    Parameters
    ----------
    store, zarr_format, path, storage_options, config
        As for `open`.
    mode
        How to open it; by default an existing array is opened as the store allows.
    device
        ``"cuda"`` or ``"cuda:1"`` for a handle that reads to a GPU; None is the CPU.
    **kwargs
        Arguments of `create` for an array that is missing.
    """
    place = opening.locate(store, path, mode, storage_options)
    array = opening.open_array(place, mode, zarr_format, config, kwargs)
    return array if device is None else array.to(device)


def open_group(
    store: Any = None,
    *,
    mode: Mode = "a",
    cache_attrs: bool | None = None,
    synchronizer: Any = None,
    path: str | None = None,
    chunk_store: Any = None,
    storage_options: dict[str, Any] | None = None,
    zarr_format: ZarrFormat | None = None,
    meta_array: Any = None,
    attributes: Mapping[str, Any] | None = None,
    use_consolidated: bool | str | None = None,
) -> Group:
    """Open a group.

    Parameters
    ----------
    store, mode, path, storage_options, zarr_format
        As for `open`.
    attributes
        Attributes of a group that is created.
    use_consolidated
        Whether to take the members from consolidated metadata: None where it is there, True (or in
        format 2 the name of its document) insists, False reads each member's own metadata.
    cache_attrs, synchronizer, chunk_store, meta_array
        Of zarr-python 2; without effect.
    """
    classic.warn_without_effect(
        cache_attrs=cache_attrs,
        synchronizer=synchronizer,
        chunk_store=chunk_store,
        meta_array=meta_array,
    )
    place = opening.locate(store, path, mode, storage_options)
    return opening.open_group(place, mode, zarr_format, attributes, use_consolidated)


def open_consolidated(*args: Any, use_consolidated: Literal[True] = True, **kwargs: Any) -> Group:
    """Open a group by its consolidated metadata; arguments are those of `open_group`."""
    if use_consolidated is not True:
        raise TypeError("open_consolidated takes only use_consolidated=True; see open_group")
    return open_group(*args, use_consolidated=True, **kwargs)


def group(
    store: Any = None,
    *,
    overwrite: bool = False,
    chunk_store: Any = None,
    cache_attrs: bool | None = None,
    synchronizer: Any = None,
    path: str | None = None,
    zarr_format: ZarrFormat | None = None,
    meta_array: Any = None,
    attributes: Mapping[str, Any] | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Group:
    """Open a group, creating it if it is missing.

    Parameters
    ----------
    overwrite
        Replace what is there.
    store, chunk_store, cache_attrs, synchronizer, path, zarr_format, meta_array, attributes
        As for `open_group`.
    storage_options
        As for `open`.
    """
    return open_group(
        store,
        mode="w" if overwrite else "a",
        chunk_store=chunk_store,
        cache_attrs=cache_attrs,
        synchronizer=synchronizer,
        path=path,
        zarr_format=zarr_format,
        meta_array=meta_array,
        attributes=attributes,
        storage_options=storage_options,
    )


def consolidate_metadata(
    store: Any, path: str | None = None, zarr_format: ZarrFormat | None = None
) -> Group:
    """Write the metadata of everything below a group into the group.

    Parameters
    ----------
    store, path, zarr_format
        As for `open`.

    Returns
    -------
    Group
        The group, with its consolidated metadata.
    """
    place = opening.locate(store, path, None, None)
    return opening.consolidate(place, zarr_format)


def tree(grp: Group, expand: bool | None = None, level: int | None = None) -> Any:
    """Return a drawing of a hierarchy; see `Group.tree`."""
    return grp.tree(expand=expand, level=level)
