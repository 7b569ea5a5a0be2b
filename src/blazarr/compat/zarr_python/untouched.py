"""Telling zarr-python's own objects from those that somebody changed.

The work of a store or codec is done without it only where that shows to nobody: it is of zarr-python's very class, and
neither has methods that somebody else put there, as tests and instrumentation do.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any


def is_own(thing: object, package: str) -> bool:
    """Whether an object's class is a package's, with the methods for encoding and decoding that it came with."""
    kind = type(thing)
    if kind.__module__.partition(".")[0] != package:
        return False
    coding = (name for name, value in vars(kind).items() if "code" in name and callable(value))
    return has_own_methods(thing, frozenset(coding))


def has_own_methods(thing: object, names: frozenset[str]) -> bool:
    """Whether the named methods, where the object's class defines them, are those that it was written with."""
    kind = type(thing)
    if not names.isdisjoint(getattr(thing, "__dict__", ())):
        return False
    # This is asked at each read and write: what was found right once is right while it is the same.
    methods = list(map(vars(kind).get, names))
    if _right.get((kind, names)) == methods:
        return True
    right = all(
        method is None or _is_as_written(kind, name, method)
        for name, method in zip(names, methods, strict=True)
    )
    if right:
        _right[kind, names] = methods
    return right


_right: dict[tuple[type, frozenset[str]], list[Any]] = {}


def _is_as_written(kind: type, name: str, method: object) -> bool:
    if isinstance(method, FunctionType):
        # A wrapper may take over a function's name, but not the name in its code.
        return method.__code__.co_qualname == f"{kind.__qualname__}.{name}"
    return type(method).__name__ in _COMPILED


# Types of methods that are not written in Python.
_COMPILED = frozenset(["cython_function_or_method", "method_descriptor"])
