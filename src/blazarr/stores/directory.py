"""The directory of a zip archive as it is read: its bytes, and where each key's record is in them."""

from __future__ import annotations

import struct
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

from blazarr._core import parse_key
from blazarr.errors import BlazarrError, CorruptError
from blazarr.stores.ends import End

# A record (APPNOTE.TXT, 4.3.12): signature, flags, method, checksum, both sizes, lengths of name,
# extra fields and comment, offset of the entry.
RECORD: Final = struct.Struct("<4s4xHH4xIIIHHH8xI")
# Signature, flags and the three lengths, to get from one to the next.
STEP: Final = struct.Struct("<4s4xH18xHHH")
SIGNATURE: Final = b"PK\1\2"
UTF8: Final = 0x800
# Extra fields: larger numbers (4.5.3), and a name in UTF-8 (4.6.9).
ZIP64: Final = 1
UNICODE_NAME: Final = 0x7075
FULL: Final = 0xFFFFFFFF
# Of so many keys one is kept as a Python object, to search with.
MARKS: Final = 8


def is_key(name: str) -> bool:
    """Whether a name is one of a key."""
    try:
        parse_key(name)
    except BlazarrError:
        return False
    return True


class DirectoryEntry(NamedTuple):
    """An entry; see `blazarr.stores.entries.Entry`."""

    filename: str
    header_offset: int
    flag_bits: int
    compress_type: int
    CRC: int
    compress_size: int
    file_size: int


class Directory:
    """The entries of an archive that are keys, in order; of several with one name the last.

    Parameters
    ----------
    data
        The directory's bytes.
    end
        Where it was found.
    name
        Name of the archive, for errors.

    Raises
    ------
    CorruptError
        If what is there is no directory.
    """

    # Python objects for a million entries take 600 MB: there are none but for what is asked for.

    def __init__(self, data: bytes, end: End, name: str) -> None:
        self._data = data
        self._shift = end.shift
        self._name = name
        # Names that are something else in UTF-8 than in the directory, by place of the record.
        self._renamed: dict[int, bytes] = {}
        self._places = self._sorted()
        self._marks = [self._key(place) for place in self._places[::MARKS]]

    def get(self, key: str) -> DirectoryEntry | None:
        """Return an entry; None where there is none."""
        wanted = _encoded(key)
        position = self._first(wanted)
        if position == len(self._places) or self._key(self._places[position]) != wanted:
            return None
        return self._entry(self._places[position], key)

    def ordered(self) -> Directory:
        """Return what has the keys in order."""
        return self

    def __len__(self) -> int:
        return len(self._places)

    def first(self, key: str) -> int:
        """Return the position of the first key that is not before another."""
        return self._first(_encoded(key))

    def at(self, position: int) -> tuple[str, int]:
        """Return the key at a position in their order, and the size of its value."""
        place = self._places[position]
        key = self._key(place).decode()
        return key, self._entry(place, key).file_size

    def _first(self, key: bytes) -> int:
        mark = bisect_left(self._marks, key)
        first, stop = max(0, (mark - 1) * MARKS), min(mark * MARKS, len(self._places))
        return bisect_left(self._places, key, first, stop, key=self._key)

    def _sorted(self) -> array[int]:
        """Return the places of the records of all keys, in the keys' order."""
        # In UTF-8 as in Python's strings the order is that of code points. No key has a NUL.
        found = [b"%b\0%b" % (key, place.to_bytes(8, "big")) for key, place in self._walk()]
        found.sort()
        places = array("Q")
        last = None
        for item in found:
            key, place = item[:-9], int.from_bytes(item[-8:], "big")
            if key == last:
                places[-1] = place
            else:
                places.append(place)
            last = key
        return places

    def _walk(self) -> Iterator[tuple[bytes, int]]:
        """Yield each key with the place of its record."""
        data, place, stop = self._data, 0, len(self._data)
        while place < stop:
            if stop - place < RECORD.size:
                raise self._corrupt("its directory ends within an entry")
            signature, flags, length, extra, comment = STEP.unpack_from(data, place)
            if signature != SIGNATURE:
                raise self._corrupt("its directory is damaged")
            after = place + RECORD.size + length
            raw = data[place + RECORD.size : after]
            following = after + extra + comment
            if following > stop:
                raise self._corrupt("its directory ends within an entry")
            key = self._decoded(raw, flags, data[after : after + extra])
            # What is no key (folders, "..") is out of reach.
            if is_key(key):
                encoded = raw if flags & UTF8 or raw.isascii() else key.encode()
                if encoded != raw:
                    self._renamed[place] = encoded
                yield encoded, place
            place = following

    def _decoded(self, raw: bytes, flags: int, extra: bytes) -> str:
        try:
            if flags & UTF8 or raw.isascii():
                return raw.decode()
            return _unicode_name(raw, extra) or raw.decode("cp437")
        except UnicodeDecodeError as error:
            raise self._corrupt(f"a name in its directory is not UTF-8: {error}") from error

    def _key(self, place: int) -> bytes:
        if self._renamed and place in self._renamed:
            return self._renamed[place]
        start = place + RECORD.size
        return self._data[start : start + self._data[place + 28] + (self._data[place + 29] << 8)]

    def _entry(self, place: int, key: str) -> DirectoryEntry:
        record = RECORD.unpack_from(self._data, place)
        _, flags, method, crc, stored, size, length, extra, _, offset = record
        if FULL in {stored, size, offset}:
            start = place + RECORD.size + length
            fields = self._data[start : start + extra]
            size, stored, offset = self._large([size, stored, offset], fields)
        return DirectoryEntry(key, offset + self._shift, flags, method, crc, stored, size)

    def _large(self, numbers: list[int], fields: bytes) -> list[int]:
        """Return numbers of which those that did not fit are in the extra fields, in their order."""
        data = _field(fields, ZIP64)
        for which, number in enumerate(numbers):
            if number == FULL and data is not None:
                if len(data) < 8:
                    raise self._corrupt("an entry of its directory lacks its size or place")
                numbers[which], data = int.from_bytes(data[:8], "little"), data[8:]
        return numbers

    def _corrupt(self, what: str) -> CorruptError:
        return CorruptError(f"{self._name} is not a zip archive: {what}", store=self._name)


def _encoded(key: str) -> bytes:
    # What is no text, and so no key, has a place in the order too.
    return key.encode(errors="surrogatepass")


def _unicode_name(raw: bytes, extra: bytes) -> str | None:
    """Return the name in UTF-8 that an extra field gives: version, checksum of the other, name."""
    data = _field(extra, UNICODE_NAME)
    checksum = zlib.crc32(raw).to_bytes(4, "little")
    if data is None or data[:5] != b"\1" + checksum:
        return None
    return data[5:].decode() or None


def _field(extra: bytes, kind: int) -> bytes | None:
    """Return an extra field: each has two bytes for its kind and two for its length before it."""
    place = 0
    while place + 4 <= len(extra):
        found, length = struct.unpack_from("<HH", extra, place)
        if found == kind:
            return extra[place + 4 : place + 4 + length]
        place += 4 + length
    return None
