"""zarr-python's name for `blazarr.stores`."""

from collections.abc import MutableMapping
from os import PathLike
from typing import Any, TypeAlias

from blazarr.nodes.location import StorePath
from blazarr.stores import LocalStore, MemoryStore, Store, WrapperStore, ZipStore
from blazarr.stores.fsspec import FsspecStore
from blazarr.stores.logged import LoggingStore
from blazarr.stores.object_store import ObjectStore

__all__ = [
    "FsspecStore",
    "LocalStore",
    "LoggingStore",
    "MemoryStore",
    "ObjectStore",
    "StoreLike",
    "StorePath",
    "WrapperStore",
    "ZipStore",
]

StoreLike: TypeAlias = Store | StorePath | PathLike[str] | str | MutableMapping[str, Any] | None
