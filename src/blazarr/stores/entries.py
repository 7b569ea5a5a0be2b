"""What an entry of a zip archive holds."""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import Final, Protocol

from blazarr.errors import CorruptError, UnsupportedError
from blazarr.stores.base import Data

# Signature, then lengths of the name and of the extra fields, which differ from the directory's.
LOCAL_HEADER: Final = struct.Struct("<4s22xHH")
ENCRYPTED: Final = 0x1
STORED: Final = zipfile.ZIP_STORED


class Entry(Protocol):
    """What the directory says of an entry, by the names that `zipfile.ZipInfo` has for it."""

    @property
    def filename(self) -> str:
        """Its key."""

    @property
    def header_offset(self) -> int:
        """Where it begins in the file."""

    @property
    def flag_bits(self) -> int:
        """Among others, whether it is encrypted."""

    @property
    def compress_type(self) -> int:
        """How it is compressed."""

    @property
    def CRC(self) -> int:  # noqa: N802 - zipfile's name
        """Checksum of its value."""

    @property
    def compress_size(self) -> int:
        """Bytes in the file."""

    @property
    def file_size(self) -> int:
        """Bytes of its value."""


def data_offset(info: Entry, header: Data, archive: str) -> int:
    """Return where the data of an entry begins.

    Parameters
    ----------
    info
        The entry, from the archive's directory.
    header
        The first bytes of what is at its offset.
    archive
        Name for errors.
    """
    if len(header) < LOCAL_HEADER.size:
        raise corrupt(info, archive, "it lies beyond the end of the file")
    signature, name, extra = LOCAL_HEADER.unpack_from(header)
    if signature != b"PK\3\4":
        raise corrupt(info, archive, "there is no entry where the directory says")
    return info.header_offset + LOCAL_HEADER.size + int(name) + int(extra)


def require_readable(info: Entry, archive: str) -> None:
    """Raise where an entry is encrypted or compressed in a way that is not read."""
    if info.flag_bits & ENCRYPTED:
        raise UnsupportedError(
            f"{info.filename!r} in {archive} is encrypted", store=archive, key=info.filename
        )
    if info.compress_type not in {STORED, zipfile.ZIP_DEFLATED}:
        raise UnsupportedError(
            f"{info.filename!r} in {archive} has compression method {info.compress_type}; entries "
            f"may be stored or deflated",
            store=archive,
            key=info.filename,
        )
    if info.compress_type == STORED and info.compress_size != info.file_size:
        raise corrupt(info, archive, "it is stored, yet its two sizes differ")


def whole(info: Entry, raw: Data, archive: str) -> Data:
    """Return an entry's value, checked.

    Parameters
    ----------
    info
        The entry.
    raw
        Its bytes in the archive.
    archive
        Name for errors.
    """
    value = raw if info.compress_type == STORED else beginning(info, raw, archive)
    if len(value) != info.file_size:
        raise corrupt(info, archive, f"it has {len(value)} bytes, not {info.file_size}")
    if zlib.crc32(value) != info.CRC:
        raise corrupt(info, archive, "its checksum is wrong", kind="checksum")
    return value


def beginning(info: Entry, raw: Data, archive: str, length: int | None = None) -> bytes:
    """Return the first bytes of a deflated entry, as many as it shall have where not told.

    Parameters
    ----------
    info
        The entry.
    raw
        Its bytes in the archive.
    archive
        Name for errors.
    length
        How many bytes.
    """
    # A length of 0 would mean all that there is.
    most = max(info.file_size + 1 if length is None else length, 1)
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(raw, most)
    except zlib.error as error:
        raise corrupt(info, archive, str(error)) from error


def corrupt(info: Entry, archive: str, what: str, kind: str | None = None) -> CorruptError:
    """Return the error for a wrong entry."""
    return CorruptError(
        f"{info.filename!r} in {archive}: {what}", kind=kind, store=archive, key=info.filename
    )
