"""zarr-python's functions (its ``zarr.api.synchronous``)."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from blazarr.api.classic import (
        array,
        create,
        empty,
        empty_like,
        full,
        full_like,
        ones,
        ones_like,
        open_like,
        zeros,
        zeros_like,
    )
    from blazarr.api.copying import copy, copy_all, copy_store
    from blazarr.api.creating import create_array, create_group, create_hierarchy, from_array
    from blazarr.api.debug import print_debug_info, set_format, set_log_level
    from blazarr.api.on_device import create_cuda_array, open_cuda_array
    from blazarr.api.opening import (
        consolidate_metadata,
        group,
        open,
        open_array,
        open_consolidated,
        open_group,
        tree,
    )
    from blazarr.api.saving import load, save, save_array, save_group
    from blazarr.api.upkeep import migrate, repair, validate

__all__ = [
    "array",
    "consolidate_metadata",
    "copy",
    "copy_all",
    "copy_store",
    "create",
    "create_array",
    "create_cuda_array",
    "create_group",
    "create_hierarchy",
    "empty",
    "empty_like",
    "from_array",
    "full",
    "full_like",
    "group",
    "load",
    "migrate",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_consolidated",
    "open_cuda_array",
    "open_group",
    "open_like",
    "print_debug_info",
    "repair",
    "save",
    "save_array",
    "save_group",
    "set_format",
    "set_log_level",
    "tree",
    "validate",
    "zeros",
    "zeros_like",
]

# Where each function is: whoever opens an array needs none that copy or repair.
_MODULES: Final = {
    "classic": (
        "array",
        "create",
        "empty",
        "empty_like",
        "full",
        "full_like",
        "ones",
        "ones_like",
        "open_like",
        "zeros",
        "zeros_like",
    ),
    "copying": ("copy", "copy_all", "copy_store"),
    "creating": ("create_array", "create_group", "create_hierarchy", "from_array"),
    "debug": ("print_debug_info", "set_format", "set_log_level"),
    "on_device": ("create_cuda_array", "open_cuda_array"),
    "opening": (
        "consolidate_metadata",
        "group",
        "open",
        "open_array",
        "open_consolidated",
        "open_group",
        "tree",
    ),
    "saving": ("load", "save", "save_array", "save_group"),
    "upkeep": ("migrate", "repair", "validate"),
}
_PLACES: Final = {name: module for module, names in _MODULES.items() for name in names}
_OPENED_ON_USE: Final = frozenset({"asynchronous", "synchronous"})


def __getattr__(name: str) -> Any:
    if name in _OPENED_ON_USE:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_OPENED_ON_USE})
