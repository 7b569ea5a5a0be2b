"""Chains of format 3: codecs in a list, shards among them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from blazarr.codecs.base import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec, Step
from blazarr.codecs.bytes import BytesCodec
from blazarr.codecs.chain import SPARE, CompiledChain, Externals, Steps
from blazarr.codecs.objects import ObjectStep
from blazarr.codecs.sharding import ShardingCodec
from blazarr.codecs.stage import Stage
from blazarr.codecs.transpose import TransposeCodec
from blazarr.config import config
from blazarr.errors import LimitError, MetadataError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from blazarr.dtypes import DataType

INDEX_WORDS = 2
INDEX_DTYPE = np.dtype("u8")


def compile_v3(
    codecs: Sequence[Codec], data_type: DataType, shape: tuple[int | None, ...]
) -> CompiledChain:
    """Compile codecs of format 3 for chunks of a type and a shape."""
    compiler = _Compiler(data_type)
    native = compiler.level(codecs, Stage.of(data_type.native, shape), _Place("codecs"))
    return CompiledChain(native, tuple(compiler.externals.steps), compiler.objects)


@dataclass(frozen=True)
class _Place:
    """Where a level of a chain stands: in the document, and how deep in shards."""

    path: str
    depth: int = 0
    # Codecs before the shard that encode each element on its own: they do it in its chunks.
    outer: tuple[ArrayArrayCodec, ...] = ()


@dataclass(frozen=True)
class Split:
    """The codecs of a level by what they do."""

    filters: tuple[ArrayArrayCodec, ...]
    serializer: ArrayBytesCodec
    compressors: tuple[BytesBytesCodec, ...]


@dataclass
class _Compiler:
    data_type: DataType
    externals: Externals = field(default_factory=Externals)
    objects: ObjectStep | None = None

    def level(self, codecs: Sequence[Codec], stage: Stage, place: _Place) -> dict[str, Any]:
        parts = split_codecs(codecs, place.path)
        filters = (*place.outer, *parts.filters)
        order, stage, rest = _fold(filters, stage)
        if isinstance(parts.serializer, ShardingCodec):
            return self._shard(parts, order, stage, rest, place)
        steps = Steps(stage, self.externals)
        for codec in rest:
            steps.add(codec.evolve(steps.stage))
        if self.data_type.variable:
            self._take_objects(parts, order, rest, place)
            steps.stage = steps.stage.as_bytes()
        else:
            steps.add(parts.serializer.evolve(steps.stage))
        for compressor in parts.compressors:
            steps.add(compressor.evolve(steps.stage))
        # The step in Python puts the axes of objects in order itself.
        return steps.finished(None if self.data_type.variable else order)

    def _take_objects(
        self,
        parts: Split,
        order: tuple[int, ...],
        rest: tuple[ArrayArrayCodec, ...],
        place: _Place,
    ) -> None:
        if rest or isinstance(parts.serializer, BytesCodec):
            wrong = rest[0] if rest else parts.serializer
            raise UnsupportedError(
                f"{place.path}: codec {wrong.name!r} can't encode elements of variable length",
                path=place.path,
                codec=wrong.name,
            )
        self.objects = ObjectStep(parts.serializer.for_objects(self.data_type), order)

    def _shard(
        self,
        parts: Split,
        order: tuple[int, ...],
        stage: Stage,
        rest: tuple[ArrayArrayCodec, ...],
        place: _Place,
    ) -> dict[str, Any]:
        codec = parts.serializer
        assert isinstance(codec, ShardingCodec)
        path = f"{place.path}[{len(parts.filters)}].configuration"
        if place.depth >= config.limits.shard_nesting:
            raise LimitError(
                f"{path}: shards are nested deeper than {config.limits.shard_nesting} levels; "
                "limits.shard_nesting raises the limit",
                limit=config.limits.shard_nesting,
            )
        for filter_ in rest:
            if not filter_.elementwise:
                raise UnsupportedError(
                    f"{place.path}: codec {filter_.name!r} before 'sharding_indexed' is not "
                    "supported; put it among the codecs of the inner chunks",
                    path=place.path,
                    codec=filter_.name,
                )
        inner_stage = Stage.of(stage.dtype, _inner_shape(codec, stage, path))
        inner = self.level(
            codec.inner, inner_stage, _Place(f"{path}.codecs", place.depth + 1, rest)
        )
        counts = _inner_counts(codec, stage)
        whole = None if stage.nbytes is None else 2 * stage.nbytes + SPARE
        steps = Steps(stage.as_bytes(), self.externals, limit=whole)
        for compressor in parts.compressors:
            steps.add(compressor.evolve(steps.stage))
        return steps.finished(order) | {
            "shard": {
                "chunks": list(codec.chunk_shape),
                "chain": inner,
                **_index(codec, counts, f"{path}.index_codecs"),
                "at_end": codec.index_location == "end",
            }
        }


def split_codecs(codecs: Sequence[Codec], path: str) -> Split:
    """Check the order of codecs: arrays to arrays, one from array to bytes, bytes to bytes."""
    filters: list[ArrayArrayCodec] = []
    serializer: ArrayBytesCodec | None = None
    compressors: list[BytesBytesCodec] = []
    for position, codec in enumerate(codecs):
        where = f"{path}[{position}]"
        if isinstance(codec, ArrayArrayCodec):
            if serializer is not None:
                raise _misplaced(codec, where, f"takes arrays, but {serializer.name!r} made bytes")
            filters.append(codec)
        elif isinstance(codec, ArrayBytesCodec):
            if serializer is not None:
                raise _misplaced(codec, where, f"makes bytes, but {serializer.name!r} did already")
            serializer = codec
        elif isinstance(codec, BytesBytesCodec):
            if serializer is None:
                raise _misplaced(
                    codec, where, "takes bytes, but no codec before it makes them ('bytes' does)"
                )
            compressors.append(codec)
    if serializer is None:
        raise MetadataError(
            f"{path}: no codec makes bytes of the array; 'bytes' is the usual one", path=path
        )
    return Split(tuple(filters), serializer, tuple(compressors))


def _misplaced(codec: Codec, where: str, what: str) -> MetadataError:
    return MetadataError(f"{where}: codec {codec.name!r} {what}", path=where, codec=codec.name)


def _fold(
    filters: tuple[ArrayArrayCodec, ...], stage: Stage
) -> tuple[tuple[int, ...], Stage, tuple[ArrayArrayCodec, ...]]:
    """Take transposes out to the front; they may pass codecs that work element by element."""
    order = tuple(range(len(stage.shape or ())))
    rest: list[ArrayArrayCodec] = []
    for codec in filters:
        if isinstance(codec, TransposeCodec) and all(other.elementwise for other in rest):
            order = codec.permute(order)
            stage = codec.after(stage)
        else:
            rest.append(codec)
    return order, stage, tuple(rest)


def _inner_shape(codec: ShardingCodec, stage: Stage, path: str) -> tuple[int, ...]:
    inner: tuple[int, ...] = codec.chunk_shape
    outer = stage.shape or ()
    where = f"{path}.chunk_shape"
    if len(inner) != len(outer):
        raise MetadataError(
            f"{where}: {list(inner)} has {len(inner)} sizes for {len(outer)} axes", path=where
        )
    for axis, (size, whole) in enumerate(zip(inner, outer, strict=True)):
        if whole is not None and whole % size:
            raise MetadataError(
                f"{where}: inner chunks of {size} do not divide shards of {whole} along axis {axis}",
                path=f"{where}[{axis}]",
                codec=codec.name,
            )
    return inner


def _inner_counts(codec: ShardingCodec, stage: Stage) -> tuple[int | None, ...]:
    sizes = zip(stage.shape or (), codec.chunk_shape, strict=True)
    return tuple(None if whole is None else whole // size for whole, size in sizes)


def _index(codec: ShardingCodec, counts: tuple[int | None, ...], path: str) -> dict[str, Any]:
    """Compile the index's codecs, whose size must not depend on what they encode."""
    parts = split_codecs(codec.index, path)
    if parts.filters or not isinstance(parts.serializer, BytesCodec):
        other = parts.filters[0] if parts.filters else parts.serializer
        raise UnsupportedError(
            f"{path}: codec {other.name!r} can't encode a shard's index; 'bytes' does",
            path=path,
            codec=other.name,
        )
    steps = Steps(Stage.of(INDEX_DTYPE, (*counts, INDEX_WORDS)), Externals())
    endian = parts.serializer.evolve(steps.stage).endian
    steps.stage = steps.stage.as_bytes()
    for compressor in parts.compressors:
        steps.add(compressor)
    for step, compressor in zip(steps.steps, parts.compressors, strict=False):
        if not _fixed_size(step):
            raise MetadataError(
                f"{path}: the index's size must be known before it is read, "
                f"but codec {compressor.name!r} may give any",
                path=path,
                codec=compressor.name,
            )
    return {"index_swap": endian == "big", "index_steps": steps.steps}


def _fixed_size(step: Step) -> bool:
    return step["id"] in {"crc32c", "crc32", "adler32", "fletcher32", "shuffle"}
