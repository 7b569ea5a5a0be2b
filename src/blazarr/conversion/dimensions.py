"""Names of dimensions: a member of the metadata in format 3, xarray's attribute in format 2."""

from __future__ import annotations

import base64
import struct
from typing import Any, Final

import numpy as np

from blazarr.metadata import ArrayMetadata

ATTRIBUTE: Final = "_ARRAY_DIMENSIONS"
FILL_ATTRIBUTE: Final = "_FillValue"

Names = tuple[str | None, ...]


def names_of(metadata: ArrayMetadata) -> Names:
    """Return the name of each dimension, or None for those without."""
    if metadata.dimension_names is not None:
        return metadata.dimension_names
    found = metadata.attributes.get(ATTRIBUTE)
    names = found if isinstance(found, list) else []
    if len(names) == metadata.ndim and all(isinstance(name, str) for name in names):
        return tuple(names)
    return (None,) * metadata.ndim


def with_names(source: ArrayMetadata, zarr_format: int) -> tuple[Names | None, dict[str, Any]]:
    """Return the names for a format, and the attributes, one of which may hold the names.

    Parameters
    ----------
    source
        Metadata of either format.
    zarr_format
        Format of what is to be written.
    """
    names, attributes = names_of(source), dict(source.attributes)
    named = any(name is not None for name in names)
    if zarr_format == 2:
        if named and ATTRIBUTE not in attributes and all(name is not None for name in names):
            attributes[ATTRIBUTE] = list(names)
        return None, attributes
    if source.zarr_format == 3 or not named:
        return source.dimension_names, attributes
    del attributes[ATTRIBUTE]
    fill = fill_attribute(source)
    if fill is not None and FILL_ATTRIBUTE not in attributes:
        # xarray takes the fill value for "no data" in format 2; in format 3 it wants this.
        attributes[FILL_ATTRIBUTE] = fill
    return names, attributes


def fill_attribute(metadata: ArrayMetadata) -> Any:
    """Return the fill value as xarray writes it into attributes of format 3; None for none."""
    value = metadata.fill_value
    return None if value is None else encoded_fill(np.asarray(value, metadata.data_type.native))


def encoded_fill(value: np.ndarray[Any, Any]) -> Any:
    """Return a value of no data as xarray writes it into attributes of format 3.

    Parameters
    ----------
    value
        A scalar array; None comes back for kinds that have no such form.
    """
    if value.dtype.kind == "f":
        return base64.standard_b64encode(struct.pack("<d", float(value))).decode()
    return value.item() if value.dtype.kind in "iub" else None
