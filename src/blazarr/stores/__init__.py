"""Where bytes lie: the protocol, the local folder, memory, mappings, archives and wrappers."""

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
from blazarr.stores.caching import CacheStore
from blazarr.stores.local import LocalStore
from blazarr.stores.logged import LoggingStore
from blazarr.stores.memory import MemoryStore
from blazarr.stores.resolve import native, store_from
from blazarr.stores.retrying import RetryStore
from blazarr.stores.wrappers import PrefixStore, ReadOnlyStore, WrapperStore
from blazarr.stores.zip import ZipStore

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
