"""Entries of a zip archive that zarr-python has open, without its lock for each and its copies."""

from __future__ import annotations

import zipfile
from typing import Any

from zarr.storage import ZipStore

from blazarr.engine.chunks import ChunkBatch
from blazarr.stores.base import Data
from blazarr.stores.entries import ENCRYPTED, LOCAL_HEADER, data_offset, whole
from blazarr.stores.sources import FileSource

# A span of an entry, its start counted from the end where that is negative.
Span = tuple[int, int | None]


def read_entries(store: ZipStore, keys: list[str], chunks: ChunkBatch) -> list[Any]:
    """Read what a batch needs of each entry: all of it, or a shard's index and the parts that this names.

    Parameters
    ----------
    store
        An open store of a file.
    keys
        The entries' names.
    chunks
        The batch.
    """
    # The store's own methods hold this lock as long: until then nobody closes the file or appends to it.
    with store._lock:
        if not store._is_open:
            store._sync_open()
        archive = _Archive(store._zf, str(store))
        wanted = enumerate(zip(keys, chunks.index_ranges(), strict=True))
        return [archive.read(key, chunks, number, index) for number, (key, index) in wanted]


class _Archive:
    """An open archive of which entries are read by their place in the file."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self._name = name
        assert archive.fp is not None
        if archive.mode != "r":
            archive.fp.flush()
        self._source = FileSource(archive.fp.fileno())

    def read(self, key: str, chunks: ChunkBatch, number: int, index: Span | None) -> Any:
        info = self._archive.NameToInfo.get(key)
        if info is None:
            return None
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & ENCRYPTED:
            return self._archive.read(info)
        start = data_offset(info, self._part(info.header_offset, LOCAL_HEADER.size), self._name)
        if index is None:
            return whole(info, self._part(start, info.compress_size), self._name)
        found = self._span(info, start, index)
        wanted = chunks.ranges(number, found)
        return found, [(begin, self._span(info, start, (begin, end))) for begin, end in wanted]

    def _span(self, info: zipfile.ZipInfo, start: int, span: Span) -> Data:
        first, last, _ = slice(*span).indices(info.file_size)
        return self._part(start + first, max(0, last - first))

    def _part(self, offset: int, length: int) -> Data:
        (data,) = self._source.read_many([(offset, length)])
        return data
