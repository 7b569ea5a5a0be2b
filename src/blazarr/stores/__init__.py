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
from blazarr.stores.local import LocalStore
from blazarr.stores.memory import MemoryStore
from blazarr.stores.resolve import native, store_from
from blazarr.stores.wrappers import PrefixStore, ReadOnlyStore, WrapperStore
from blazarr.stores.zip import ZipStore

__all__ = [
    "ABSENT",
    "ANY",
    "Capabilities",
    "Children",
    "Data",
    "Expect",
    "Generation",
    "LocalStore",
    "MemoryStore",
    "Page",
    "PrefixStore",
    "ReadOnlyStore",
    "Store",
    "WrapperStore",
    "ZipStore",
    "native",
    "store_from",
]
