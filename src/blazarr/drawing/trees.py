"""The text and HTML that ``group.tree()`` shows."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

_STYLE: Final = "line-height:1.5;font-family:Menlo,'DejaVu Sans Mono',consolas,monospace"
_BELOW: Final = "margin-left:1.2em;border-left:1px solid color-mix(in srgb,currentColor 30%,#0000)"


@dataclass(frozen=True)
class TreeNode:
    """One line of a tree: the path below the root, and what stands behind an array's name."""

    path: str
    detail: str = ""


@dataclass(frozen=True)
class _Line:
    depth: int
    lead: str
    name: str
    detail: str
    is_parent: bool


@dataclass(frozen=True)
class TreeRepr:
    """A hierarchy drawn with box characters; in notebooks its groups fold."""

    lines: tuple[_Line, ...]
    note: str = ""

    def __repr__(self) -> str:
        text = "".join(f"{line.lead}{line.name}{line.detail}\n" for line in self.lines)
        return self.note + text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._html()}

    def _html(self) -> str:
        parts = [f'<div style="{_STYLE}">{html.escape(self.note)}']
        depth = 0
        for line in self.lines:
            parts.append("</div></details>" * (depth - line.depth))
            depth = line.depth
            label = f"<b>{html.escape(line.name)}</b>{html.escape(line.detail)}"
            if line.is_parent:
                parts.append(f'<details open><summary>{label}</summary><div style="{_BELOW}">')
                depth += 1
            else:
                parts.append(f'<div style="padding-left:1.1em">{label}</div>')
        parts.append("</div></details>" * depth + "</div>")
        return "".join(parts)


def draw_tree(root_name: str, nodes: Iterable[TreeNode], note: str = "") -> TreeRepr:
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
    root = _Line(0, "", root_name, "", is_parent="" in children)
    return TreeRepr((root, *_below("", "", 1, children)), note)


def _below(
    path: str, lead: str, depth: int, children: dict[str, list[TreeNode]]
) -> Iterator[_Line]:
    nodes = children.get(path, [])
    for node in nodes:
        last = node is nodes[-1]
        name = node.path.rpartition("/")[2]
        branch = lead + ("└── " if last else "├── ")
        yield _Line(depth, branch, name, node.detail, is_parent=node.path in children)
        yield from _below(node.path, lead + ("    " if last else "│   "), depth + 1, children)
