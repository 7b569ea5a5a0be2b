"""A zip archive while it is written to, which `zipfile` does."""

from __future__ import annotations

import os
import threading
import zipfile
from bisect import bisect_left
from collections.abc import Callable
from typing import Any, BinaryIO

from blazarr.errors import CorruptError
from blazarr.stores.archive import Archive
from blazarr.stores.base import Data
from blazarr.stores.directory import is_key
from blazarr.stores.sources import ObjectSource, Source


class GrowingArchive(Archive):
    """An open archive that is written to.

    Parameters
    ----------
    file
        Where it is.
    source
        The same, to read from.
    name
        Name for errors.
    mode
        ``"a"`` or ``"w"``, as for `zipfile.ZipFile`.
    release
        Closes the file, where that is the archive's to do.
    zip64
        Whether it may be larger than 2 GiB.
    """

    writing = True
    entries: GrowingEntries

    def __init__(
        self,
        file: BinaryIO,
        source: Source,
        name: str,
        mode: Any,
        release: Callable[[], object],
        *,
        zip64: bool,
    ) -> None:
        try:
            self._zip = zipfile.ZipFile(file, mode, allowZip64=zip64)
        except (zipfile.BadZipFile, UnicodeDecodeError) as error:
            raise CorruptError(f"{name} is not a zip archive: {error}", store=name) from error
        if mode == "a":
            # Behind the old directory, which counts until the new one is written.
            self._zip.start_dir = file.seek(0, os.SEEK_END)
        # A file object has one position, for reading and writing.
        self._lock = source.lock if isinstance(source, ObjectSource) else threading.Lock()
        super().__init__(source, GrowingEntries(self._zip.filelist), name, release)

    def append(self, info: zipfile.ZipInfo, data: Data) -> None:
        """Add an entry; one of the same name is dropped from the directory."""
        with self._lock:
            if self.entries.get(info.filename) is not None:
                self._forget({info.filename})
            self._zip.writestr(info, data)
            if self._zip.fp is not None:
                self._zip.fp.flush()
            self.entries.replace(info)

    def drop(self, keys: set[str]) -> None:
        """Drop entries from the directory."""
        with self._lock:
            self._forget(keys)
            # There is no public way to have the directory written where nothing was added.
            self._zip._didModify = True  # type: ignore[attr-defined]  # noqa: SLF001
            self.entries.drop(keys)

    def _finish(self) -> None:
        self._zip.close()

    def _forget(self, keys: set[str]) -> None:
        self._zip.filelist[:] = [info for info in self._zip.filelist if info.filename not in keys]
        for key in keys:
            del self._zip.NameToInfo[key]


class GrowingEntries:
    """The entries of an archive, as `zipfile` has them; see `blazarr.stores.archive.Entries`.

    Parameters
    ----------
    infos
        The entries in the directory's order; of several with one name the last counts.
    """

    def __init__(self, infos: list[zipfile.ZipInfo]) -> None:
        # `zipfile` cuts names off at a NUL, with which they are no keys.
        self._infos = {info.filename: info for info in infos if is_key(info.orig_filename)}
        self._ordered: OrderedKeys | None = None

    def get(self, key: str) -> zipfile.ZipInfo | None:
        """Return an entry; None where there is none."""
        return self._infos.get(key)

    def ordered(self) -> OrderedKeys:
        """Return the keys in order; what changes later is not in them."""
        found = self._ordered
        if found is None:
            found = OrderedKeys([(key, info.file_size) for key, info in [*self._infos.items()]])
            self._ordered = found
        return found

    def replace(self, info: zipfile.ZipInfo) -> None:
        """Add an entry, or replace the one of its name."""
        self._infos[info.filename] = info
        self._ordered = None

    def drop(self, keys: set[str]) -> None:
        """Drop entries."""
        for key in keys:
            del self._infos[key]
        self._ordered = None


class OrderedKeys:
    """Keys in order, with sizes; see `blazarr.stores.archive.Ordered`.

    Parameters
    ----------
    items
        The keys, each with the size of its value.
    """

    def __init__(self, items: list[tuple[str, int]]) -> None:
        self._items = sorted(items)

    def __len__(self) -> int:
        return len(self._items)

    def first(self, key: str) -> int:
        """Return the position of the first key that is not before another."""
        return bisect_left(self._items, (key,))

    def at(self, position: int) -> tuple[str, int]:
        """Return the key at a position, and the size of its value."""
        return self._items[position]
