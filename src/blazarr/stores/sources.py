"""Bytes by offset: a file, a file object, or what is under a key of another store."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import BinaryIO, Protocol

from blazarr.errors import NotFoundError
from blazarr.stores.base import Data, Store


class Source(Protocol):
    """Something of which parts can be read from several threads at once."""

    def read_many(self, parts: Sequence[tuple[int, int]]) -> list[Data]:
        """Return parts, each given by offset and length; a part beyond the end is cut off."""


class FileSource:
    """A file that the operating system has open.

    Parameters
    ----------
    descriptor
        Its number.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read_many(self, parts: Sequence[tuple[int, int]]) -> list[Data]:
        """Return parts; see `Source.read_many`."""
        return [self._read(offset, length) for offset, length in parts]

    def _read(self, offset: int, length: int) -> bytes:
        found = os.pread(self._descriptor, length, offset)
        pieces = [found]
        # The system gives at most 2 GiB at once.
        while found and (missing := length - sum(map(len, pieces))):
            found = os.pread(self._descriptor, missing, offset + length - missing)
            pieces.append(found)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class ObjectSource:
    """A seekable file object.

    Parameters
    ----------
    file
        The object; its position changes.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        # Whoever moves the object's position holds it, writers too.
        self.lock = threading.Lock()

    def read_many(self, parts: Sequence[tuple[int, int]]) -> list[Data]:
        """Return parts; see `Source.read_many`."""
        return [self._read(offset, length) for offset, length in parts]

    def _read(self, offset: int, length: int) -> bytes:
        with self.lock:
            self._file.seek(offset)
            return self._file.read(length)


class StoreSource:
    """A value in a store.

    Parameters
    ----------
    store
        The store.
    key
        The key.
    """

    def __init__(self, store: Store, key: str) -> None:
        self._store = store
        self._key = key

    def read_many(self, parts: Sequence[tuple[int, int]]) -> list[Data]:
        """Return parts; see `Source.read_many`."""
        ranges = [slice(offset, offset + length) for offset, length in parts]
        found = self._store.get_many([self._key] * len(parts), ranges)
        return [self._data(item) for item in found]

    def size(self) -> int:
        """Return how many bytes there are."""
        size = self._store.size(self._key)
        if size is None:
            raise self._missing()
        return size

    def _data(self, item: tuple[Data, object] | None) -> Data:
        if item is None:
            raise self._missing()
        return item[0]

    def _missing(self) -> NotFoundError:
        return NotFoundError(
            f"there is no {self._key!r} in {self._store}", store=str(self._store), key=self._key
        )
