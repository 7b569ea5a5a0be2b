"""Chunk key encodings: from a chunk's place in the grid to its store key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from blazarr.errors import MetadataError, UnsupportedError
from blazarr.metadata.document import shown, wrong

_SEPARATORS = {"default": "/", "v2": "."}


@dataclass(frozen=True, slots=True)
class KeyEncoding:
    """How chunk keys are made.

    Attributes
    ----------
    kind
        ``"default"`` (``c/0/1``) or ``"v2"`` (``0.1``).
    separator
        ``"/"`` or ``"."``.
    """

    kind: str = "default"
    separator: str = "/"

    def encode(self, coordinates: tuple[int, ...]) -> str:
        """Give the key of a chunk, below the array's path."""
        parts = map(str, coordinates)
        if self.kind == "default":
            return self.separator.join(("c", *parts))
        return self.separator.join(parts) or "0"

    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        """Give the coordinates that `key` stands for; None where it is no chunk's key."""
        parts = key.split(self.separator)
        if self.kind == "default":
            if parts[0] != "c":
                return None
            parts = parts[1:]
        elif not ndim:
            return () if key == "0" else None
        if len(parts) != ndim or not all(part.isascii() and part.isdigit() for part in parts):
            return None
        coordinates = tuple(map(int, parts))
        return coordinates if self.encode(coordinates) == key else None

    def to_json(self) -> dict[str, Any]:
        """Give the ``chunk_key_encoding`` member of a v3 document."""
        return {"name": self.kind, "configuration": {"separator": self.separator}}


def parse_key_encoding(document: Any, path: str = "chunk_key_encoding") -> KeyEncoding:
    """Parse a ``chunk_key_encoding`` member, or what users write for one."""
    if isinstance(document, KeyEncoding):
        return document
    members = document if isinstance(document, dict) else {"name": document}
    kind = members.get("name")
    if not isinstance(kind, str):
        raise wrong(path, 'a name or {"name": ..., "configuration": {...}}', document)
    if kind not in _SEPARATORS:
        raise UnsupportedError(
            f"{path}: chunk key encoding {shown(kind)} is not known; "
            "blazarr has 'default' and 'v2'",
            path=path,
        )
    configuration = members.get("configuration") or members
    if not isinstance(configuration, dict):
        raise wrong(f"{path}.configuration", "an object", configuration)
    return KeyEncoding(
        kind, _parse_separator(configuration.get("separator", _SEPARATORS[kind]), path)
    )


def _parse_separator(separator: Any, path: str) -> str:
    if separator not in ("/", "."):
        raise wrong(f"{path}.configuration.separator", "'/' or '.'", separator)
    return str(separator)


def parse_dimension_separator(separator: Any) -> KeyEncoding:
    """Parse the ``dimension_separator`` member of a v2 document; absent means ``"."``."""
    if separator is None:
        return KeyEncoding("v2", ".")
    if separator not in ("/", "."):
        raise MetadataError(
            f"dimension_separator: expected '/' or '.', found {shown(separator)}",
            path="dimension_separator",
        )
    return KeyEncoding("v2", separator)
