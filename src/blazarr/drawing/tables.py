"""Tables of what a node says about itself."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Final

_CELL: Final = "text-align:left;padding:2px 10px 2px 0;vertical-align:top;background:none"
# Values come from stores, and may be of any length.
_LONGEST: Final = 300


def rows_table(rows: Iterable[Sequence[object]], head: Sequence[object] = ()) -> str:
    """Return an HTML table; the first cell of each row is its label, None makes an empty cell.

    Parameters
    ----------
    rows
        Rows of cells.
    head
        A row of headings.
    """
    lines = [_row(head, "th")] if head else []
    lines += [_row(row, "td") for row in rows]
    return f'<table style="border-collapse:collapse;border:0">{"".join(lines)}</table>'


def _row(cells: Sequence[object], rest: str) -> str:
    first, *others = (_shown(cell) for cell in cells)
    columns = "".join(f'<{rest} style="{_CELL}">{cell}</{rest}>' for cell in others)
    return f'<tr><th style="{_CELL};min-width:6em">{first}</th>{columns}</tr>'


def _shown(cell: object) -> str:
    text = "" if cell is None else str(cell)
    return html.escape(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ...")


def beside(left: str, right: str) -> str:
    """Return two pieces of HTML side by side; one above the other where it is narrow."""
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:24px;align-items:center">'
        f"<div>{left}</div><div>{right}</div></div>"
    )


def shown_size(nbytes: float) -> str:
    """Return a number of bytes for people."""
    power = min(max(int(nbytes).bit_length() - 1, 0) // 10, 5)
    unit = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")[power]
    return f"{nbytes / 1024**power:,.{1 if power else 0}f} {unit}"
