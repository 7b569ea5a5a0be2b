"""A zip archive while it is open."""

from __future__ import annotations

import io
import os
import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from blazarr._core import parse_key
from blazarr.errors import BlazarrError, CorruptError, ExistsError, NotFoundError, StoreError
from blazarr.stores.base import Data
from blazarr.stores.entries import (
    LOCAL_HEADER,
    beginning,
    corrupt,
    data_offset,
    require_readable,
    whole,
)
from blazarr.stores.sources import FileSource, ObjectSource, Source, StoreFile, StoreSource
from blazarr.stores.unfinished import last_finished

# A part of an entry, as start and stop, a negative start counting from the end; None for all of it.
Part = tuple[int, int | None] | None


class Archive:
    """An open archive.

    Parameters
    ----------
    file
        Where it is; None where it does not exist yet.
    source
        The same, to read from.
    name
        Name for errors.
    mode
        ``"r"``, ``"a"`` or ``"w"``, as for `zipfile.ZipFile`.
    owned
        Whether the file is closed with the archive.
    zip64
        Whether it may be larger than 2 GiB.
    """

    def __init__(
        self, file: BinaryIO, source: Source, name: str, mode: Any, *, owned: bool, zip64: bool
    ) -> None:
        self.name = name
        self.writing = mode != "r"
        self._file = file if owned else None
        self._source = source
        self._process = os.getpid()
        # A file object has one position, for reading and writing.
        self._lock = source.lock if isinstance(source, ObjectSource) else threading.Lock()
        self._starts: dict[int, int] = {}
        try:
            self._zip = zipfile.ZipFile(file, mode, allowZip64=zip64)
        except (zipfile.BadZipFile, UnicodeDecodeError) as error:
            if owned:
                file.close()
            raise CorruptError(f"{name} is not a zip archive: {error}", store=name) from error
        if mode == "a":
            # Behind the old directory, which counts until the new one is written.
            self._zip.start_dir = file.seek(0, os.SEEK_END)
        # Of entries with one name the last wins. What is no key (folders, "..") is out of reach.
        self.entries = {key: info for key, info in self._zip.NameToInfo.items() if _is_key(key)}
        self._names: list[str] | None = None

    def names(self) -> list[str]:
        """Return the keys in order."""
        with self._lock:
            if self._names is None:
                self._names = sorted(self.entries)
            return self._names

    def read(self, wanted: Sequence[tuple[zipfile.ZipInfo, Part]]) -> list[Data]:
        """Return parts of entries.

        Parameters
        ----------
        wanted
            The entries, each with the part wanted of it.
        """
        for info, _ in wanted:
            require_readable(info, self.name)
        self._find([info for info, _ in wanted])
        spans = [self._span(info, part) for info, part in wanted]
        raw = self._source.read_many(spans)
        return [
            self._value(info, part, span[1], data)
            for (info, part), span, data in zip(wanted, spans, raw, strict=True)
        ]

    def append(self, info: zipfile.ZipInfo, data: Data) -> None:
        """Add an entry; one of the same name is dropped from the directory."""
        before = self.entries.get(info.filename)
        with self._lock:
            if before is not None:
                self._forget({info.filename})
            self._zip.writestr(info, data)
            self._flush()
            self.entries[info.filename] = info
            self._names = self._names if before is not None else None

    def drop(self, keys: set[str]) -> None:
        """Drop entries from the directory."""
        with self._lock:
            self._forget(keys)
            # There is no public way to have the directory written where nothing was added.
            self._zip._didModify = True  # type: ignore[attr-defined]  # noqa: SLF001
            for key in keys:
                del self.entries[key]
            self._names = None

    def close(self) -> None:
        """Write the directory where something changed, and close the file."""
        # A forked child has the archive open too, but it is not the child's to finish.
        if self._process != os.getpid():
            return
        self._zip.close()
        if self._file is not None:
            self._file.close()

    def _find(self, infos: Sequence[zipfile.ZipInfo]) -> None:
        new = [info for info in infos if info.header_offset not in self._starts]
        headers = self._source.read_many([(info.header_offset, LOCAL_HEADER.size) for info in new])
        for info, header in zip(new, headers, strict=True):
            self._starts[info.header_offset] = data_offset(info, header, self.name)

    def _span(self, info: zipfile.ZipInfo, part: Part) -> tuple[int, int]:
        """Return where the bytes lie from which a part is made, as offset and length."""
        start = self._starts[info.header_offset]
        if part is None or info.compress_type != zipfile.ZIP_STORED:
            return start, info.compress_size
        first, last, _ = slice(*part).indices(info.file_size)
        return start + first, max(0, last - first)

    def _value(self, info: zipfile.ZipInfo, part: Part, length: int, raw: Data) -> Data:
        if len(raw) != length:
            raise corrupt(info, self.name, "the file ends within it")
        if part is None:
            return whole(info, raw, self.name)
        if info.compress_type == zipfile.ZIP_STORED:
            return raw
        first, last, _ = slice(*part).indices(info.file_size)
        found = beginning(info, raw, self.name, last)
        if len(found) < last:
            raise corrupt(info, self.name, "it is shorter than the directory says")
        return memoryview(found)[first:last]

    def _forget(self, keys: set[str]) -> None:
        self._zip.filelist[:] = [info for info in self._zip.filelist if info.filename not in keys]
        for key in keys:
            del self._zip.NameToInfo[key]

    def _flush(self) -> None:
        if self._zip.fp is not None:
            self._zip.fp.flush()


