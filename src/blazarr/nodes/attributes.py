"""User attributes of an array or a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

JSON = Any
Change = Callable[[dict[str, JSON]], dict[str, JSON]]


class Attributes(MutableMapping[str, JSON]):
    """User attributes, as a mapping.

    Reading uses what the handle has seen last. Every change re-reads the stored attributes,
    applies itself to them and writes the result only if nobody else has written meanwhile, so
    concurrent changes of different keys all survive.

    Parameters
    ----------
    seen
        Returns the attributes that the node's handle has seen last.
    change
        Changes the stored attributes.
    """

    def __init__(
        self, seen: Callable[[], Mapping[str, JSON]], change: Callable[[Change], None]
    ) -> None:
        self._seen = seen
        self._change = change

    def __getitem__(self, key: str) -> JSON:
        return self._seen()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._seen())

    def __len__(self) -> int:
        return len(self._seen())

    def __repr__(self) -> str:
        return f"Attributes({self.asdict()!r})"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def asdict(self) -> dict[str, JSON]:
        """Return the attributes as a dictionary."""
        return dict(self._seen())

    def __setitem__(self, key: str, value: JSON) -> None:
        self._change(lambda stored: {**stored, key: value})

    def __delitem__(self, key: str) -> None:
        self.pop(key)

    def pop(self, key: str, *default: JSON) -> JSON:
        """Remove an attribute and return its value.

        Parameters
        ----------
        key
            Name of the attribute.
        *default
            Returned if there is no such attribute; without it that is a ``KeyError``.
        """
        if default and key not in self:
            return default[0]
        taken: list[JSON] = []

        def without(stored: dict[str, JSON]) -> dict[str, JSON]:
            taken.append(stored[key])
            return {name: value for name, value in stored.items() if name != key}

        self._change(without)
        return taken[-1]

    def update(self, *args: Any, **values: JSON) -> None:
        """Set several attributes with one write; arguments are those of ``dict.update``."""
        new = dict(*args, **values)
        self._change(lambda stored: {**stored, **new})

    def setdefault(self, key: str, default: JSON = None) -> JSON:
        """Return an attribute, setting it first if it isn't there."""
        self._change(lambda stored: {key: default, **stored})
        return self[key]

    def put(self, d: Mapping[str, JSON]) -> None:
        """Replace all attributes.

        Parameters
        ----------
        d
            The new attributes.
        """
        self._change(lambda stored: dict(d))

    def clear(self) -> None:
        """Remove all attributes."""
        self.put({})
