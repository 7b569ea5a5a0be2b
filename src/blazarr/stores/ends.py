"""Where the directory of an archive is: its end says so, be it that of the file or, behind a killed writer's, an earlier one."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from blazarr.errors import CorruptError
from blazarr.stores.sources import Source

# The end of a directory (APPNOTE.TXT, 4.3.16): signature, entries, size, offset, length of a comment.
END: Final = struct.Struct("<4s6xHIIH")
# What stands 20 bytes before it in archives above 4 GiB (4.3.15), and what that points to (4.3.14).
LOCATOR: Final = struct.Struct("<4s4xQ4x")
END64: Final = struct.Struct("<4s36xQQ")
SIGNATURES: Final = {END.format: b"PK\5\6", LOCATOR.format: b"PK\6\7", END64.format: b"PK\6\6"}
# More than the end of a directory with the longest comment, and small directories whole.
WINDOW: Final = 256 << 10


class End(NamedTuple):
    """Where a directory is.

    Attributes
    ----------
    start
        Its offset in the file.
    length
        Its bytes.
    shift
        Bytes before the archive, which its offsets don't count.
    stop
        Where the archive ends.
    """

    start: int
    length: int
    shift: int
    stop: int


class Tail:
    """A source of which the last part that was read is kept.

    Parameters
    ----------
    source
        The source.
    size
        How many bytes there are.
    """

    def __init__(self, source: Source, size: int) -> None:
        self.size = size
        self._source = source
        self._start = size
        self._kept = b""

    def read(self, offset: int, length: int) -> bytes:
        """Return a part, cut off at the end."""
        first = offset - self._start
        if first >= 0 and first + length <= len(self._kept):
            return self._kept[first : first + length]
        return self._fetch(offset, max(0, min(length, self.size - offset)))

    def keep(self, start: int, stop: int) -> bytes:
        """Return a part and keep it."""
        self._start, self._kept = start, self._fetch(start, min(stop, self.size) - start)
        return self._kept

    def _fetch(self, offset: int, length: int) -> bytes:
        (data,) = self._source.read_many([(offset, length)])
        return bytes(data)


def find_end(tail: Tail, name: str, *, everywhere: bool) -> End:
    """Return where the last directory is that was finished.

    Parameters
    ----------
    tail
        The archive.
    name
        Name for errors.
    everywhere
        Whether to look further than as far from the end as a comment may be long.

    Raises
    ------
    CorruptError
        If there is none.
    """
    lowest = 0 if everywhere else max(0, tail.size - WINDOW)
    behind_other_data = None
    for at in _signatures(tail, lowest):
        end = _end(tail, at)
        if end is not None and end.shift == 0:
            return end
        behind_other_data = behind_other_data or end
    # An archive that is an entry of this one must not be taken for all.
    if behind_other_data is not None and tail.read(0, 4) != b"PK\3\4":
        return behind_other_data
    raise CorruptError(
        f"{name} is not a zip archive: it has no directory, as if it had been cut off", store=name
    )


def _signatures(tail: Tail, lowest: int) -> Iterator[int]:
    """Yield where ends of directories may be, the last first."""
    stop = tail.size
    while stop > lowest:
        start = max(lowest, stop - WINDOW)
        # A signature may lie across the border of two windows.
        data = tail.keep(start, stop + 3)
        at = data.rfind(b"PK\5\6")
        while at >= 0:
            yield start + at
            at = data.rfind(b"PK\5\6", 0, at + 3)
        stop = start


def _end(tail: Tail, at: int) -> End | None:
    """Return what the end of a directory at an offset says, where that can be."""
    record = _read(tail, at, END)
    if record is None:
        return None
    entries, length, start, comment = record
    directory_end = at
    if 0xFFFFFFFF in {length, start} or entries == 0xFFFF:
        locator = _read(tail, at - LOCATOR.size, LOCATOR)
        if locator is not None:
            # Offsets don't count what is before the archive, but the record is next to its locator.
            directory_end = at - LOCATOR.size - END64.size
            record = _read(tail, directory_end, END64)
            if record is None:
                directory_end = locator[0]
                record = _read(tail, directory_end, END64)
            if record is None:
                return None
            length, start = record
    first, stop = directory_end - length, at + END.size + comment
    if first < start or stop > tail.size:
        return None
    if length and tail.read(first, 4) != b"PK\1\2":
        return None
    return End(first, length, first - start, stop)


def _read(tail: Tail, at: int, record: struct.Struct) -> tuple[int, ...] | None:
    """Return the numbers of a record; None where another signature is in its place."""
    if at < 0:
        return None
    data = tail.read(at, record.size)
    if len(data) < record.size:
        return None
    signature, *numbers = record.unpack(data)
    return tuple(numbers) if signature == SIGNATURES[record.format] else None
