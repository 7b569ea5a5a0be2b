"""Checks of the values in a codec's configuration; each says which codec and which member."""

from __future__ import annotations

import operator
from collections.abc import Collection
from typing import Any

from blazarr.errors import MetadataError


def check_integer(
    codec: str, member: str, value: Any, low: int | None = None, high: int | None = None
) -> int:
    """Return an integer within bounds; numpy's integers count."""
    try:
        number = operator.index(value)
    except TypeError:
        raise wrong(codec, member, value, "an integer") from None
    if isinstance(value, bool):
        raise wrong(codec, member, value, "an integer")
    if (low is not None and number < low) or (high is not None and number > high):
        raise wrong(codec, member, value, _bounds(low, high))
    return number


def check_flag(codec: str, member: str, value: Any) -> bool:
    """Return a boolean."""
    if not isinstance(value, bool):
        raise wrong(codec, member, value, "true or false")
    return value


def check_choice(codec: str, member: str, value: Any, choices: Collection[str]) -> str:
    """Return one of several strings; an enumeration's member counts as its value."""
    value = getattr(value, "value", value)
    if not isinstance(value, str) or value not in choices:
        names = [str(getattr(choice, "value", choice)) for choice in choices]
        raise wrong(codec, member, value, f"one of {names}")
    return value


def check_integers(codec: str, member: str, value: Any, low: int) -> tuple[int, ...]:
    """Return a tuple of integers of at least a size."""
    try:
        items = tuple(value)
    except TypeError:
        raise wrong(codec, member, value, "a list of integers") from None
    return tuple(check_integer(codec, f"{member}[{i}]", n, low) for i, n in enumerate(items))


def lenient_integer(codec: str, member: str, value: Any, default: int) -> int:
    """Return an integer from what format 2 documents hold: null, ``5.0`` and ``"5"`` too."""
    if value is None:
        return default
    try:
        number = int(value)
        if isinstance(value, bool) or number != float(value):
            raise wrong(codec, member, value, "an integer")
    except (TypeError, ValueError, OverflowError):
        raise wrong(codec, member, value, "an integer") from None
    return number


def wrong(codec: str, member: str, value: Any, expected: str) -> MetadataError:
    """Return the error for a value that is not what a codec takes."""
    return MetadataError(
        f"codec {codec!r}: {member} must be {expected}, not {value!r}",
        path=f"configuration.{member}",
        codec=codec,
    )


def _bounds(low: int | None, high: int | None) -> str:
    if high is None:
        return f"an integer of at least {low}"
    if low is None:
        return f"an integer of at most {high}"
    return f"an integer from {low} to {high}"
