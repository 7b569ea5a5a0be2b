"""The codec pipeline."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy.typing as npt
from zarr.abc.codec import Codec, CodecPipeline
from zarr.abc.store import Store
from zarr.codecs._v2 import V2Codec
from zarr.core import codec_pipeline
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import Buffer, NDBuffer, default_buffer_prototype
from zarr.core.codec_pipeline import BatchedCodecPipeline
from zarr.core.metadata import ArrayV2Metadata

from blazarr.compat.zarr_python import settings
from blazarr.compat.zarr_python.arrays import Engine, engine_of
from blazarr.compat.zarr_python.borrowed import NothingGivenError
from blazarr.compat.zarr_python.chains import ZarrMetadata
from blazarr.compat.zarr_python.places import Place, place_of
from blazarr.compat.zarr_python.sessions import NativeSession, Runner
from blazarr.compat.zarr_python.transfer import Item
from blazarr.engine.chunks import ChunkBatch
from blazarr.errors import UnsupportedError

log = logging.getLogger("blazarr.zarr_python")

# Until zarr-python 3.2 an array's codecs have learned from it already, and a pipeline can't be told again.
_EVOLVES = hasattr(codec_pipeline, "codecs_from_list_unchecked")

# Encoded chunks of other stores are held until they are decoded: at most about so many decoded bytes of them, but so
# many chunks that requests can go side by side.
_WAVE = 256 << 20
_LEAST = 32

_PRESENT = {"status": "present"}
_MISSING = {"status": "missing"}


class BlazarrCodecPipeline(CodecPipeline):
    """Reads and writes zarr-python's arrays through blazarr.

    A codec that blazarr has no form of, such as a user's own, runs as zarr-python would run it, for its step alone. That
    is said once for each array in the log, at level debug; where ``codec_pipeline.strict`` is true in zarr-python's
    configuration it is an error.

    Parameters
    ----------
    own
        zarr-python's pipeline of the same codecs.
    metadata
        The array's metadata. Without it only zarr-python's pipeline is used.
    """

    # The name that zarr-python's configuration knows it by.
    __module__ = "blazarr.compat.zarr_python"

    def __init__(self, own: BatchedCodecPipeline, metadata: ZarrMetadata | None = None) -> None:
        self.own = own
        self._metadata = metadata
        self._engine: Engine | None = None
        self._unfit: str | None = None if metadata else "a pipeline of codecs alone"

    @classmethod
    def from_codecs(cls, codecs: Iterable[Codec], *, batch_size: int | None = None) -> Self:
        """Make a pipeline of codecs alone."""
        return cls(BatchedCodecPipeline.from_codecs(codecs, batch_size=batch_size))

    @classmethod
    def from_array_metadata_and_store(cls, array_metadata: ZarrMetadata, store: Store) -> Self:
        """Make the pipeline of an array. The store is asked for at each call."""
        return cls(_own_pipeline(array_metadata), array_metadata)

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Fill in what codecs learn from the array."""
        return type(self)(self.own.evolve_from_array_spec(array_spec), self._metadata)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.own == other.own

    def __hash__(self) -> int:
        return hash(self.own)

    def __iter__(self) -> Iterator[Codec]:
        return iter(self.own)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self))})"

    def __getstate__(self) -> dict[str, Any]:
        return {"own": self.own, "metadata": self._metadata}

    def __setstate__(self, state: dict[str, Any]) -> None:
        type(self).__init__(self, **state)

    def __getattr__(self, name: str) -> Any:
        # Lists of codecs by kind, and the like. While a pipeline is unpickled it has no other yet.
        if name == "own":
            raise AttributeError(name)
        return getattr(self.own, name)

    @property
    def supports_partial_decode(self) -> bool:
        """Whether parts of a chunk can be decoded."""
        return self.own.supports_partial_decode

    @property
    def supports_partial_encode(self) -> bool:
        """Whether parts of a chunk can be encoded."""
        return self.own.supports_partial_encode

    def validate(self, **array: Any) -> None:
        """Check the codecs against an array."""
        self.own.validate(**array)

    def compute_encoded_size(self, byte_length: int, array_spec: ArraySpec) -> int:
        """Compute how long encoded chunks are, where that is the same for all."""
        return self.own.compute_encoded_size(byte_length, array_spec)

    async def decode(
        self, chunk_bytes_and_specs: Iterable[tuple[Buffer | None, ArraySpec]]
    ) -> Iterable[NDBuffer | None]:
        """Decode chunks."""
        return await self.own.decode(chunk_bytes_and_specs)

    async def encode(
        self, chunk_arrays_and_specs: Iterable[tuple[NDBuffer | None, ArraySpec]]
    ) -> Iterable[Buffer | None]:
        """Encode chunks."""
        return await self.own.encode(chunk_arrays_and_specs)

    async def read(
        self, batch_info: Iterable[Item], out: NDBuffer, drop_axes: tuple[int, ...] = ()
    ) -> Any:
        """Read chunks into `out`; a result for each, whether it was there."""
        items = list(batch_info)
        if not items:
            return ()
        session = self._session()
        if session is None:
            return await self.own.read(items, out, drop_axes)
        target: Any = out.as_ndarray_like()
        session, asked = _placed(session, items, target)
        memory = session.room(out.shape, target)
        place = place_of(asked)
        waves = _waves(session, place, asked, memory, drop_axes)
        if waves is None:
            self._refuse("a selection has a form that only numpy knows")
            return await self.own.read(items, out, drop_axes)
        run = Runner(session, session.is_small(asked, memory, reads=True))
        try:
            present = [await place.read(*wave, run) for wave in waves]
        except Exception as error:  # noqa: BLE001 - what a codec raised is raised as it is
            cause = session.cause(error)
            if not isinstance(cause, NothingGivenError):
                raise cause from None
            return await self.own.read(items, out, drop_axes)
        if memory is not target:
            session.deliver(memory, out)
        return tuple(_PRESENT if there else _MISSING for wave in present for there in wave)

    async def write(
        self, batch_info: Iterable[Item], value: NDBuffer, drop_axes: tuple[int, ...] = ()
    ) -> None:
        """Write `value` to chunks."""
        items = list(batch_info)
        if not items:
            return
        session = self._session()
        if session is None:
            await self.own.write(items, value, drop_axes)
            return
        session, given = _placed(session, items, value.as_ndarray_like())
        memory = session.source(value)
        place = place_of(given)
        waves = _waves(session, place, given, memory, drop_axes)
        if waves is None:
            self._refuse("a selection has a form that only numpy knows")
            await self.own.write(items, value, drop_axes)
            return
        run = Runner(session, session.is_small(given, memory, reads=False))
        try:
            for wave in waves:
                await place.write(*wave, run)
        except Exception as error:  # noqa: BLE001 - what a codec raised is raised as it is
            cause = session.cause(error)
            if not isinstance(cause, NothingGivenError):
                raise cause from None
            await self.own.write(items, value, drop_axes)

    def _session(self) -> NativeSession | None:
        """Return what reads or writes the array; None where zarr-python's own pipeline has to."""
        if self._engine is None and self._unfit is None:
            self._compile()
        if self._unfit is not None and self._metadata is not None:
            self._refuse(self._unfit)
        return None if self._engine is None else self._engine.session()

    def _compile(self) -> None:
        assert self._metadata is not None
        try:
            self._engine, in_python = engine_of(self._metadata, self.own, _spec(self._metadata))
        except ValueError as error:
            self._unfit = str(error)
            log.debug("zarr-python's own pipeline reads and writes this array: %s", error)
            return
        if in_python:
            self._unfit = "; ".join(in_python)
            log.debug("not all of this array is native: %s", self._unfit)

    def _refuse(self, reason: str) -> None:
        if settings.strict():
            raise UnsupportedError(
                f"blazarr alone can't read or write this array: {reason}; "
                "with codec_pipeline.strict=False zarr-python does that part"
            )


