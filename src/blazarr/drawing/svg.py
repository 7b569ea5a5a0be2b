"""Elements of SVG. Lines and letters take the colour of the text around, so both themes work."""

from __future__ import annotations

import html
from typing import Final

# Readable on white and on black; areas are translucent.
ACCENT: Final = "#2a9d8f"
FONT: Final = "font-family:system-ui,sans-serif;font-size:11px"

Point = tuple[float, float]


def element(name: str, content: str = "", **attributes: object) -> str:
    """Return an element; underscores in names of attributes are hyphens.

    Parameters
    ----------
    name
        The element's name.
    content
        What it holds, as SVG.
    **attributes
        Numbers are rounded to what a screen shows.
    """
    members = "".join(
        f' {key.strip("_").replace("_", "-")}="{html.escape(_shown(value))}"'
        for key, value in attributes.items()
    )
    return f"<{name}{members}>{content}</{name}>" if content else f"<{name}{members}/>"


def _shown(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def image(width: float, height: float, content: str, label: str) -> str:
    """Return a picture of a size in pixels, with what readers of screens say."""
    return element(
        "svg",
        element("title", html.escape(label)) + content,
        xmlns="http://www.w3.org/2000/svg",
        width=float(width),
        height=float(height),
        viewBox=f"0 0 {_shown(float(width))} {_shown(float(height))}",
        style=f"max-width:100%;height:auto;{FONT}",
        role="img",
    )


def text(x: float, y: float, content: str, anchor: str = "middle") -> str:
    """Return a line of text."""
    return element("text", html.escape(content), x=x, y=y, text_anchor=anchor, fill="currentColor")


def area(points: list[Point], opacity: float) -> str:
    """Return an outlined area."""
    corners = " ".join(f"{_shown(float(x))},{_shown(float(y))}" for x, y in points)
    return element(
        "polygon",
        points=corners,
        fill=ACCENT,
        fill_opacity=opacity,
        stroke="currentColor",
        stroke_width=1.2,
    )


def lines(pairs: list[tuple[Point, Point]], width: float, opacity: float) -> str:
    """Return lines as one element."""
    path = "".join(
        f"M{_shown(float(x0))} {_shown(float(y0))}L{_shown(float(x1))} {_shown(float(y1))}"
        for (x0, y0), (x1, y1) in pairs
    )
    if not path:
        return ""
    return element(
        "path", d=path, stroke="currentColor", stroke_width=width, stroke_opacity=opacity
    )
