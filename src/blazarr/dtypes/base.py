"""`DataType`: one Zarr data type, in both formats, with its numpy dtype and its fill values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

JSON = Any


@dataclass(frozen=True)
class DataType(ABC):
    """A Zarr data type.

    Attributes
    ----------
    numpy
        The numpy dtype, in the byte order that users see: the declared one in format 2, the
        machine's own in format 3 (where byte order belongs to the ``bytes`` codec).
    """

    numpy: np.dtype[Any]

    variable: ClassVar[bool] = False
    """Whether items have no fixed size."""

    object_codec: ClassVar[str | None] = None
    """The v2 filter that gives a ``|O`` array this data type."""

    @staticmethod
    def from_v3(document: JSON, path: str = "data_type") -> DataType:
        """Parse the ``data_type`` member of a v3 document."""
        from blazarr.dtypes.registry import parse_v3

        return parse_v3(document, path)

    @staticmethod
    def from_v2(document: JSON, filters: JSON = None, path: str = "dtype") -> DataType:
        """Parse the ``dtype`` member of a v2 document.

        `filters` are the filters and the compressor: one of them says what ``|O`` means.
        """
        from blazarr.dtypes.registry import parse_v2

        return parse_v2(document, filters, path)

    @staticmethod
    def from_numpy(dtype: object) -> DataType:
        """Give the data type for a numpy dtype, or for anything that names a data type."""
        from blazarr.dtypes.registry import parse_data_type

        return parse_data_type(dtype)

    @property
    @abstractmethod
    def name(self) -> str:
        """The v3 name."""

    @property
    def itemsize(self) -> int:
        """Bytes that one item takes in memory."""
        return self.numpy.itemsize

    @property
    def kind(self) -> str:
        """Numpy's one-letter kind."""
        return self.numpy.kind

    @property
    def native(self) -> np.dtype[Any]:
        """`numpy` in the machine's byte order, which is what decoded chunks hold."""
        return self.numpy if self.numpy.isnative else self.numpy.newbyteorder("=")

    def as_native(self) -> DataType:
        """Give the type in the machine's byte order, the only one that format 3 knows."""
        if self.numpy.isnative:
            return self
        return DataType.from_numpy(self.numpy.newbyteorder("="))

    def to_v3(self) -> JSON:
        """Give the ``data_type`` member of a v3 document."""
        return self.name

    def to_v2(self) -> JSON:
        """Give the ``dtype`` member of a v2 document."""
        return self.numpy.str

    @abstractmethod
    def fill_from_json(self, value: JSON, path: str = "fill_value", *, zarr_format: int = 3) -> Any:
        """Read a stored fill value; `path` is its place in the document."""

    @abstractmethod
    def fill_to_json(self, fill: Any, *, zarr_format: int = 3) -> JSON:
        """Give the stored form of a fill value."""

    @abstractmethod
    def to_fill(self, value: object) -> Any:
        """Make a fill value of what a user gave."""

    def default_fill(self) -> Any:
        """Give the fill value of an array whose creator named none."""
        return self.native.type(0)

    def fill_bytes(self, fill: Any) -> bytes:
        """Give the bytes of one item, as `native` lays them out."""
        return np.array(fill, dtype=self.native).tobytes()
