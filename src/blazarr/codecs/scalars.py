"""Numbers in a codec's configuration, written as the fill values of a data type are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from blazarr.dtypes import DataType
from blazarr.errors import MetadataError

if TYPE_CHECKING:
    import numpy as np


def parse_scalar(value: Any, dtype: np.dtype[Any], codec: str, member: str) -> Any:
    """Return an element of a type.

    Parameters
    ----------
    value : object
        As it stands in the configuration.
    dtype : numpy.dtype
    codec, member : str
        Where it stands, for errors.
    """
    path = f"configuration.{member}"
    try:
        return DataType.from_numpy(dtype).fill_from_json(_number(value), path)
    except MetadataError as error:
        raise MetadataError(
            f"codec {codec!r}: {member}: {error.message}", path=path, codec=codec
        ) from error


def _number(value: Any) -> Any:
    """Read the decimal numbers that zarr-python accepts as strings."""
    if not isinstance(value, str):
        return value
    for read in (int, float):
        try:
            number = read(value)
        except ValueError:
            continue
        # The names of special values are the data type's to read.
        return number if math.isfinite(number) else value
    return value
