"""What extenders implement, by zarr-python's module names.

`blazarr.abc.store`, `.codec`, `.buffer`, `.metadata` and `.numcodec` say what is to be implemented.
`blazarr.testing` has the contract suites that an implementation can be run against.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

_OPENED_ON_USE: Final = frozenset({"buffer", "codec", "metadata", "numcodec", "store"})


def __getattr__(name: str) -> Any:
    if name not in _OPENED_ON_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
