"""Archives whose writer was killed: the last directory that was written still counts."""

from __future__ import annotations

import io
import os
import struct
import warnings
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

from blazarr.errors import CorruptError
from blazarr.stores.base import Data
from blazarr.stores.sources import BUFFER, FileSource, StoreFile

# The end of a directory (APPNOTE.TXT, 4.3.16): signature, entries, size, offset, length of a comment.
END: Final = struct.Struct("<4s6xHIIH")
# What stands 20 bytes before it in archives above 4 GiB (4.3.15), and what that points to (4.3.14).
LOCATOR: Final = struct.Struct("<4s4xQ4x")
END64: Final = struct.Struct("<4s36xQQ")
SIGNATURES: Final = {END.format: b"PK\5\6", LOCATOR.format: b"PK\6\7", END64.format: b"PK\6\6"}
# More than the end of a directory with the longest comment.
WINDOW: Final = 128 << 10


def last_finished(file: BinaryIO, name: str, *, writing: bool) -> BinaryIO:
    """Return a file that ends with a directory, where there is one.

    Parameters
    ----------
    file
        The archive; for writing, what lies behind its last directory is cut off.
    name
        Name for warnings.
    writing
        Whether the archive is about to be changed.

    Raises
    ------
    CorruptError
        If the file begins as an archive does, but has no directory.
    """
    source = FileSource(file.fileno())
    size = os.fstat(file.fileno()).st_size
    length = next((end for at in _ends(source, size) if (end := _length(source, at, size))), None)
    if length is None and bytes(source.read_many([(0, 4)])[0]) == b"PK\3\4":
        file.close()
        # Not left to `zipfile`, which would take an archive that is an entry of this one for all.
        raise CorruptError(
            f"{name} is not a zip archive: it has no directory, as if it had been cut off",
            store=name,
        )
    if length in {None, size}:
        return file
    warnings.warn(
        f"{name} was not finished by its last writer: the {size - length} bytes behind its last "
        f"directory are left out",
        UserWarning,
        stacklevel=2,
    )
    if writing:
        file.truncate(length)
        return file
    return io.BufferedReader(_Cut(file, _Beginning(source, length)), BUFFER)


class _Cut(StoreFile):
    """What of a file counts; closed with it."""

    def __init__(self, file: BinaryIO, source: _Beginning) -> None:
        super().__init__(source)
        self._file = file

    def close(self) -> None:
        self._file.close()
        super().close()


class _Beginning:
    """The first bytes of a source."""

    def __init__(self, source: FileSource, length: int) -> None:
        self._source = source
        self._length = length

    def size(self) -> int:
        return self._length

    def read_many(self, parts: Sequence[tuple[int, int]]) -> list[Data]:
        return self._source.read_many(parts)


def _ends(source: FileSource, size: int) -> Iterator[int]:
    """Yield where ends of directories may be, the last first."""
    stop = size
    while stop > 0:
        start = max(0, stop - WINDOW)
        # A signature may lie across the border of two windows.
        (data,) = map(bytes, source.read_many([(start, stop - start + 3)]))
        at = data.rfind(b"PK\5\6")
        while at >= 0:
            yield start + at
            at = data.rfind(b"PK\5\6", 0, at + 3)
        stop = start


def _length(source: FileSource, at: int, size: int) -> int | None:
    """Return the length of the archive that ends with the directory whose end is at an offset.

    An archive that is an entry of this one has such ends too, but its offsets do not fit.
    """
    record = _read(source, at, END)
    if record is None:
        return None
    entries, length, start, comment = record
    directory_end = at
    if 0xFFFFFFFF in {length, start} or entries == 0xFFFF:
        locator = _read(source, at - LOCATOR.size, LOCATOR)
        if locator is not None:
            directory_end = locator[0]
            record = _read(source, directory_end, END64)
            if record is None:
                return None
            length, start = record
    if start + length != directory_end or at + END.size + comment > size:
        return None
    (first,) = source.read_many([(start, 4)])
    return at + END.size + comment if not length or bytes(first) == b"PK\1\2" else None


def _read(source: FileSource, at: int, record: struct.Struct) -> tuple[int, ...] | None:
    """Return the numbers of a record; None where another signature is in its place."""
    if at < 0:
        return None
    (data,) = source.read_many([(at, record.size)])
    if len(data) < record.size:
        return None
    signature, *numbers = record.unpack(data)
    return tuple(numbers) if signature == SIGNATURES[record.format] else None
