"""Arguments that several commands take, and how their text is read."""

from __future__ import annotations

import json
from typing import Annotated, Any, TypeAlias

import typer

from blazarr.errors import BlazarrError

Place: TypeAlias = Annotated[
    str, typer.Argument(help="Folder, zip archive or URL.", show_default=False)
]
Path: TypeAlias = Annotated[str | None, typer.Option(help="Path inside the store.")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Options: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="KEY=VALUE", help="Option of the store; repeatable."),
]
MaxMemory: TypeAlias = Annotated[
    str, typer.Option(metavar="SIZE", help="Memory that it may take, such as 512MiB.")
]
Dask: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Work on a Dask cluster: its address, or 'local'."),
]


def store_options(given: list[str] | None) -> dict[str, Any] | None:
    """Return options of a store; values are JSON where they can be."""
    if not given:
        return None
    options = {}
    for entry in given:
        name, equals, text = entry.partition("=")
        if not equals or not name:
            raise BlazarrError(f"--option: expected KEY=VALUE, found {entry!r}", argument="option")
        options[name] = _value(text)
    return options


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def sizes(text: str | None, argument: str) -> Any:
    """Return chunks or shards: ``64,256,-1``, ``time=100,lat=64``, ``auto``, ``none``, JSON.

    Parameters
    ----------
    text
        What was written; None keeps what the source has.
    argument
        Name for errors.
    """
    if text is None or text in {"keep", "auto"}:
        return text or "keep"
    if text == "none":
        return None
    if text.startswith(("[", "{")):
        return _json(text, argument)
    parts = [part.strip() for part in text.split(",")]
    try:
        if any("=" in part for part in parts):
            named = [part.partition("=") for part in parts]
            return {name.strip(): int(size) for name, _, size in named}
        numbers = tuple(map(int, parts))
    except ValueError:
        raise BlazarrError(
            f"--{argument}: expected sizes such as 64,256,256 (-1 for a whole axis) or "
            f"time=100,lat=64, found {text!r}",
            argument=argument,
        ) from None
    return numbers


def codecs(given: list[str] | None, argument: str) -> Any:
    """Return codecs: ``zstd``, ``zstd:5``, ``blosc:lz4:5``, ``none``, ``auto``, JSON.

    Parameters
    ----------
    given
        What was written, in the order of encoding; None keeps what the source has.
    argument
        Name for errors.
    """
    if not given:
        return "keep"
    if given in (["none"], ["auto"], ["keep"]):
        return None if given == ["none"] else given[0]
    return [_codec(text, argument) for text in given]


def _codec(text: str, argument: str) -> Any:
    if text.startswith(("{", "[")):
        return _json(text, argument)
    name, *rest = text.split(":")
    try:
        if name == "blosc":
            given = zip(("cname", "clevel"), [*rest[:1], *map(int, rest[1:])], strict=False)
            return {"id": "blosc", "shuffle": 1, **dict(given)}
        return {"id": name, **({"level": int(rest[0])} if rest else {})}
    except (ValueError, IndexError):
        raise BlazarrError(
            f"--{argument}: expected NAME, NAME:LEVEL, blosc:CNAME:LEVEL or JSON, found {text!r}",
            argument=argument,
        ) from None


def _json(text: str, argument: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise BlazarrError(f"--{argument}: {error}", argument=argument) from None
