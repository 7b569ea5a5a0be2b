"""``array.oindex``, ``array.vindex`` and ``array.blocks``: brackets for the other selections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from blazarr.indexing import Selection, pop_fields

if TYPE_CHECKING:
    from blazarr.nodes.selectable import Selectable


@dataclass(frozen=True)
class Accessor:
    """Brackets of an array whose key `parse` understands."""

    array: Selectable
    parse: Callable[[Selectable, Any], Selection]

    def __getitem__(self, key: Any) -> Any:
        fields, key = pop_fields(key)
        return self.array._get(self.parse(self.array, key), fields)  # noqa: SLF001

    def __setitem__(self, key: Any, value: Any) -> None:
        fields, key = pop_fields(key)
        self.array._set(self.parse(self.array, key), value, fields)  # noqa: SLF001
