"""The plan of a selection, for people and programs to look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

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
