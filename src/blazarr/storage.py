"""zarr-python's name for `blazarr.stores`."""

from collections.abc import MutableMapping
from os import PathLike
from typing import Any, TypeAlias

from blazarr.nodes.location import StorePath
from blazarr.stores import LocalStore, MemoryStore, Store, ZipStore

__all__ = ["LocalStore", "MemoryStore", "StoreLike", "StorePath", "ZipStore"]

StoreLike: TypeAlias = Store | StorePath | PathLike[str] | str | MutableMapping[str, Any] | None
