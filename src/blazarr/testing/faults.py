"""Stores that fail when they are told to.

::

    from blazarr.testing.faults import Fail, FaultyStore

    store = FaultyStore(MemoryStore(), Fail(nth=3))
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from blazarr.errors import StoreError
from blazarr.stores.base import ANY, Children, Data, Expect, Generation, Page
from blazarr.stores.wrappers import WrapperStore


class Call(NamedTuple):
    """A call of a store.

    Attributes
    ----------
    number
        Which one it is, from 1 on; each value of `Store.get_many` is one.
    verb
        ``"get"``, ``"put"``, ``"delete"``, ``"list"``, ``"children"``, ``"size"`` or
        ``"delete_folder"``.
    key
        Its key, prefix or folder.
    """

    number: int
    verb: str
    key: str


class Fail:
    """A fault: an error at some calls.

    Parameters
    ----------
    nth
        The number of the first call that fails.
    ever
        Whether all later ones fail too.
    verbs
        The calls that count; None is all.
    error
        Makes the error.
    """

    def __init__(
        self,
        nth: int,
        *,
        ever: bool = False,
        verbs: Sequence[str] | None = None,
        error: Callable[[Call], Exception] | None = None,
    ) -> None:
        self.nth = nth
        self.ever = ever
        self.verbs = verbs
        self.error = error or _error
        self._count = 0
        self._lock = threading.Lock()

    def __call__(self, call: Call) -> None:
        """Raise where it is this call's turn."""
        if self.verbs is not None and call.verb not in self.verbs:
            return
        with self._lock:
            self._count += 1
            count = self._count
        if count == self.nth or (self.ever and count > self.nth):
            raise self.error(call)


def _error(call: Call) -> Exception:
    return StoreError(f"{call.verb} {call.key!r} was told to fail", key=call.key)


@dataclass(frozen=True)
class FaultyStore(WrapperStore):
    """A store that asks a fault before each call of another one.

    Parameters
    ----------
    store
        The other store.
    fault
        Called with each `Call`; raises, or waits, or does nothing. `Fail` makes one.
    """

    fault: Callable[[Call], None]
    _calls: list[Call] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def calls(self) -> list[Call]:
        """What was asked so far."""
        return [*self._calls]

    def _meet(self, verb: str, key: str) -> None:
        call = Call(len(self._calls) + 1, verb, key)
        self._calls.append(call)
        self.fault(call)

    def get(self, key: str, range: slice | None = None) -> tuple[Data, Generation] | None:
        """Return what is under a key; see `Store.get`."""
        self._meet("get", key)
        return self.store.get(key, range)

    def get_many(
        self, keys: Sequence[str], ranges: Sequence[slice | None] | None = None
    ) -> list[tuple[Data, Generation] | None]:
        """Return what is under many keys; see `Store.get_many`."""
        for key in keys:
            self._meet("get", key)
        return self.store.get_many(keys, ranges)

    def put(self, key: str, data: Data, if_generation: Generation | Expect = ANY) -> Generation:
        """Replace what is under a key; see `Store.put`."""
        self._meet("put", key)
        return self.store.put(key, data, if_generation)

    def delete(self, key: str, if_generation: Generation | Expect = ANY) -> bool:
        """Delete a key; see `Store.delete`."""
        self._meet("delete", key)
        return self.store.delete(key, if_generation)

    def list(self, prefix: str = "", start_after: str = "") -> Iterator[Page]:
        """Yield keys and sizes by pages; see `Store.list`."""
        self._meet("list", prefix)
        return self.store.list(prefix, start_after)

    def children(self, folder: str = "") -> Children:
        """Return the names of what is directly in a folder."""
        self._meet("children", folder)
        return self.store.children(folder)

    def size(self, key: str) -> int | None:
        """Return the size of a value; None where the key does not exist."""
        self._meet("size", key)
        return self.store.size(key)

    def delete_folder(self, folder: str = "") -> None:
        """Delete every key in a folder and below."""
        self._meet("delete_folder", folder)
        self.store.delete_folder(folder)

    def __reduce__(self) -> tuple[object, ...]:
        return FaultyStore, (self.store, self.fault)
