"""Codecs that other packages wrote for zarr-python, run through zarr-python's interfaces."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from blazarr.codecs.base import (
    JSON,
    ArrayArrayCodec,
    ArrayBytesCodec,
    Buffer,
    BytesBytesCodec,
    Codec,
)
from blazarr.codecs.registry import is_known, register_codec
from blazarr.codecs.stage import Stage

if TYPE_CHECKING:
    from typing import Self

    import numpy.typing as npt


def adapted_class(name: str) -> type[Codec] | None:
    """Return a class for a codec that zarr-python finds under a name, where it is installed."""
    try:
        from zarr.registry import get_codec_class
    except ImportError:
        return None
    try:
        theirs: Any = get_codec_class(name)
    except (KeyError, ValueError):
        return None
    return _adapted(name, theirs)


def adopt(codec: Any, document: Mapping[str, JSON]) -> None:
    """Make the class of an object known, where nobody registered its name.

    So this process reads what it writes with the object; others need the codec registered.
    """
    name = document.get("name")
    if not isinstance(name, str) or is_known(name):
        return
    theirs: Any = type(codec)
    try:
        adapted = _adapted(name, theirs)
    except ImportError:
        return
    if adapted is not None:
        register_codec(adapted, name)


@cache
def _adapted(name: str, theirs: Any) -> type[Codec] | None:
    from zarr.abc import codec as abc

    bases = {
        abc.ArrayArrayCodec: _ArrayArray,
        abc.ArrayBytesCodec: _ArrayBytes,
        abc.BytesBytesCodec: _BytesBytes,
    }
    for interface, base in bases.items():
        if issubclass(theirs, interface):
            return type(theirs.__name__, (base,), {"name": name, "theirs": theirs})
    return None


@dataclass(frozen=True)
class _Adapted(Codec):
    theirs: ClassVar[Any]

    codec: Any
    stage: Stage | None = None

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, JSON]) -> Self:
        document = {"name": cls.name, "configuration": dict(configuration)}
        return cls(cls.theirs.from_dict(document if configuration else {"name": cls.name}))

    def configuration(self) -> dict[str, JSON]:
        return dict(self.to_dict().get("configuration") or {})

    def to_dict(self) -> dict[str, JSON]:
        return dict(self.codec.to_dict())

    def evolve(self, stage: Stage) -> Self:
        evolved = self.codec.evolve_from_array_spec(_spec(stage))
        return dataclasses.replace(self, codec=evolved, stage=stage)

    def _run(self, direction: str, data: Any) -> Any:
        assert self.stage is not None
        method = getattr(self.codec, f"_{direction}_sync", None)
        if method is not None:
            return method(data, _spec(self.stage))
        from zarr.core.sync import sync

        return sync(getattr(self.codec, f"_{direction}_single")(data, _spec(self.stage)))


class _ArrayArray(_Adapted, ArrayArrayCodec):
    def after(self, stage: Stage) -> Stage:
        spec = self.codec.resolve_metadata(_spec(stage))
        return Stage.of(spec.dtype.to_native_dtype(), spec.shape)

    def encode(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return _array_of(self._run("encode", _ndbuffer(array)))

    def decode(self, array: npt.NDArray[Any], stage: Stage) -> npt.NDArray[Any]:
        return _array_of(self._run("decode", _ndbuffer(array))).astype(stage.dtype, copy=False)


class _ArrayBytes(_Adapted, ArrayBytesCodec):
    def encode(self, array: npt.NDArray[Any]) -> Buffer:
        return _bytes_of(self._run("encode", _ndbuffer(array)))

    def decode(self, data: Buffer, stage: Stage) -> npt.NDArray[Any]:
        return _array_of(self._run("decode", _buffer(data))).astype(stage.dtype, copy=False)


class _BytesBytes(_Adapted, BytesBytesCodec):
    def encode(self, data: Buffer) -> Buffer:
        return _bytes_of(self._run("encode", _buffer(data)))

    def decode(self, data: Buffer) -> Buffer:
        return _bytes_of(self._run("decode", _buffer(data)))


def _spec(stage: Stage) -> Any:
    """The stage as zarr-python describes it to codecs."""
    from zarr.core.array_spec import ArrayConfig, ArraySpec
    from zarr.core.buffer import default_buffer_prototype
    from zarr.dtype import parse_dtype

    dtype = parse_dtype(stage.dtype, zarr_format=3)
    return ArraySpec(
        shape=tuple(size or 0 for size in stage.shape or ()),
        dtype=dtype,
        fill_value=dtype.default_scalar(),
        config=ArrayConfig.from_dict({}),
        prototype=default_buffer_prototype(),
    )


def _buffer(data: Buffer) -> Any:
    from zarr.core.buffer import default_buffer_prototype

    return default_buffer_prototype().buffer.from_bytes(bytes(data))


def _ndbuffer(array: npt.NDArray[Any]) -> Any:
    from zarr.core.buffer import default_buffer_prototype

    return default_buffer_prototype().nd_buffer.from_numpy_array(array)


def _bytes_of(buffer: Any) -> bytes:
    return bytes(buffer.to_bytes())


def _array_of(buffer: Any) -> npt.NDArray[Any]:
    return np.asarray(buffer.as_numpy_array())
