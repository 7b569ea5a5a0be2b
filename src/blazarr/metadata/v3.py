"""zarr-metadata's types of format 3: definitions, scopes, and the shapes of ``zarr.json``."""

from __future__ import annotations

from typing import Any, Final

_MODULES: Final = (
    "array", "group", "consolidated", "chunk_grid", "chunk_key_encoding", "codec", "data_type", "definition",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    from blazarr.metadata.models import format_name

    return format_name("v3", _MODULES, name)
