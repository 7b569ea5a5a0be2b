"""zarr-python's names for types in annotations."""

from typing import Any, Literal, TypeAlias

from blazarr.nodes import Array, AsyncArray

__all__ = [
    "JSON",
    "AnyArray",
    "AnyAsyncArray",
    "ArrayV2",
    "ArrayV3",
    "AsyncArrayV2",
    "AsyncArrayV3",
    "DTypeConfig_V2",
    "DTypeJSON",
    "ZarrFormat",
]

JSON: TypeAlias = Any
ZarrFormat: TypeAlias = Literal[2, 3]

# One class serves both formats.
AnyArray: TypeAlias = Array
ArrayV2: TypeAlias = Array
ArrayV3: TypeAlias = Array
AnyAsyncArray: TypeAlias = AsyncArray
AsyncArrayV2: TypeAlias = AsyncArray
AsyncArrayV3: TypeAlias = AsyncArray

# What documents hold.
DTypeJSON: TypeAlias = str | dict[str, Any]
DTypeConfig_V2: TypeAlias = dict[str, Any]
