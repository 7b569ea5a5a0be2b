"""Bytes by offset: a file, a file object, or what is under a key of another store."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Sequence
from typing import BinaryIO, Protocol

from blazarr.errors import NotFoundError
from blazarr.stores.base import Data, Store

# What `StoreFile` fetches at least at once: a directory of some thousand entries.
BUFFER = 256 << 10


class Source(Protocol):
    """Something of which parts can be read from several threads at once."""

    def read_many(self, parts: Sequence[tuple[int, int]]) -> list[Data]:
        """Return parts, each given by offset and length; a part beyond the end is cut off."""


class Sized(Source, Protocol):
    """A source that knows its length."""

    def size(self) -> int:
        """Return how many bytes there are."""


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


class StoreFile(io.RawIOBase):
    """A value in a store as a file object for reading.

    Parameters
    ----------
    source
        The value.
    """

    def __init__(self, source: Sized) -> None:
        self._source = source
        self._size = source.size()
        self._position = 0

    @classmethod
    def buffered(cls, source: Sized) -> io.BufferedReader:
        """Return one that fetches many bytes at once."""
        return io.BufferedReader(cls(source), BUFFER)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = max(0, start + offset)
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # what io passes
        """Read what fits."""
        length = min(len(buffer), max(0, self._size - self._position))
        if not length:
            return 0
        (data,) = self._source.read_many([(self._position, length)])
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)
