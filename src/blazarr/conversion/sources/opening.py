"""From what users pass to a source."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from blazarr.conversion.sources.base import Source
from blazarr.conversion.sources.zarr import zarr_source
from blazarr.errors import GroupNotFoundError
from blazarr.nodes import Array, Group, StorePath, opening


def _hdf5(path: Path, inside: str) -> Source:
    from blazarr.conversion.sources.hdf5 import hdf5_source

    return hdf5_source(path, inside)


def _tiff(path: Path, inside: str) -> Source:
    from blazarr.conversion.sources.tiff import tiff_source

    return tiff_source(path, inside)


_BY_SUFFIX: Final[dict[str, Callable[[Path, str], Source]]] = {
    **dict.fromkeys((".h5", ".hdf5", ".hdf", ".he5", ".nc", ".nc4", ".cdf"), _hdf5),
    **dict.fromkeys((".tif", ".tiff", ".btf"), _tiff),
}


def open_source(
    source: Any, path: str | None = None, storage_options: dict[str, Any] | None = None
) -> Source:
    """Return the hierarchy that an argument means.

    Parameters
    ----------
    source
        An `Array` or `Group`, anything that `blazarr.open` takes, or the path of an HDF5, NetCDF
        (version 4) or TIFF file.
    path
        Path inside.
    storage_options
        Options of a remote store.
    """
    if isinstance(source, Array | Group):
        return zarr_source(source if path is None else opened(source.store_path / path))
    if isinstance(source, str | os.PathLike) and not isinstance(source, StorePath):
        file = Path(os.fspath(source))
        reader = _BY_SUFFIX.get(file.suffix.lower())
        if reader is not None and file.is_file():
            return reader(file, (path or "").strip("/"))
    return zarr_source(opened(opening.locate(source, path, "r", storage_options)))


def opened(place: StorePath) -> Array | Group:
    """Open the node at a place; it has to be there."""
    node = opening.open_node(place, None, None, None)
    if node is None:
        raise GroupNotFoundError(
            f"there is no array or group at {place}", store=str(place.store), key=place.path
        )
    return node
