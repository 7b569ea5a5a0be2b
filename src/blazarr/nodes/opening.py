"""What the modes of ``open``, ``open_array`` and ``open_group`` mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blazarr.engine.array_config import ArrayConfigLike
from blazarr.errors import (
    ArrayNotFoundError,
    BlazarrError,
    ContainsArrayError,
    ContainsGroupError,
    ExistsError,
    GroupNotFoundError,
)
from blazarr.metadata import ArrayMetadata
from blazarr.nodes import classic, consolidated, creation, documents
from blazarr.nodes.array import Array
from blazarr.nodes.group import Group
from blazarr.nodes.location import StorePath

MODES = ("r", "r+", "a", "w", "w-")


def default_mode(store: Any) -> str:
    """Return the mode of ``open`` where none is given: what the store allows."""
    return "r" if getattr(store, "read_only", False) else "a"


def locate(
    store: Any, path: str | None, mode: str | None, storage_options: dict[str, Any] | None
) -> StorePath:
    """Return the place that arguments mean, after the checks of a mode.

    Parameters
    ----------
    store, path, storage_options
        As for `blazarr.open`.
    mode
        One of `MODES`, or None for whatever the store allows.
    """
    if mode is not None and mode not in MODES:
        raise BlazarrError(f"mode must be one of {MODES}, not {mode!r}", argument="mode")
    place = StorePath.locate(store, path, mode, storage_options)
    if mode not in (None, "r"):
        place.require_writable()
    if mode == "w-" and not place.is_empty():
        raise ExistsError(
            f"{place} holds something already; use mode='w' to replace it, or 'a' to keep it",
            key=place.path,
        )
    return place


def open_node(
    place: StorePath,
    zarr_format: int | None,
    config: ArrayConfigLike | None,
    use_consolidated: bool | str | None,
) -> Array | Group | None:
    """Open whatever is at a place; None where there is nothing."""
    found = documents.read_node(place, zarr_format)
    if isinstance(found, ArrayMetadata):
        return Array(found, place, config)
    try:
        group = consolidated.complete(place, found, zarr_format, use_consolidated)
    except GroupNotFoundError:
        return None
    if config is not None:
        raise TypeError(f"config configures arrays, but {place} is a group")
    return Group(group, place)


def open_array(
    place: StorePath,
    mode: str | None,
    zarr_format: int | None,
    config: ArrayConfigLike | None,
    arguments: Mapping[str, Any],
) -> Array:
    """Open an array, or create it with arguments of `blazarr.create` where the mode says so."""
    if mode != "w":
        try:
            return Array(documents.read_array(place, zarr_format), place, config)
        except ArrayNotFoundError:
            if mode not in ("a", "w-"):
                raise
    if "shape" not in arguments:
        raise ArrayNotFoundError(
            f"there is no array at {place}, and it takes a shape= to create one", key=place.path
        )
    try:
        return classic.create(
            place, overwrite=mode == "w", config=config, zarr_format=zarr_format, **arguments
        )
    except ContainsArrayError:
        if mode != "a":
            raise
        # Created by somebody else since it was looked for.
        return Array(documents.read_array(place, zarr_format), place, config)


def open_group(
    place: StorePath,
    mode: str,
    zarr_format: int | None = None,
    attributes: Mapping[str, Any] | None = None,
    use_consolidated: bool | str | None = None,
) -> Group:
    """Open a group, or create it where the mode says so."""

    def existing() -> Group:
        return Group(consolidated.read_group(place, zarr_format, use_consolidated), place)

    if mode in {"r", "r+", "a"}:
        try:
            return existing()
        except GroupNotFoundError:
            if mode != "a":
                raise
    chosen = zarr_format or creation.default_format()
    try:
        return Group.from_store(
            place, attributes=attributes, zarr_format=chosen, overwrite=mode == "w"
        )
    except ContainsGroupError:
        if mode != "a":
            raise
        # Created by somebody else since it was looked for.
        return existing()


def consolidate(place: StorePath, zarr_format: int | None) -> Group:
    """Write consolidated metadata, and return the group with it."""
    return Group(consolidated.consolidate(place, zarr_format), place)
