"""A zip archive while it is open."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Protocol

from blazarr.stores.base import Data
from blazarr.stores.entries import (
    LOCAL_HEADER,
    STORED,
    Entry,
    beginning,
    corrupt,
    data_offset,
    require_readable,
    whole,
)
from blazarr.stores.sources import Source

# A part of an entry, as start and stop, a negative start counting from the end; None for all of it.
Part = tuple[int, int | None] | None

# Of how many entries the place of their data is remembered.
REMEMBERED = 1 << 16


class Ordered(Protocol):
    """The keys of an archive in order, as they are at one time."""

    def __len__(self) -> int: ...

    def first(self, key: str) -> int:
        """Return the position of the first key that is not before another."""

    def at(self, position: int) -> tuple[str, int]:
        """Return the key at a position, and the size of its value."""


class Entries(Protocol):
    """The entries of an archive that are keys."""

    def get(self, key: str) -> Entry | None:
        """Return an entry; None where there is none."""

    def ordered(self) -> Ordered:
        """Return the keys in order."""


class Archive:
    """An open archive.

    Parameters
    ----------
    source
        Where it is.
    entries
        What its directory says.
    name
        Name for errors.
    release
        Closes the file, where that is the archive's to do.
    """

    writing = False

    def __init__(
        self, source: Source, entries: Entries, name: str, release: Callable[[], object]
    ) -> None:
        self.name = name
        self.entries = entries
        self._source = source
        self._release = release
        self._process = os.getpid()
        self._starts: dict[int, int] = {}

    def read(self, wanted: Sequence[tuple[Entry, Part]]) -> list[Data]:
        """Return parts of entries.

        Parameters
        ----------
        wanted
            The entries, each with the part wanted of it.
        """
        for info, _ in wanted:
            require_readable(info, self.name)
        starts = self._find([info for info, _ in wanted])
        spans = [
            _span(info, start, part) for start, (info, part) in zip(starts, wanted, strict=True)
        ]
        raw = self._source.read_many(spans)
        return [
            self._value(info, part, span[1], data)
            for (info, part), span, data in zip(wanted, spans, raw, strict=True)
        ]

    def close(self) -> None:
        """Close the file."""
        # A forked child has the archive open too, but it is not the child's to finish.
        if self._process == os.getpid():
            self._finish()
            self._release()

    def _finish(self) -> None:
        """Do what is left to do before the file is closed."""

    def _find(self, infos: Sequence[Entry]) -> list[int]:
        """Return where the data of entries begins, which their own headers tell."""
        known = self._starts
        new = [info for info in infos if info.header_offset not in known]
        headers = self._source.read_many([(info.header_offset, LOCAL_HEADER.size) for info in new])
        found = {
            info.header_offset: data_offset(info, header, self.name)
            for info, header in zip(new, headers, strict=True)
        }
        starts = [found.get(info.header_offset) or known[info.header_offset] for info in infos]
        # Replaced, not changed: other threads have it in use.
        self._starts = found if len(known) + len(found) > REMEMBERED else known
        self._starts.update(found)
        return starts

    def _value(self, info: Entry, part: Part, length: int, raw: Data) -> Data:
        if len(raw) != length:
            raise corrupt(info, self.name, "the file ends within it")
        if part is None:
            return whole(info, raw, self.name)
        if info.compress_type == STORED:
            return raw
        first, last, _ = slice(*part).indices(info.file_size)
        found = beginning(info, raw, self.name, last)
        if len(found) < last:
            raise corrupt(info, self.name, "it is shorter than the directory says")
        return memoryview(found)[first:last]


def _span(info: Entry, start: int, part: Part) -> tuple[int, int]:
    """Return where the bytes lie from which a part is made, as offset and length."""
    if part is None or info.compress_type != STORED:
        return start, info.compress_size
    first, last, _ = slice(*part).indices(info.file_size)
    return start + first, max(0, last - first)
