"""Maps of the cells of a grid: which are there, and how much is in each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from blazarr.drawing.picture import Picture
from blazarr.drawing.svg import ACCENT, element, image, text

Floats = npt.NDArray[np.float64]

_ROWS: Final = 32
_COLUMNS: Final = 64
_PANELS: Final = 12
_TERMINAL: Final = 78
_SHADES: Final = "·░▒▓█"


@dataclass(frozen=True)
class Cells:
    """Cells of a grid that are there; a grid may have far more cells than these.

    Attributes
    ----------
    counts
        Number of cells along each axis.
    first
        Index of the first cell along each axis.
    indices
        Where the cells are, of shape ``(n, ndim)``, within `counts`.
    weights
        How much is in each, of shape ``(n,)``.
    """

    counts: tuple[int, ...]
    first: tuple[int, ...]
    indices: npt.NDArray[np.int64]
    weights: npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Panel:
    """One plane of the grid, in bins: what share of the cells is there, and their mean weight."""

    title: str
    share: Floats
    mean: Floats


def draw_cells(cells: Cells, summary: str) -> Picture:
    """Draw the planes of the last two axes, one for each index of those before.

    Large planes are drawn in bins; of many planes the first are drawn.

    Parameters
    ----------
    cells
        The cells.
    summary
        Lines that come first.
    """
    leading = cells.counts[:-2]
    planes = math.prod(leading)
    panels = [_panel(cells, leading, plane) for plane in range(min(planes, _PANELS))]
    rest = f"planes that are not drawn: {planes - _PANELS:,}" if planes > _PANELS else ""
    lines = [summary, *_side_by_side([_text(panel) for panel in panels]), rest]
    return Picture("\n".join(line for line in lines if line), _svg(panels, summary, rest))


def _panel(cells: Cells, leading: Sequence[int], plane: int) -> _Panel:
    place = np.unravel_index(plane, leading) if leading else ()
    within = (cells.indices[:, : len(leading)] == np.array(place, np.int64)).all(axis=1)
    rows, columns = (1, 1, *cells.counts)[-2:]
    shape = min(rows, _ROWS), min(columns, _COLUMNS)
    found = np.zeros((int(within.sum()), 2), np.int64)
    found[:, 2 - min(2, len(cells.counts)) :] = cells.indices[within, len(leading) :]
    bins = tuple(found[:, i] * shape[i] // max(1, (rows, columns)[i]) for i in (0, 1))
    there, total = np.zeros(shape), np.zeros(shape)
    np.add.at(there, bins, 1.0)
    np.add.at(total, bins, cells.weights[within].astype(np.float64))
    room = _room(rows, shape[0])[:, None] * _room(columns, shape[1])[None, :]
    title = ", ".join(str(int(i) + first) for i, first in zip(place, cells.first, strict=False))
    return _Panel(f"[{title}]" if leading else "", there / room, total / np.maximum(there, 1))


def _room(count: int, bins: int) -> Floats:
    """Return how many cells each bin stands for."""
    if not bins:
        return np.zeros(0)
    edges = -(-np.arange(bins + 1) * count // bins)
    return np.maximum(np.diff(edges), 1).astype(np.float64)


def _text(panel: _Panel) -> list[str]:
    steps = np.where(panel.share >= 1, 4, np.ceil(np.minimum(panel.share, 1) * 3)).astype(int)
    lines = ["".join(_SHADES[step] for step in row) for row in steps.tolist()]
    lines = [panel.title, *lines] if panel.title else lines
    width = max(map(len, lines), default=0)
    return [line.ljust(width) for line in lines]


def _side_by_side(blocks: list[list[str]]) -> list[str]:
    """Return the lines of blocks of one height, as many beside each other as a terminal has room for."""
    width = max((len(block[0]) for block in blocks if block), default=0)
    each = max(1, _TERMINAL // (width + 2))
    rows = (blocks[start : start + each] for start in range(0, len(blocks), each))
    return ["  ".join(parts).rstrip() for row in rows for parts in zip(*row, strict=True)]


def _svg(panels: list[_Panel], summary: str, rest: str) -> str:
    heaviest = max((float(panel.mean.max(initial=0)) for panel in panels), default=0.0)
    x = y = 8.0
    wide, content, row_height = 0.0, "", 0.0
    for line in summary.splitlines():
        content += text(8, y + 8, line, "start")
        wide = max(wide, 16 + 6.2 * len(line))
        y += 16
    for panel in panels:
        side = _side(panel)
        width, height = (n * side for n in panel.share.shape[::-1])
        if x > 8 and x + width > 520:
            x, y, row_height = 8.0, y + row_height, 0.0
        top = y + (14 if panel.title else 2)
        content += text(x, top - 4, panel.title, "start") if panel.title else ""
        content += _panel_svg(panel, x, top, side, heaviest)
        row_height = max(row_height, top - y + height + 10)
        x += max(width, 6.2 * len(panel.title)) + 14
        wide = max(wide, x)
    bottom = y + row_height
    if rest:
        content += text(8, bottom + 8, rest, "start")
        bottom += 16
    return image(max(wide, 60.0), bottom + 4, content, summary)


def _side(panel: _Panel) -> float:
    """Return the side of a cell in pixels."""
    longest = max(panel.share.shape[1] / 500, panel.share.shape[0] / 260, 1e-9)
    return float(min(16.0, 1 / longest))


def _panel_svg(panel: _Panel, x: float, y: float, side: float, heaviest: float) -> str:
    rows, columns = panel.share.shape
    frame = element(
        "rect",
        x=x,
        y=y,
        width=columns * side,
        height=rows * side,
        fill="currentColor",
        fill_opacity=0.06,
        stroke="currentColor",
        stroke_opacity=0.5,
    )
    gap = 0.8 if side > 5 else 0.0
    cells = []
    for row, column in np.argwhere(panel.share > 0).tolist():
        weight = panel.mean[row, column] / heaviest if heaviest else 1.0
        cells.append(
            element(
                "rect",
                x=x + column * side + gap / 2,
                y=y + row * side + gap / 2,
                width=side - gap,
                height=side - gap,
                fill=ACCENT,
                fill_opacity=_opacity(panel.share[row, column], weight),
            )
        )
    return frame + "".join(cells)


def _opacity(share: Any, weight: Any) -> str:
    # A bin of which little is there must be seen all the same.
    return f"{max(0.25, min(1.0, float(share)) * (0.3 + 0.7 * float(weight))):.2f}"
