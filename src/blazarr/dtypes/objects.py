"""v2 arrays of Python objects: what an item is, only the object codec knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from blazarr.dtypes.base import JSON, DataType
from blazarr.dtypes.raw import BYTES
from blazarr.dtypes.text import TEXT
from blazarr.errors import MetadataError, UnsupportedError

_OBJECT_CODECS = frozenset(
    ["vlen-utf8", "vlen-bytes", "vlen-array", "json2", "msgpack2", "pickle", "categorize"]
)


@dataclass(frozen=True)
class Objects(DataType):
    """numpy's ``O`` in format 2, with an object codec other than those for text and bytes."""

    codec: str = ""

    variable: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Not a v3 name: format 3 has no such type."""
        return "object"

    def to_v3(self) -> JSON:
        """Refuse."""
        raise UnsupportedError(
            f"format 3 has no type for Python objects (v2 codec {self.codec!r}); "
            "convert to text, bytes or numbers first"
        )

    def to_v2(self) -> JSON:
        """Give ``|O``; the filter says the rest."""
        return "|O"

    def fill_from_json(self, value: JSON, path: str = "fill_value", *, zarr_format: int = 3) -> Any:
        """Take the JSON value as it is."""
        return value

    def fill_to_json(self, fill: Any, *, zarr_format: int = 3) -> JSON:
        """Give the value as it is."""
        return fill

    def to_fill(self, value: object) -> Any:
        """Take the value as it is."""
        return value

    def default_fill(self) -> Any:
        """Give None."""
        return None

    def fill_bytes(self, fill: Any) -> bytes:
        """Refuse: an object has no bytes of its own."""
        raise UnsupportedError("Python objects have no fixed bytes; read them through their codec")


def from_v2(filters: JSON, path: str) -> DataType:
    """Give the data type of ``|O``, which the object codec among `filters` decides."""
    ids = [item.get("id") for item in filters or () if isinstance(item, dict)]
    codec = next((name for name in ids if name in _OBJECT_CODECS), None)
    if codec is None:
        raise MetadataError(
            f"{path}: '|O' needs an object codec among the filters, such as 'vlen-utf8'; "
            f"found {ids}",
            path=path,
        )
    known = {TEXT.object_codec: TEXT, BYTES.object_codec: BYTES}
    return known.get(codec) or Objects(np.dtype(object), codec)
