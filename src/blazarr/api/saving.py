"""Functions that save whole numpy arrays, and load them again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from blazarr.api.classic import create
from blazarr.api.opening import open
from blazarr.errors import BlazarrError
from blazarr.nodes import classic, creation, opening
from blazarr.nodes.array import Array
from blazarr.nodes.group import Group
from blazarr.nodes.location import StorePath, nested
from blazarr.nodes.request import ArrayRequest

ZarrFormat = Literal[2, 3]


def save(
    store: Any,
    *args: Any,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Save one array as an array, or several as a group.

    Parameters
    ----------
    store, path, storage_options, zarr_format
        As for `open`.
    *args, **kwargs
        numpy arrays; positional ones are called ``arr_0``, ``arr_1`` and so on.
    """
    place: dict[str, Any] = {
        "zarr_format": zarr_format,
        "path": path,
        "storage_options": storage_options,
    }
    if len(args) == 1 and not kwargs:
        save_array(store, args[0], **place)
    else:
        save_group(store, *args, **place, **kwargs)


def save_array(
    store: Any,
    arr: Any,
    *,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Save a numpy array.

    Parameters
    ----------
    store, path, storage_options, zarr_format
        As for `open`.
    arr
        A numpy array.
    **kwargs
        Arguments of `create`.
    """
    _check_arrays(arr)
    create(
        **{
            "shape": arr.shape,
            "dtype": arr.dtype,
            "chunks": getattr(arr, "chunks", None),
            "store": store,
            "path": path,
            "storage_options": storage_options,
            "zarr_format": zarr_format,
            **kwargs,
            "data": arr,
        }
    )


def save_group(
    store: Any,
    *args: Any,
    zarr_format: ZarrFormat | None = None,
    path: str | None = None,
    storage_options: dict[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Save several numpy arrays in a group, replacing what is there.

    Parameters
    ----------
    store, path, storage_options, zarr_format
        As for `open`.
    *args, **kwargs
        numpy arrays; positional ones are called ``arr_0``, ``arr_1`` and so on.
    """
    arrays = {**{f"arr_{number}": arr for number, arr in enumerate(args)}, **kwargs}
    if not arrays:
        raise BlazarrError("give at least one array to save", argument="args")
    _check_arrays(*arrays.values())
    chosen = zarr_format or creation.default_format()
    place = opening.locate(store, path, "w", storage_options)
    # Everything that can be refused is refused before the old group goes.
    for name, arr in arrays.items():
        _check_name(place, name, arrays)
        ArrayRequest(shape=arr.shape, dtype=arr.dtype, zarr_format=chosen).metadata()
        source = creation.place_of(arr)
        if source is not None:
            creation.refuse_overlap(source, place)
    Group.from_store(place, zarr_format=chosen, overwrite=True)
    for name, arr in arrays.items():
        classic.create(place / name, shape=arr.shape, dtype=arr.dtype, zarr_format=chosen, data=arr)


def load(store: Any, path: str | None = None, zarr_format: ZarrFormat | None = None) -> Any:
    """Read a whole array, or the arrays of a group as a dictionary.

    Parameters
    ----------
    store, path, zarr_format
        As for `open`.
    """
    node = open(store, mode="r", path=path, zarr_format=zarr_format)
    if isinstance(node, Array):
        return node[...]
    return {name: found[...] for name, found in node.arrays()}


def _check_name(group: StorePath, name: str, names: Iterable[str]) -> None:
    place = group.below(name)
    others = [
        other for other in names if other != name and nested(place.path, (group / other).path)
    ]
    if others:
        raise BlazarrError(
            f"{name!r} and {others[0]!r} are one inside of the other, and an array has no members",
            argument="kwargs",
        )


def _check_arrays(*arrays: Any) -> None:
    for arr in arrays:
        if not isinstance(arr, np.ndarray | np.generic) and not hasattr(arr, "__array__"):
            raise TypeError(f"only arrays can be saved, not {type(arr).__name__}: {arr!r}")
