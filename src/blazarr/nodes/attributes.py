"""User attributes of an array or a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, Protocol

JSON = Any
Change = Callable[[dict[str, JSON]], dict[str, JSON]]


class HasAttributes(Protocol):
    """A node: what its handle has seen last, and a way to change what is stored."""

    @property
    def metadata(self) -> Any:
        """Metadata whose ``attributes`` are the user attributes."""

    def _change_attributes(self, change: Change) -> None:
        """Change the stored attributes."""


class Attributes(MutableMapping[str, JSON]):
    """User attributes, as a mapping.

    Reading uses what the handle has seen last. Every change re-reads the stored attributes,
    applies itself to them and writes the result only if nobody else has written meanwhile, so
    concurrent changes of different keys all survive.

    Parameters
    ----------
    obj
        The array or group.
    """

    def __init__(self, obj: HasAttributes) -> None:
        self._obj = obj

    def _seen(self) -> Mapping[str, JSON]:
        found: Mapping[str, JSON] = self._obj.metadata.attributes
        return found

    def _change(self, change: Change) -> None:
        self._obj._change_attributes(change)  # noqa: SLF001

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
