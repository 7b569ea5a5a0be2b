"""`Picture`: text for terminals, SVG for notebooks and files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

# What stands alone has no text around it whose colour it could take.
_ALONE: Final = (
    "<style>:root{color:#1f2328}@media(prefers-color-scheme:dark){:root{color:#e6edf3}}</style>"
)


@dataclass(frozen=True)
class Picture:
    """A picture that terminals print and notebooks draw.

    Attributes
    ----------
    text
        For terminals.
    svg
        For notebooks and files.
    """

    text: str
    svg: str

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self.svg}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to an SVG file.

        Parameters
        ----------
        path
            The file.
        """
        opening, bracket, rest = self.svg.partition(">")
        Path(path).write_text(f"{opening}{bracket}{_ALONE}{rest}\n", encoding="utf-8")
