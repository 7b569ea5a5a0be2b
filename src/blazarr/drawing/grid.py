"""The grid of chunks and shards of an array, drawn from its shape alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from blazarr.drawing.picture import Picture
from blazarr.drawing.svg import Point, area, image, lines, text

# Along one axis more lines than these cannot be told apart; then none are drawn.
MOST_CUTS: Final = 40

_LONGEST: Final = 170.0
_SHORTEST: Final = 26.0
_SHALLOWEST: Final = 64.0
_MARGIN: Final = 8.0
_LABEL: Final = 16.0
_FACE: Final = (0.16, 0.3, 0.22)


@dataclass(frozen=True)
class GridAxis:
    """An axis of an array.

    Attributes
    ----------
    label
        Its name, if it has one.
    extent
        Its number of elements.
    cuts, shard_cuts
        Where chunks and shards meet; empty where there are more than `MOST_CUTS`.
    """

    label: str
    extent: int
    cuts: tuple[int, ...] = ()
    shard_cuts: tuple[int, ...] = ()

    @property
    def caption(self) -> str:
        """The extent with the axis's name."""
        return f"{self.label} {self.extent:,}" if self.label else f"{self.extent:,}"


def draw_grid(axes: Sequence[GridAxis], summary: str) -> Picture:
    """Draw the last three axes of an array: a bar, a rectangle or a box.

    Parameters
    ----------
    axes
        The array's axes.
    summary
        What a terminal shows instead.
    """
    shown = list(axes[-3:])
    leading = axes[: len(axes) - len(shown)]
    above = " x ".join(axis.caption for axis in leading)
    top = _MARGIN + (_LABEL + 4 if above else 0)
    width, height, content = _box(shown, top)
    if above:
        content += text(_MARGIN, _MARGIN + 8, f"{above} of", "start")
        width = max(width, _MARGIN * 2 + 6.2 * len(above + " of"))
    return Picture(summary, image(width, height, content, summary))


def _lengths(axes: Sequence[GridAxis]) -> list[float]:
    """Return lengths in pixels; the ratio of extents is kept as far as the picture stays clear."""
    largest = max([1, *(axis.extent for axis in axes)])
    return [max(_SHORTEST, _LONGEST * axis.extent / largest) for axis in axes]


def _box(axes: Sequence[GridAxis], top: float) -> tuple[float, float, str]:
    if not axes:
        content = area([(8, top), (26, top), (26, top + 18), (8, top + 18)], _FACE[0])
        return 34, top + 26, content
    lengths = _lengths(axes)
    across, x = axes[-1], lengths[-1]
    down, y = (axes[-2], lengths[-2]) if len(axes) > 1 else (None, _SHORTEST)
    back, depth = (axes[-3], max(_SHALLOWEST, lengths[-3])) if len(axes) > 2 else (None, 0.0)
    # The third axis goes back to the right and up.
    dx, dy = 0.42 * depth, 0.3 * depth
    left = _MARGIN + (_width(back) if back is not None else 0)
    origin = (left, top + dy)
    width, height = _Side(across, (x, 0)), _Side(down, (0, y))
    content = _face(origin, width, height, _FACE[0])
    if back is not None:
        slant = _Side(back, (dx, -dy))
        content += _face(origin, width, slant, _FACE[1])
        content += _face((left + x, top + dy), height, slant, _FACE[2])
        content += text(left + dx / 2 - 6, top + dy / 2, back.caption, "end")
    content += text(left + x / 2, top + dy + y + 14, across.caption)
    right = left + x + dx
    if down is not None:
        content += text(right + 6, top + y / 2 + dy / 2 + 4, down.caption, "start")
        right += 6 + _width(down)
    return right + _MARGIN, top + dy + y + _LABEL + _MARGIN, content


def _width(axis: GridAxis) -> float:
    return 6.4 * len(axis.caption) + 6


def _face(origin: Point, along: _Side, aside: _Side, opacity: float) -> str:
    """Draw a parallelogram with the cuts of the two axes that span it."""
    at = _Frame(origin, along.vector, aside.vector)
    content = area([at(0, 0), at(1, 0), at(1, 1), at(0, 1)], opacity)
    for shard, width, strength in ((False, 0.6, 0.45), (True, 1.6, 0.9)):
        pairs = [(at(share, 0), at(share, 1)) for share in along.shares(shard=shard)]
        pairs += [(at(0, share), at(1, share)) for share in aside.shares(shard=shard)]
        content += lines(pairs, width, strength)
    return content


@dataclass(frozen=True)
class _Side:
    """An axis, and where it goes on the picture."""

    axis: GridAxis | None
    vector: Point

    def shares(self, *, shard: bool) -> list[float]:
        """Return where it is cut, as shares of its length."""
        if self.axis is None or not self.axis.extent:
            return []
        cuts = self.axis.shard_cuts if shard else self.axis.cuts
        return [cut / self.axis.extent for cut in cuts]


@dataclass(frozen=True)
class _Frame:
    """A parallelogram: from shares of its two sides to pixels."""

    origin: Point
    along: Point
    aside: Point

    def __call__(self, s: float, t: float) -> Point:
        sides = zip(self.origin, self.along, self.aside, strict=True)
        x, y = (start + s * along + t * aside for start, along, aside in sides)
        return x, y
