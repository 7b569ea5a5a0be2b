"""Codecs of numcodecs: in format 2 by their id, in format 3 under ``numcodecs.``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from blazarr.codecs.base import (
    JSON,
    ArrayArrayCodec,
    ArrayBytesCodec,
    Buffer,
    BytesBytesCodec,
    Codec,
    Step,
)
from blazarr.codecs.checks import lenient_integer, wrong
from blazarr.codecs.registry import NUMCODECS, unknown_codec
from blazarr.codecs.stage import BYTE
from blazarr.errors import MetadataError

if TYPE_CHECKING:
    from typing import Self

    import numpy.typing as npt

    from blazarr.codecs.stage import Stage

Implementation: TypeAlias = Any


class NumcodecsCodec(Codec):
    """A codec of numcodecs.

    Parameters
    ----------
    **config : object
        The codec's options, as numcodecs names them.

    Attributes
    ----------
    codec_id : str
        Its id there.
    """

    codec_id: ClassVar[str]
    required: ClassVar[tuple[str, ...]] = ()

    _config: dict[str, JSON]

    def __init_subclass__(cls, codec_id: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if codec_id is not None:
            cls.codec_id = cls.v2_id = codec_id
            cls.name = f"{NUMCODECS}{codec_id}"

    def __init__(self, **config: JSON) -> None:
        config.pop("id", None)
        for member in self.required:
            if config.get(member) is None:
                raise MetadataError(
                    f"codec {self.codec_id!r} needs {member!r}",
                    path=f"configuration.{member}",
                    codec=self.codec_id,
                )
        self._config = config

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, JSON]) -> Self:
        """Build the codec from the members of its configuration."""
        return cls(**configuration)

    def configuration(self) -> dict[str, JSON]:
        """Return the codec's options."""
        return dict(self._config)

    def to_dict(self) -> dict[str, JSON]:
        """Return the form in format 3."""
        return {"name": self.name, "configuration": self.configuration()}

    def replaced(self, **changes: JSON) -> Self:
        """Return the codec with other options."""
        return type(self)(**{**self._config, **changes})

    def number(self, member: str, default: int) -> int:
        """Return an option that is an integer, however a writer spelled it."""
        return lenient_integer(self.codec_id, member, self._config.get(member), default)

    def dtype(self, member: str, default: np.dtype[Any]) -> np.dtype[Any]:
        """Return an option that is a data type."""
        value = self._config.get(member)
        if value is None:
            return default
        try:
            found: np.dtype[Any] = np.dtype(value)
        except (TypeError, ValueError):
            found = np.dtype(object)
        if not isinstance(value, str) or found.hasobject or not _is_plain(found):
            raise wrong(self.codec_id, member, value, "a plain data type, such as '<i4'")
        return found

    def native(self, stage: Stage) -> list[Step] | None:
        """Return None, for numcodecs runs it; that it can is found out here."""
        del stage
        self.implementation()
        return None

    def implementation(self) -> Implementation:
        """Return numcodecs' own codec."""
        return self._implementation

    @cached_property
    def _implementation(self) -> Implementation:
        return implementation({"id": self.codec_id, **self._config})

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._config == other._config

    def __hash__(self) -> int:
        return hash((type(self), repr(sorted(self._config.items()))))

    def __repr__(self) -> str:
        options = ", ".join(f"{member}={value!r}" for member, value in self._config.items())
        return f"{type(self).__name__}({options})"


class NumcodecsBytesBytes(NumcodecsCodec, BytesBytesCodec):
    """A compressor or a checksum."""

    def encode(self, data: Buffer) -> Buffer:
        """Encode bytes."""
        return as_bytes(self.implementation().encode(np.frombuffer(data, BYTE)))

    def decode(self, data: Buffer) -> Buffer:
        """Decode bytes."""
        return as_bytes(self.implementation().decode(np.frombuffer(data, BYTE)))


class NumcodecsArrayArray(NumcodecsCodec, ArrayArrayCodec):
    """A filter."""

    def encode(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Encode an array."""
        return np.asarray(self.implementation().encode(np.ascontiguousarray(array)))

    def decode(self, array: npt.NDArray[Any], stage: Stage) -> npt.NDArray[Any]:
        """Decode an array."""
        decoded = np.asarray(self.implementation().decode(array))
        return decoded.reshape(-1).view(stage.dtype)


class NumcodecsArrayBytes(NumcodecsCodec, ArrayBytesCodec):
    """A compressor of arrays."""

    def encode(self, array: npt.NDArray[Any]) -> Buffer:
        """Encode an array."""
        return as_bytes(self.implementation().encode(np.ascontiguousarray(array)))

    def decode(self, data: Buffer, stage: Stage) -> npt.NDArray[Any]:
        """Decode an array."""
        decoded = np.asarray(self.implementation().decode(bytes(data)))
        return decoded.reshape(-1).view(stage.dtype)


def _is_plain(dtype: np.dtype[Any]) -> bool:
    return dtype.itemsize > 0 and dtype.names is None and dtype.subdtype is None


# Classes of objects that users passed, by an id that numcodecs doesn't know.
_adopted: dict[str, Any] = {}


def adopt_numcodecs(codec: Any) -> None:
    """Make the class of an object known to this process, where nobody registered its id."""
    from numcodecs.registry import codec_registry

    if codec.codec_id not in codec_registry and hasattr(type(codec), "from_config"):
        _adopted[codec.codec_id] = type(codec)


def implementation(config: Mapping[str, JSON]) -> Implementation:
    """Return numcodecs' codec for a configuration of format 2."""
    import numcodecs
    from numcodecs.errors import UnknownCodecError

    codec_id = config["id"]
    try:
        return numcodecs.get_codec(dict(config))
    except UnknownCodecError:
        if codec_id not in _adopted:
            raise unknown_codec(codec_id, 2) from None
        return _adopted[codec_id].from_config(_without_id(config))
    except (TypeError, ValueError) as error:
        raise MetadataError(
            f"codec {codec_id!r}: {error}", path="configuration", codec=codec_id
        ) from error


def _without_id(config: Mapping[str, JSON]) -> dict[str, JSON]:
    return {member: value for member, value in config.items() if member != "id"}


def as_bytes(data: Any) -> Buffer:
    """Return what a codec of numcodecs gave as plain bytes."""
    if isinstance(data, np.ndarray):
        flat: npt.NDArray[np.uint8] = np.ascontiguousarray(data).reshape(-1).view(BYTE)
        return flat
    return memoryview(data)
