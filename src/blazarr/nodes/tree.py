"""The text and HTML that ``group.tree()`` shows."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

_STYLE = (
    "white-space:pre;overflow-x:auto;line-height:normal;"
    "font-family:Menlo,'DejaVu Sans Mono',consolas,'Courier New',monospace"
)


@dataclass(frozen=True)
class TreeNode:
    """One line of a tree: the path below the root, and what stands behind an array's name."""

    path: str
    detail: str = ""


@dataclass(frozen=True)
class TreeRepr:
    """A hierarchy drawn with box characters; notebooks show it with bold names."""

    lines: tuple[tuple[str, str, str], ...]
    note: str = ""

    def __repr__(self) -> str:
        return self.note + "".join(f"{lead}{name}{detail}\n" for lead, name, detail in self.lines)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        rows = (
            f"{lead}<b>{html.escape(name)}</b>{html.escape(detail)}\n"
            for lead, name, detail in self.lines
        )
        page = f'<pre style="{_STYLE}">{html.escape(self.note)}{"".join(rows)}</pre>\n'
        return {"text/plain": repr(self), "text/html": page}


def draw(root_name: str, nodes: Iterable[TreeNode], note: str = "") -> TreeRepr:
    """Draw a hierarchy.

    Parameters
    ----------
    root_name
        Name of the first line.
    nodes
        Everything below the root, in any order.
    note
        Line in front of the drawing.
    """
    children: dict[str, list[TreeNode]] = {}
    for node in sorted(nodes, key=lambda node: node.path):
        children.setdefault(node.path.rpartition("/")[0], []).append(node)
    return TreeRepr((("", root_name, ""), *_below("", "", children)), note)


def _below(
    path: str, lead: str, children: dict[str, list[TreeNode]]
) -> Iterator[tuple[str, str, str]]:
    nodes = children.get(path, [])
    for node in nodes:
        last = node is nodes[-1]
        name = node.path.rpartition("/")[2]
        yield lead + ("└── " if last else "├── "), name, node.detail
        yield from _below(node.path, lead + ("    " if last else "│   "), children)