def _own_pipeline(metadata: ZarrMetadata) -> BatchedCodecPipeline:
    """Make what zarr-python makes for an array by default."""
    codecs: tuple[Codec, ...]
    if isinstance(metadata, ArrayV2Metadata):
        codecs = (V2Codec(metadata.filters, metadata.compressor),)
    else:
        codecs = metadata.codecs
    own = BatchedCodecPipeline.from_codecs(codecs)
    return own.evolve_from_array_spec(_spec(metadata)) if _EVOLVES else own


def _spec(metadata: ZarrMetadata) -> ArraySpec:
    """Describe a chunk as zarr-python does to codecs."""
    if isinstance(metadata, ArrayV2Metadata):
        shape = metadata.chunks
        config = ArrayConfig.from_dict({"order": metadata.order})
    else:
        # Where chunks differ in shape, the shape given here is not looked at.
        shape = getattr(metadata.chunk_grid, "chunk_shape", (1,) * len(metadata.shape))
        config = ArrayConfig.from_dict({})
    return ArraySpec(
        shape=shape,
        dtype=metadata.dtype,
        fill_value=metadata.fill_value,
        config=config,
        prototype=default_buffer_prototype(),
    )


def _placed(
    session: NativeSession, items: list[Item], target: Any
) -> tuple[NativeSession, list[Item]]:
    """Choose who does the work: a GPU, where `configure_gpu` was called and the elements are on one."""
    on_gpu = settings.gpu()
    if on_gpu is None:
        return session, items
    from blazarr.compat.zarr_python.device import on_device

    return on_device(session, items, target, on_gpu)


def _waves(
    session: NativeSession,
    place: Place,
    items: list[Item],
    memory: npt.NDArray[Any],
    drop_axes: tuple[int, ...],
) -> list[tuple[list[Item], ChunkBatch]] | None:
    """Cut a batch into parts that are done one after another; None where only numpy knows what it means."""
    count = len(items)
    if place.holds_bytes:
        chunk: int = math.prod(items[0][1].shape) * session.dtype.itemsize
        count = max(_LEAST, _WAVE // max(chunk, 1))
    waves = []
    for start in range(0, len(items), count):
        wave = items[start : start + count]
        chunks = session.batch(wave, memory, drop_axes)
        if chunks is None:
            return None
        waves.append((wave, chunks))
    return waves
