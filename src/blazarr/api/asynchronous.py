"""The functions of `blazarr.api` for ``async`` code; `blazarr.aio` is a shorter name.

There is one implementation, the synchronous one; each function here runs it in a thread.
"""

from __future__ import annotations

from typing import Any

from blazarr import api
from blazarr.nodes.asynchronous import AsyncArray, AsyncGroup, awaited, iterated

__all__ = ["AsyncArray", "AsyncGroup"]
__all__ += api.__all__


def __getattr__(name: str) -> Any:
    if name not in api.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = getattr(api, name)
    made = iterated(function) if name == "create_hierarchy" else awaited(function)
    # The same function at the next look-up.
    globals()[name] = made
    return made