def open_archive(place: Any, name: str, mode: str, *, writing: bool, zip64: bool) -> Archive:
    """Open an archive.

    Parameters
    ----------
    place
        A path, a file object or a `StoreSource`.
    name
        Name for errors.
    mode
        The store's mode.
    writing
        Whether the archive is about to be changed.
    zip64
        Whether it may be larger than 2 GiB.
    """
    if isinstance(place, StoreSource):
        file: Any = StoreFile.buffered(place)
        return Archive(file, place, name, "r", owned=True, zip64=zip64)
    if not isinstance(place, Path):
        how = _how(mode, _length(place), name, writing=writing)
        file = io.BytesIO(_EMPTY) if how is None else place
        return Archive(file, ObjectSource(file), name, how or "r", owned=how is None, zip64=zip64)
    size = place.stat().st_size if place.is_file() else None
    how = _how(mode, size, name, writing=writing)
    if how is None:
        file = io.BytesIO(_EMPTY)
        return Archive(file, ObjectSource(file), name, "r", owned=True, zip64=zip64)
    if writing:
        place.parent.mkdir(parents=True, exist_ok=True)
    file = place.open({"r": "rb", "a": "r+b", "w": "w+b"}[how])
    if writing:
        _claim(file, name)
    source = FileSource(file.fileno())
    ended = file if how == "w" else last_finished(file, name, writing=writing)
    return Archive(ended, source, name, how, owned=True, zip64=zip64)


# An archive without entries is the end of its directory and nothing else.
_EMPTY = b"PK\5\6" + bytes(18)


def _how(mode: str, size: int | None, name: str, *, writing: bool) -> Any:
    """Return the mode of `zipfile.ZipFile`; None for what shall look empty until it is written."""
    if mode == "x" and size is not None:
        raise ExistsError(f"{name} is there already; mode='x' requires that it is not", store=name)
    if mode in {"r", "r+"} and size is None:
        raise NotFoundError(f"there is no archive {name}", store=name)
    if mode in {"w", "x"} or not size:
        if mode == "r":
            raise CorruptError(f"{name} is empty, not a zip archive", store=name)
        return "w" if writing else None
    return "a" if writing else "r"


def _length(file: BinaryIO) -> int:
    if not (hasattr(file, "seek") and hasattr(file, "read")):
        raise BlazarrError(
            f"an archive is a path or a file object, not a {type(file).__name__}", argument="path"
        )
    return file.seek(0, os.SEEK_END)


def _claim(file: BinaryIO, name: str) -> None:
    """Raise where another process writes to the archive."""
    import fcntl

    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise StoreError(
            f"another process is writing to {name}; an archive has one writer at a time",
            store=name,
        ) from error
    except OSError:
        # This file system has no locks.
        return


def _is_key(name: str) -> bool:
    try:
        parse_key(name)
    except BlazarrError:
        return False
    return True
