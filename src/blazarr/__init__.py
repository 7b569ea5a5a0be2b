"""Zarr for Python, as fast as the machine allows.

``import blazarr as zarr`` runs scripts written for zarr-python.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any, Final

from blazarr import _core
from blazarr.config import config

if TYPE_CHECKING:
    from blazarr.api import (
        array,
        consolidate_metadata,
        copy,
        copy_all,
        copy_store,
        create,
        create_array,
        create_cuda_array,
        create_group,
        create_hierarchy,
        empty,
        empty_like,
        from_array,
        full,
        full_like,
        group,
        load,
        migrate,
        ones,
        ones_like,
        open,
        open_array,
        open_consolidated,
        open_cuda_array,
        open_group,
        open_like,
        print_debug_info,
        repair,
        save,
        save_array,
        save_group,
        set_format,
        set_log_level,
        tree,
        validate,
        zeros,
        zeros_like,
    )
    from blazarr.checking import check
    from blazarr.compat.zarr_python import enable
    from blazarr.compat.zarr_python.gpu import configure_gpu
    from blazarr.conversion import convert, rechunk
    from blazarr.nodes import Array, AsyncArray, AsyncGroup, Group

__version__: Final[str] = _core.__version__

__all__ = [
    "Array",
    "AsyncArray",
    "AsyncGroup",
    "Group",
    "__version__",
    "array",
    "check",
    "config",
    "configure_gpu",
    "consolidate_metadata",
    "convert",
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
    "enable",
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
    "rechunk",
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

# Where public names are that are not in `blazarr.api`.
_ELSEWHERE = {
    **dict.fromkeys(("Array", "AsyncArray", "AsyncGroup", "Group"), "nodes"),
    "configure_gpu": "compat.zarr_python.gpu",
    "enable": "compat.zarr_python",
    "check": "checking",
    **dict.fromkeys(("convert", "rechunk"), "conversion"),
}
_OPENED_ON_USE = frozenset(
    {
        "abc",
        "aio",
        "api",
        "checking",
        "codecs",
        "conversion",
        "cuda",
        "distributed",
        "dtype",
        "dtypes",
        "errors",
        "experimental",
        "grids",
        "metadata",
        "registry",
        "storage",
        "stores",
        "testing",
        "types",
    }
)

if not _core.OPTIMISED:
    warnings.warn(
        "blazarr's core was built without optimisation and is many times slower than it should "
        "be; build it with `maturin develop --release`",
        RuntimeWarning,
        stacklevel=2,
    )


def __getattr__(name: str) -> Any:
    if name in _OPENED_ON_USE:
        return importlib.import_module(f"blazarr.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'blazarr' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"blazarr.{_ELSEWHERE.get(name, 'api')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_OPENED_ON_USE})
