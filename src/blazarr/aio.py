"""A short name for `blazarr.api.asynchronous`."""

from __future__ import annotations

from typing import Any

from blazarr.api import asynchronous
from blazarr.api.asynchronous import AsyncArray, AsyncGroup

__all__ = ["AsyncArray", "AsyncGroup"]
__all__ += asynchronous.__all__


def __getattr__(name: str) -> Any:
    return getattr(asynchronous, name)
