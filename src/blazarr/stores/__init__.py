"""Where bytes lie: the protocol, the local folder, memory, mappings, archives and wrappers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from blazarr.stores.base import (
    ABSENT,
    ANY,
    Capabilities,
    Children,
    Data,
    Expect,
    Generation,
    Page,
    Store,
)
from blazarr.stores.local import LocalStore
from blazarr.stores.memory import MemoryStore
from blazarr.stores.resolve import native, store_from
from blazarr.stores.wrappers import PrefixStore, ReadOnlyStore, WrapperStore

if TYPE_CHECKING:
    from blazarr.stores.caching import CacheStore
    from blazarr.stores.logged import LoggingStore
    from blazarr.stores.retrying import RetryStore
    from blazarr.stores.zip import ZipStore

# These load on use.
_PLACES: Final = {
    "CacheStore": "caching",
    "LoggingStore": "logged",
    "RetryStore": "retrying",
    "ZipStore": "zip",
}

__all__ = [
    "ABSENT",
    "ANY",
    "CacheStore",
    "Capabilities",
    "Children",
    "Data",
    "Expect",
    "Generation",
    "LocalStore",
    "LoggingStore",
    "MemoryStore",
    "Page",
    "PrefixStore",
    "ReadOnlyStore",
    "RetryStore",
    "Store",
    "WrapperStore",
    "ZipStore",
    "native",
    "store_from",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
