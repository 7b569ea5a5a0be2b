"""Errors that zarrs-python's tests import."""

from blazarr.compat.zarr_python import CollapsedDimensionError, DiscontiguousArrayError
from blazarr.errors import UnsupportedError as UnsupportedDataTypeError
from blazarr.errors import UnsupportedError as UnsupportedMetadataError

__all__ = [
    "CollapsedDimensionError",
    "DiscontiguousArrayError",
    "UnsupportedDataTypeError",
    "UnsupportedMetadataError",
]
