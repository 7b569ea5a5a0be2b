"""What commands print: text for people, one JSON document for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from rich.console import Console
from rich.text import Text

Row = Sequence[str]


def emit(document: Any) -> None:
    """Print a JSON document."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n")


class _Output(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console() -> Console:
    """Return what text is printed with: in colours on a terminal that wants them."""
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return _Output(highlight=False, emoji=False, color_system=colours)


def show(lines: Iterable[Text]) -> None:
    """Print lines as they are, however wide."""
    out = console()
    for line in lines:
        out.print(line, soft_wrap=True)


def columns(rows: Iterable[Row], styles: Sequence[str] = (), head: Row | None = None) -> list[Text]:
    """Return rows as lines with aligned columns.

    Parameters
    ----------
    rows
        The cells.
    styles
        A style for each column; none for those beyond.
    head
        Names of the columns.
    """
    cells = [list(row) for row in rows]
    everything = [list(head), *cells] if head is not None else cells
    widths = [max(map(len, column)) for column in zip(*everything, strict=True)]
    lines = [] if head is None else [_line(list(head), widths, ["bold"] * len(head))]
    return lines + [_line(row, widths, styles) for row in cells]


def _line(row: list[str], widths: list[int], styles: Sequence[str]) -> Text:
    line = Text()
    last = len(row) - 1
    for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
        padded = cell if place == last else cell.ljust(width + 2)
        line.append(padded, style=styles[place] if place < len(styles) else "")
    line.rstrip()
    return line
