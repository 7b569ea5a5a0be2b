"""What a codec is: the classes that every codec, built in or a user's own, derives from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from blazarr.errors import InternalError, MetadataError, UnsupportedError

if TYPE_CHECKING:
    from typing import Self

    from blazarr.codecs.stage import Stage
    from blazarr.dtypes import DataType

JSON: TypeAlias = Any
Buffer: TypeAlias = bytes | bytearray | memoryview | npt.NDArray[np.uint8]

# A step of the native chain, as the core reads it.
Step: TypeAlias = dict[str, JSON]


class Codec:
    """A step between the elements of a chunk and its bytes.

    Derive from `ArrayArrayCodec`, `ArrayBytesCodec` or `BytesBytesCodec`, as a frozen data class
    whose fields are the members of the codec's ``configuration``. A codec either names the steps
    of the core that do its work (`native`) or encodes and decodes in Python.

    Attributes
    ----------
    name : str
        Name in Zarr format 3.
    v2_id : str or None
        Identifier in format 2, or None if that format does not have the codec.
    """

    name: ClassVar[str]
    v2_id: ClassVar[str | None] = None

    @classmethod
    def from_dict(cls, data: Mapping[str, JSON]) -> Self:
        """Build the codec from its form in a metadata document of format 3."""
        return cls.from_configuration(data.get("configuration") or {})

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, JSON]) -> Self:
        """Build the codec from the members of its configuration."""
        known = [field.name for field in dataclasses.fields(cls) if field.init]  # type: ignore[arg-type]
        for member in configuration:
            if member not in known:
                raise MetadataError(
                    f"codec {cls.name!r} has no option {member!r}; it has {known}",
                    path=f"configuration.{member}",
                    codec=cls.name,
                )
        try:
            return cls(**configuration)
        except TypeError as error:
            raise MetadataError(
                f"codec {cls.name!r}: {error}", path="configuration", codec=cls.name
            ) from error

    def configuration(self) -> dict[str, JSON]:
        """Return the members of the codec's configuration."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return {field.name: getattr(self, field.name) for field in fields if field.init}

    def to_dict(self) -> dict[str, JSON]:
        """Return the codec's form in a metadata document of format 3."""
        configuration = self.configuration()
        if not configuration:
            return {"name": self.name}
        return {"name": self.name, "configuration": configuration}

    def to_v2(self) -> dict[str, JSON]:
        """Return the codec's form in a metadata document of format 2."""
        if self.v2_id is None:
            raise UnsupportedError(
                f"codec {self.name!r} does not exist in Zarr format 2", codec=self.name
            )
        return {"id": self.v2_id, **self.configuration()}

    def evolve(self, stage: Stage) -> Self:
        """Return the codec with everything filled in that depends on the data it is given."""
        del stage
        return self

    def native(self, stage: Stage) -> list[Step] | None:
        """Return the steps of the core that do what the codec does, or None if it can't."""
        del stage
        return None


class ArrayArrayCodec(Codec):
    """A codec that makes an array of an array.

    Attributes
    ----------
    elementwise : bool
        Whether each element is encoded on its own, whatever its place.
    """

    elementwise: ClassVar[bool] = False

    def after(self, stage: Stage) -> Stage:
        """Return what the codec makes of data at a stage."""
        return stage

    def encode(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Encode an array; its type and shape are those of the stage."""
        del array
        raise _runs_in_core(self)

    def decode(self, array: npt.NDArray[Any], stage: Stage) -> npt.NDArray[Any]:
        """Decode an array to the type and shape of a stage."""
        del array, stage
        raise _runs_in_core(self)


class ArrayBytesCodec(Codec):
    """A codec that makes bytes of an array."""

    def for_objects(self, data_type: DataType) -> Self:
        """Return the codec for arrays of Python objects of a data type."""
        del data_type
        return self

    def encode(self, array: npt.NDArray[Any]) -> Buffer:
        """Encode an array."""
        del array
        raise _runs_in_core(self)

    def decode(self, data: Buffer, stage: Stage) -> npt.NDArray[Any]:
        """Decode bytes to an array of the type and shape of a stage."""
        del data, stage
        raise _runs_in_core(self)

    def max_encoded(self, size: int) -> int | None:
        """Return the largest size that encoded data of a size can have, where it is known."""
        del size
        return None


class BytesBytesCodec(Codec):
    """A codec that makes bytes of bytes."""

    def encode(self, data: Buffer) -> Buffer:
        """Encode bytes."""
        del data
        raise _runs_in_core(self)

    def decode(self, data: Buffer) -> Buffer:
        """Decode bytes."""
        del data
        raise _runs_in_core(self)

    def decode_bounded(self, data: Buffer, limit: int | None) -> Buffer:
        """Decode bytes to no more than a limit, where there is one.

        The chain checks the size in any case; a codec that stops at the limit saves the memory
        that a small chunk made to harm would ask for.
        """
        del limit
        return self.decode(data)

    def max_encoded(self, size: int) -> int | None:
        """Return the largest size that encoded data of a size can have, where it is known."""
        del size
        return None


def _runs_in_core(codec: Codec) -> InternalError:
    return InternalError(f"codec {codec.name!r} has no form in Python", codec=codec.name)
