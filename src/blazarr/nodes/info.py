"""Summaries that ``array.info`` and ``group.info`` print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from blazarr.drawing import rows_table

Rows = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, kw_only=True)
class ArrayInfo:
    """What ``array.info`` shows; a line is left out where its value is None."""

    zarr_format: int
    data_type: str
    fill_value: Any
    shape: tuple[int, ...]
    shards: tuple[int, ...] | str | None
    chunks: tuple[int, ...] | str
    order: str
    read_only: bool
    store_type: str
    filters: tuple[Any, ...]
    serializer: Any
    compressors: tuple[Any, ...]
    nbytes: int
    nbytes_stored: int | None = None
    chunks_initialized: int | None = None

    def __repr__(self) -> str:
        return _table(self._rows())

    def _repr_html_(self) -> str:
        return rows_table(_shown(self._rows()))

    def _rows(self) -> Rows:
        chunk_unit = "Chunks" if self.shards is None else "Shards"
        return (
            ("Type", "Array"),
            ("Zarr format", self.zarr_format),
            ("Data type", self.data_type),
            ("Fill value", self.fill_value),
            ("Shape", self.shape),
            ("Shard shape", self.shards),
            ("Chunk shape", self.chunks),
            ("Order", self.order),
            ("Read-only", self.read_only),
            ("Store type", self.store_type),
            ("Filters", self.filters),
            ("Serializer", self.serializer),
            ("Compressors", self.compressors),
            ("No. bytes", readable_size(self.nbytes)),
            ("No. bytes stored", readable_size(self.nbytes_stored)),
            ("Storage ratio", self._storage_ratio()),
            (f"{chunk_unit} Initialized", self.chunks_initialized),
        )

    def _storage_ratio(self) -> str | None:
        return f"{self.nbytes / self.nbytes_stored:.1f}" if self.nbytes_stored else None


@dataclass(frozen=True, kw_only=True)
class GroupInfo:
    """What ``group.info`` shows; counts are left out where they are not known."""

    name: str
    zarr_format: int
    read_only: bool
    store_type: str
    members: int | None = None
    arrays: int | None = None
    groups: int | None = None

    def __repr__(self) -> str:
        return _table(self._rows())

    def _repr_html_(self) -> str:
        return rows_table(_shown(self._rows()))

    def _rows(self) -> Rows:
        return (
            ("Name", self.name),
            ("Type", "Group"),
            ("Zarr format", self.zarr_format),
            ("Read-only", self.read_only),
            ("Store type", self.store_type),
            ("No. members", self.members),
            ("No. arrays", self.arrays),
            ("No. groups", self.groups),
        )


def readable_size(size: int | None) -> str | None:
    """Return a number of bytes, and from 1 KiB on its size in a larger unit."""
    if size is None or size < 2**10:
        return None if size is None else str(size)
    power = min((size.bit_length() - 1) // 10, 5)
    return f"{size} ({size / 2 ** (10 * power):.1f}{' KMGTP'[power]})"


def _shown(rows: Rows) -> Rows:
    return tuple((label, value) for label, value in rows if value is not None)


def _table(rows: Rows) -> str:
    shown = _shown(rows)
    width = max(len(label) for label, _ in shown)
    return "\n".join(f"{label:<{width}} : {value}" for label, value in shown)
