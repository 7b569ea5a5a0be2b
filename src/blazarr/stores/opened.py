"""Opening a zip archive, to read it or to write to it."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from blazarr.errors import BlazarrError, CorruptError, ExistsError, NotFoundError, StoreError
from blazarr.stores.archive import Archive
from blazarr.stores.directory import Directory
from blazarr.stores.ends import End, Tail, find_end
from blazarr.stores.growing import GrowingArchive
from blazarr.stores.sources import FileSource, ObjectSource, Source, StoreSource


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
        return _reading(place, place.size(), name, _nothing)
    if isinstance(place, Path):
        return _open_file(place, name, mode, writing=writing, zip64=zip64)
    size = _length(place)
    how = _how(mode, size, name, writing=writing)
    if how is None:
        return _empty(name)
    source = ObjectSource(place)
    if how == "r":
        return _reading(source, size, name, _nothing)
    return GrowingArchive(place, source, name, how, _nothing, zip64=zip64)


def _open_file(path: Path, name: str, mode: str, *, writing: bool, zip64: bool) -> Archive:
    how = _how(mode, path.stat().st_size if path.is_file() else None, name, writing=writing)
    if how is None:
        return _empty(name)
    if writing:
        path.parent.mkdir(parents=True, exist_ok=True)
    file: Any = path.open({"r": "rb", "a": "r+b", "w": "w+b"}[how])
    try:
        source = FileSource(file.fileno())
        size = os.fstat(file.fileno()).st_size
        if how == "r":
            return _reading(source, size, name, file.close, everywhere=True)
        _claim(file, name)
        if how == "a":
            file.truncate(_finished(Tail(source, size), name, everywhere=True).stop)
        return GrowingArchive(file, source, name, how, file.close, zip64=zip64)
    except BaseException:
        file.close()
        raise


def _reading(
    source: Source,
    size: int,
    name: str,
    release: Callable[[], object],
    *,
    everywhere: bool = False,
) -> Archive:
    tail = Tail(source, size)
    end = _finished(tail, name, everywhere=everywhere)
    directory = Directory(tail.read(end.start, end.length), end, name)
    return Archive(source, directory, name, release)


def _finished(tail: Tail, name: str, *, everywhere: bool) -> End:
    """Return where the directory is; warn where a killed writer left something behind it."""
    end = find_end(tail, name, everywhere=everywhere)
    if end.stop < tail.size:
        warnings.warn(
            f"{name} was not finished by its last writer: the {tail.size - end.stop} bytes behind "
            f"its last directory are left out",
            UserWarning,
            stacklevel=2,
        )
    return end


def _empty(name: str) -> Archive:
    """Return what shall look empty until it is written."""
    return Archive(
        ObjectSource(io.BytesIO()), Directory(b"", End(0, 0, 0, 0), name), name, _nothing
    )


def _nothing() -> None:
    """Stand in for closing a file that is its opener's to close."""


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
        raise StoreError(
            f"another process is writing to {name}; an archive has one writer at a time",
            store=name,
        ) from error
    except OSError:
        # This file system has no locks.
        return
