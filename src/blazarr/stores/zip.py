"""A zip archive."""

from __future__ import annotations

import os
import threading
import time
import weakref
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from blazarr._core import parse_folder, parse_key
from blazarr.errors import BlazarrError, ConflictError
from blazarr.stores.archive import Archive
from blazarr.stores.base import (
    ABSENT,
    ANY,
    PAGE,
    Capabilities,
    Children,
    Data,
    Expect,
    Generation,
    Page,
    Store,
    bounds,
    file_location,
)
from blazarr.stores.entries import Entry
from blazarr.stores.growing import GrowingArchive
from blazarr.stores.opened import open_archive
from blazarr.stores.sources import StoreSource

MODES: Final = ("r", "r+", "a", "w", "x")

# Archives that stores of this process have open for writing: whoever opens one of them again has
# the first one finish its directory.
_writers: weakref.WeakValueDictionary[str, ZipStore] = weakref.WeakValueDictionary()


class ZipStore(Store):
    """A zip archive: every key is an entry.

    Entries are stored or deflated; of several with one name the last counts. What is written is
    appended, and what it replaces is dropped from the directory but stays in the file. The
    directory is written by `flush`, `close`, pickling, and when the program ends, behind the old one;
    without it the archive is what it was before. Only one process can write to it at a time.

    Parameters
    ----------
    path
        The file, or a file object that can seek, or a `Store` and a key in it for an archive that
        is read by parts.
    mode
        ``"r"`` reads an archive, ``"r+"`` also writes to it, ``"a"`` makes it where it is missing,
        ``"w"`` makes a new one, ``"x"`` requires that there is none. Files are made at the first
        write.
    read_only
        Refuse every change; ``mode="r"`` does by itself.
    compression
        ``zipfile.ZIP_STORED`` or ``zipfile.ZIP_DEFLATED``, for entries that are written. Chunks
        are mostly compressed already.
    allowZip64
        Whether archives may be larger than 2 GiB.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | BinaryIO | tuple[Store, str],
        *,
        mode: Literal["r", "r+", "a", "w", "x"] = "r",
        read_only: bool | None = None,
        compression: int = zipfile.ZIP_STORED,
        allowZip64: bool = True,  # noqa: N803 - zarr-python's and zipfile's name
    ) -> None:
        if mode not in MODES:
            raise BlazarrError(f"mode is one of {MODES}, not {mode!r}", argument="mode")
        self.path: Any = path
        if isinstance(path, str | os.PathLike):
            self.path = Path(os.path.abspath(path))  # noqa: PTH100 - without following links
        self._read_only = mode == "r" or isinstance(path, tuple) or bool(read_only)
        self._mode: str = mode
        self._compression = compression
        self._allow_zip64 = allowZip64
        self._lock = threading.RLock()
        self._archive: Archive | None = None
        self._finish: Callable[[], object] = _nothing

    @property
    def capabilities(self) -> Capabilities:
        """What this store can do."""
        return Capabilities(read_only=self._read_only, conditional=True, ranges=True)

    def location(self, folder: str = "") -> str | None:
        """Return the URL of a folder, as if the archive were one; see `Store.location`."""
        if isinstance(self.path, Path):
            return file_location(self.path, folder)
        if isinstance(self.path, tuple):
            found: str | None = self.path[0].location(f"{self.path[1]}/{folder}".rstrip("/"))
            return found
        return None

    def get(self, key: str, range: slice | None = None) -> tuple[Data, Generation] | None:
        """Return what is under a key; see `Store.get`."""
        return self.get_many([key], [range])[0]

    def get_many(
        self, keys: Sequence[str], ranges: Sequence[slice | None] | None = None
    ) -> list[tuple[Data, Generation] | None]:
        """Return what is under many keys; see `Store.get_many`."""
        parts = [None if part is None else bounds(part) for part in ranges or [None] * len(keys)]
        archive = self._opened()
        infos = [archive.entries.get(parse_key(key)) for key in keys]
        wanted = [(info, part) for info, part in zip(infos, parts, strict=True) if info is not None]
        found = iter(archive.read(wanted))
        return [None if info is None else (next(found), _generation(info)) for info in infos]

    def put(self, key: str, data: Data, if_generation: Generation | Expect = ANY) -> Generation:
        """Replace what is under a key; see `Store.put`."""
        self.require_writable(key)
        with self._lock:
            archive = self._growing()
            self._check(archive, parse_key(key), if_generation)
            info = zipfile.ZipInfo(key, time.localtime()[:6])
            info.compress_type = self._compression
            info.external_attr = 0o644 << 16
            archive.append(info, data)
            return _generation(info)

    def delete(self, key: str, if_generation: Generation | Expect = ANY) -> bool:
        """Delete a key; see `Store.delete`."""
        self.require_writable(key)
        with self._lock:
            archive = self._opened()
            self._check(archive, parse_key(key), if_generation)
            if archive.entries.get(key) is None:
                return False
            self._growing().drop({key})
            return True

    def delete_folder(self, folder: str = "") -> None:
        """Delete every key in a folder and below."""
        self.require_writable(folder)
        with self._lock:
            gone = set(self.keys(parse_folder(folder)))
            if gone:
                self._growing().drop(gone)

    def list(self, prefix: str = "", start_after: str = "") -> Iterator[Page]:
        """Yield keys and sizes by pages; see `Store.list`."""
        ordered = self._opened().entries.ordered()
        # Keys that begin with the prefix lie together. Nothing lies between a key and it with a NUL.
        position = ordered.first(max(prefix, f"{start_after}\0" if start_after else ""))
        page: Page = []
        for entry in map(ordered.at, range(position, len(ordered))):
            if not entry[0].startswith(prefix):
                break
            page.append(entry)
            if len(page) == PAGE:
                yield page
                page = []
        if page:
            yield page

    def children(self, folder: str = "") -> Children:
        """Return the names of what is directly in a folder."""
        ordered = self._opened().entries.ordered()
        prefix = parse_folder(folder)
        found = Children([], [])
        position = ordered.first(prefix)
        while position < len(ordered) and (key := ordered.at(position)[0]).startswith(prefix):
            name, slash, _ = key[len(prefix) :].partition("/")
            (found.folders if slash else found.keys).append(name)
            # What lies in the folder ends where the character after a slash would be.
            position = ordered.first(f"{prefix}{name}0") if slash else position + 1
        return Children(found.keys, sorted(found.folders))

    def size(self, key: str) -> int | None:
        """Return the size of a value; None where the key does not exist."""
        info = self._opened().entries.get(parse_key(key))
        return None if info is None else info.file_size

    def flush(self) -> None:
        """Write the directory, so that what was written until now can be read by others."""
        with self._lock:
            if self._archive is not None and self._archive.writing:
                self._close()

    def close(self) -> None:
        """Write the directory and close the file; the next use opens it again."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        self._finish()
        self._archive = None

    def _opened(self, *, writing: bool = False) -> Archive:
        archive = self._archive
        if archive is not None and (archive.writing or not writing):
            return archive
        with self._lock:
            if self._archive is None or (writing and not self._archive.writing):
                self._others_finish()
                self._archive = self._open(writing)
            return self._archive

    def _growing(self) -> GrowingArchive:
        archive = self._opened(writing=True)
        assert isinstance(archive, GrowingArchive)
        return archive

    def _open(self, writing: bool) -> Archive:
        new = self._mode in {"w", "x"}
        self._finish()
        archive = open_archive(
            _opener(self.path), str(self), self._mode, writing=writing, zip64=self._allow_zip64
        )
        # Files are closed with their store, and archives finished when the program ends.
        self._finish = weakref.finalize(self, archive.close)
        if writing:
            if isinstance(self.path, Path):
                _writers[str(self.path)] = self
            if new:
                self._mode = "r+"
        return archive

    def _others_finish(self) -> None:
        other = _writers.get(str(self.path)) if isinstance(self.path, Path) else None
        if other is not None and other is not self:
            other.flush()

    def _check(self, archive: Archive, key: str, expected: Generation | Expect) -> None:
        info = archive.entries.get(key)
        present = ABSENT if info is None else _generation(info)
        if expected is not ANY and present != expected:
            raise ConflictError(f"{key!r} was changed by another writer", store=str(self), key=key)

    def __reduce__(self) -> tuple[Any, ...]:
        self.flush()
        options = self._mode, self._read_only, self._compression, self._allow_zip64
        return _restore, (self.path, *options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZipStore) and (self.path, self._read_only) == (
            other.path,
            other._read_only,
        )

    def __hash__(self) -> int:
        return hash((ZipStore, str(self.path)))

    def __str__(self) -> str:
        if isinstance(self.path, tuple):
            return f"zip://{self.path[0]}/{self.path[1]}"
        return f"zip://{self.path}"

    def __repr__(self) -> str:
        return f"ZipStore({str(self)!r}{', read_only=True' if self._read_only else ''})"


def _nothing() -> None:
    """Stand in for closing an archive where none is open."""


def _opener(path: Any) -> Any:
    return StoreSource(*path) if isinstance(path, tuple) else path


def _generation(info: Entry) -> Generation:
    return info.header_offset, info.CRC, info.file_size


def _restore(
    path: Any, mode: Any, read_only: bool, compression: int, allow_zip64: bool
) -> ZipStore:
    return ZipStore(
        path,
        mode=mode,
        read_only=read_only,
        compression=compression,
        allowZip64=allow_zip64,
    )
