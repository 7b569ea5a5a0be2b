"""``array.oindex``, ``array.vindex`` and ``array.blocks``: brackets for the other selections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from blazarr.indexing import Selection, pop_fields


@dataclass(frozen=True)
class Accessor:
    """Brackets whose key `parse` understands."""

    parse: Callable[[Any], Selection]
    read: Callable[..., Any]
    write: Callable[..., None]

    def __getitem__(self, key: Any) -> Any:
        fields, key = pop_fields(key)
        return self.read(self.parse(key), fields)

    def __setitem__(self, key: Any, value: Any) -> None:
        fields, key = pop_fields(key)
        self.write(self.parse(key), value, fields)
