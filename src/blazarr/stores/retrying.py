"""A store that asks again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from blazarr.errors import BlazarrError, StoreError
from blazarr.stores.base import ANY, Children, Data, Expect, Generation, Page
from blazarr.stores.wrappers import WrapperStore

T = TypeVar("T")

# Failures of these kinds stay.
LASTING: Final = {"permission", "storage-full", "no-locks"}


@dataclass(frozen=True)
class RetryStore(WrapperStore):
    """A store that asks another one again where it failed, for stores that don't do so themselves.

    What is repeated are `StoreError` and `OSError`. A put or delete on condition is not: the first
    try may have had its effect, which the second would take for another writer's.

    Parameters
    ----------
    store
        The other store.
    tries
        How often it is asked at most.
    deadline
        Seconds after which it is not asked again.
    first_pause
        Seconds before the second try; each later pause is twice as long, less a random part.
    """

    tries: int = 5
    deadline: float = 60.0
    first_pause: float = 0.1

    def get(self, key: str, range: slice | None = None) -> tuple[Data, Generation] | None:
        """Return what is under a key; see `Store.get`."""
        return self._again(lambda: self.store.get(key, range))

    def get_many(
        self, keys: Sequence[str], ranges: Sequence[slice | None] | None = None
    ) -> list[tuple[Data, Generation] | None]:
        """Return what is under many keys; see `Store.get_many`."""
        return self._again(lambda: self.store.get_many(keys, ranges))

    def put(self, key: str, data: Data, if_generation: Generation | Expect = ANY) -> Generation:
        """Replace what is under a key; see `Store.put`."""
        if if_generation is not ANY:
            return self.store.put(key, data, if_generation)
        return self._again(lambda: self.store.put(key, data))

    def delete(self, key: str, if_generation: Generation | Expect = ANY) -> bool:
        """Delete a key; see `Store.delete`."""
        if if_generation is not ANY:
            return self.store.delete(key, if_generation)
        return self._again(lambda: self.store.delete(key))

    def list(self, prefix: str = "", start_after: str = "") -> Iterator[Page]:
        """Yield keys and sizes by pages; see `Store.list`. A listing that breaks off is taken up."""
        pages: Iterator[Page] | None = None
        last = start_after

        def following() -> Page:
            nonlocal pages
            under_way, pages = pages or self.store.list(prefix, last), None
            page = next(under_way, [])
            pages = under_way
            return page

        while page := self._again(following):
            last = page[-1][0]
            yield page

    def children(self, folder: str = "") -> Children:
        """Return the names of what is directly in a folder."""
        return self._again(lambda: self.store.children(folder))

    def size(self, key: str) -> int | None:
        """Return the size of a value; None where the key does not exist."""
        return self._again(lambda: self.store.size(key))

    def delete_folder(self, folder: str = "") -> None:
        """Delete every key in a folder and below."""
        self._again(lambda: self.store.delete_folder(folder))

    def _again(self, call: Callable[[], T]) -> T:
        until = time.monotonic() + self.deadline
        for number in range(1, self.tries + 1):
            try:
                return call()
            except (StoreError, OSError) as error:
                pause = self.first_pause * 2 ** (number - 1) * random.uniform(0.5, 1)  # noqa: S311
                late = time.monotonic() + pause > until
                if _stays(error):
                    raise
                if late or number == self.tries:
                    raise self._given_up(error, number, late) from error
            time.sleep(pause)
        raise BlazarrError("tries is at least 1", argument="tries")

    def _given_up(self, error: Exception, attempts: int, late: bool) -> StoreError:
        return StoreError(
            f"{self}: {error} (asked {attempts} times)",
            kind="deadline" if late else getattr(error, "kind", None),
            store=str(self),
            key=getattr(error, "key", None),
            attempts=attempts,
            deadline=self.deadline,
        )

    def __str__(self) -> str:
        return str(self.store)


def _stays(error: Exception) -> bool:
    if isinstance(error, BlazarrError):
        return not isinstance(error, StoreError) or error.kind in LASTING
    return isinstance(error, PermissionError)
