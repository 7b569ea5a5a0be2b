"""The plan of a selection, for people and programs to look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from blazarr.drawing import Picture

# More rows than these say nothing more to a reader.
SHOWN_ROWS = 20

_PER_AXIS = ("chunk", "inner", "take_start", "take_step", "take_count")
_PER_RESULT_AXIS = ("place_start", "place_count")
_PER_ROW = ("byte_offset", "byte_length", "decoded_bytes")
KINDS = ("direct", "strided", "gather")


class Plan(Mapping[str, Any]):
    """A plan: one row for each chunk that is decoded, as columns by name.

    Parameters
    ----------
    table
        The core's table: columns as bytes.
    ndim
        Number of axes of the array.
    result_ndim
        Number of axes of the result.
    """

    def __init__(self, table: Mapping[str, Any], ndim: int, result_ndim: int) -> None:
        rows = len(table["key"])
        columns: dict[str, Any] = {"key": table["key"]}
        for names, width in ((_PER_AXIS, ndim), (_PER_RESULT_AXIS, result_ndim)):
            columns |= {name: _numbers(table[name]).reshape(rows, width) for name in names}
        columns |= {name: _numbers(table[name]) for name in _PER_ROW}
        columns["kind"] = [KINDS[kind] for kind in table["kind"]]
        columns["whole"] = np.frombuffer(table["whole"], np.bool_)
        self._columns = columns
        self.cut = bool(table["cut"])
        self._per_shard: tuple[int, ...] | None = None

    def in_shards(self, counts: tuple[int, ...]) -> Plan:
        """Return the same plan of an array whose shards have so many chunks along each axis."""
        plan = copy(self)
        plan._per_shard = counts  # noqa: SLF001
        return plan

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self._columns["key"])

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def show(self) -> Picture:
        """Return a picture of the chunks that are read, with what that costs.

        Terminals print it, notebooks draw it. Where shards are of different sizes, they are drawn
        instead of their chunks.
        """
        from blazarr.drawing import Cells, draw_cells

        places = self["chunk"]
        if self._per_shard is not None:
            places = places * np.array(self._per_shard, np.int64) + self["inner"]
        chunks, reads = np.unique(places, axis=0, return_counts=True)
        ndim = chunks.shape[1]
        first = chunks.min(axis=0) if len(chunks) else np.zeros(ndim, np.int64)
        last = chunks.max(axis=0) if len(chunks) else first - 1
        cells = Cells(
            counts=tuple((last - first + 1).tolist()),
            first=tuple(first.tolist()),
            indices=chunks - first,
            weights=reads,
        )
        return draw_cells(cells, self._summary(first.tolist(), last.tolist()))

    def _summary(self, first: list[int], last: list[int]) -> str:
        from blazarr.drawing import shown_size

        kinds = [f"{self['kind'].count(kind):,} {kind}" for kind in KINDS if kind in self["kind"]]
        decoded = shown_size(int(self["decoded_bytes"].sum()))
        objects = len(set(self["key"]))
        within = ", ".join(f"{low}-{high}" for low, high in zip(first, last, strict=True))
        return (
            f"{'at least ' if self.cut else ''}{self.rows:,} chunks ({', '.join(kinds) or 'none'}) "
            f"of {objects:,} objects, {decoded} decoded\nchunks ({within}) of the grid"
        )

    def __repr__(self) -> str:
        names = list(self)
        shown = range(min(self.rows, SHOWN_ROWS))
        cells = [[_cell(self[name][row]) for name in names] for row in shown]
        widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in [names, *cells]
        ]
        if self.cut or self.rows > SHOWN_ROWS:
            rest = self.rows - len(shown)
            lines.append(f"... and {'at least ' if self.cut else ''}{rest} more")
        return "\n".join(lines)


def _numbers(column: bytes) -> npt.NDArray[np.int64]:
    return np.frombuffer(column, np.int64)


def _cell(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return ",".join(map(str, value.tolist()))
    return str(value)
