"""zarr-metadata's types of format 2: definitions, and the shapes of ``.zarray``, ``.zgroup`` and ``.zmetadata``."""

from __future__ import annotations

from typing import Any, Final

_MODULES: Final = (
    "array", "group", "attributes", "consolidated", "codec", "data_type", "definition",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    from blazarr.metadata.models import format_name

    return format_name("v2", _MODULES, name)
