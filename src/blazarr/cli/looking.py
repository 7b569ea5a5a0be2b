"""``info``, ``ls`` and ``tree``."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from blazarr.cli.arguments import Json, Options, Path, Place, store_options
from blazarr.cli.output import columns, emit, show
from blazarr.conversion.dimensions import names_of
from blazarr.conversion.sources.opening import opened
from blazarr.drawing import TreeNode, draw_tree, shown_size
from blazarr.nodes import Array, Group, layout, opening

# Attributes of an array that `info` shows, and how much of each.
SHOWN_ATTRIBUTES = 12
SHOWN_TEXT = 60


def node_at(place: str, path: str | None, options: list[str] | None) -> Array | Group:
    """Open what is at a place for reading."""
    return opened(opening.locate(place, path, "r", store_options(options)))


def info(
    place: Place,
    *,
    path: Path = None,
    stored: Annotated[
        bool, typer.Option("--stored", help="Count what is stored; lists it.")
    ] = False,
    option: Options = None,
    json: Json = False,
) -> None:
    """Say what an array or group is, on one screen."""
    node = node_at(place, path, option)
    facts = _array_facts(node, stored) if isinstance(node, Array) else _group_facts(node)
    if json:
        emit(facts)
        return
    attributes = facts.pop("attributes")
    rows = [(name.replace("_", " "), _said(name, value)) for name, value in facts.items()]
    lines = columns([row for row in rows if row[1]], ["bold"])
    shown = list(attributes.items())[:SHOWN_ATTRIBUTES]
    cells = [(f"  {name}", _short(value)) for name, value in shown]
    lines += [Text("attributes", "bold"), *columns(cells, ["cyan"])] if cells else []
    if len(attributes) > len(shown):
        lines.append(Text(f"  and {len(attributes) - len(shown)} more (--json shows all)"))
    show(lines)


def _array_facts(array: Array, stored: bool) -> dict[str, Any]:
    names = names_of(array.metadata)
    inner = layout.inner_shape(array.metadata)
    facts: dict[str, Any] = {
        "array": str(array.store_path),
        "zarr_format": array.metadata.zarr_format,
        "shape": list(array.shape),
        "dimensions": list(names) if any(names) else None,
        "data_type": str(array.dtype),
        "bytes": array.nbytes,
        "chunks": _grid(array, None if inner is None else list(inner)),
        "shards": None if inner is None else _grid(array, None),
        "chunk_count": array.nchunks,
        "codecs": [_codec(codec) for codec in layout.codecs(array.metadata)],
        "fill_value": array.metadata.to_dict().get("fill_value"),
    }
    if stored:
        found = array.info_complete()
        objects = layout.grid_shape(array.metadata)
        facts["bytes_stored"] = found.nbytes_stored
        facts["ratio"] = (
            round(array.nbytes / found.nbytes_stored, 2) if found.nbytes_stored else None
        )
        facts["objects_stored"] = [found.chunks_initialized, _product(objects)]
    return facts | {"attributes": dict(array.attrs)}


def _grid(array: Array, inner: list[int] | None) -> list[Any]:
    axes = array.metadata.grid.axes
    return inner or [axis.size if axis.is_regular else list(axis.lengths or ()) for axis in axes]


def _product(counts: tuple[int, ...]) -> int:
    total = 1
    for count in counts:
        total *= count
    return total


def _codec(codec: Any) -> str:
    configuration = codec.configuration()
    said = ", ".join(
        f"{name}={value}" for name, value in configuration.items() if value is not None
    )
    return f"{codec.name}({said})" if said else str(codec.name)


def _group_facts(group: Group) -> dict[str, Any]:
    members = group.members()
    arrays = sum(isinstance(member, Array) for _, member in members)
    return {
        "group": str(group.store_path),
        "zarr_format": group.metadata.zarr_format,
        "arrays": arrays,
        "groups": len(members) - arrays,
        "consolidated": group.metadata.consolidated_metadata is not None,
        "attributes": dict(group.attrs),
    }


def _said(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name.startswith("bytes"):
        return f"{shown_size(value)} ({value})"
    if name == "objects_stored":
        return f"{value[0]} of {value[1]}"
    if isinstance(value, list):
        joint = " -> " if name == "codecs" else " x " if name != "dimensions" else ", "
        return joint.join(map(str, value)) or "scalar"
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= SHOWN_TEXT else text[: SHOWN_TEXT - 1] + "…"


def ls(
    place: Place,
    *,
    path: Path = None,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="All levels.")] = False,
    long: Annotated[bool, typer.Option("--long", "-l", help="Shapes, types, chunks.")] = False,
    option: Options = None,
    json: Json = False,
) -> None:
    """List what is in a group: names, one a line."""
    node = node_at(place, path, option)
    members = node.members(None if recursive else 0) if isinstance(node, Group) else ((".", node),)
    if json:
        emit([_entry(name, member) for name, member in members])
        return
    ordered = sorted(members)
    if long:
        show(columns([_long(name, member) for name, member in ordered], ["bold"]))
    else:
        show(_name(name, member) for name, member in ordered)


def _name(name: str, node: Array | Group) -> Text:
    return Text(name) if isinstance(node, Array) else Text(f"{name}/", "bold blue")


def _entry(name: str, node: Array | Group) -> dict[str, Any]:
    if isinstance(node, Group):
        return {"path": name, "kind": "group"}
    return {
        "path": name,
        "kind": "array",
        "shape": list(node.shape),
        "data_type": str(node.dtype),
        "bytes": node.nbytes,
    }


def _long(name: str, node: Array | Group) -> tuple[str, ...]:
    if isinstance(node, Group):
        return f"{name}/", "group", "", "", ""
    inner = layout.inner_shape(node.metadata)
    chunks = "x".join(map(str, _grid(node, None if inner is None else list(inner))))
    shape = "x".join(map(str, node.shape)) or "scalar"
    return name, shape, str(node.dtype), f"chunks {chunks or 'scalar'}", shown_size(node.nbytes)


def tree(
    place: Place,
    *,
    path: Path = None,
    level: Annotated[
        int | None, typer.Option("--level", "-L", help="How deep; all by default.")
    ] = None,
    option: Options = None,
    json: Json = False,
) -> None:
    """Draw a hierarchy."""
    node = node_at(place, path, option)
    depth = None if level is None else max(0, level - 1)
    members = node.members(depth) if isinstance(node, Group) else ()
    if json:
        emit([_entry("", node), *(_entry(name, member) for name, member in members)])
        return
    below = [
        TreeNode(name, f" {member.shape} {member.dtype}" if isinstance(member, Array) else "")
        for name, member in members
    ]
    show(Text(text) for text in repr(draw_tree(_root(node), below)).rstrip("\n").split("\n"))


def _root(node: Array | Group) -> str:
    detail = f" {node.shape} {node.dtype}" if isinstance(node, Array) else ""
    return f"{node.store_path}{detail}"
