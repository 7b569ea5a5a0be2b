"""From an array's metadata in zarr-python to the chain of its codecs.

What the core can't do is borrowed: the chain calls zarr-python's own codec, or a user's, for that step alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from zarr.abc import codec as abc
from zarr.codecs import ShardingCodec
from zarr.codecs._v2 import V2Codec
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer.cpu import buffer_prototype
from zarr.core.metadata import ArrayV2Metadata, ArrayV3Metadata

from blazarr.codecs import Codec, CompiledChain, compile_chain, parse_codec
from blazarr.codecs import ShardingCodec as NativeShardingCodec
from blazarr.codecs.v3 import compile_v3
from blazarr.compat.zarr_python.borrowed import borrow, host_spec
from blazarr.compat.zarr_python.objects import MAKERS_OF_OBJECTS
from blazarr.compat.zarr_python.untouched import is_own
from blazarr.errors import UnsupportedError
from blazarr.metadata import ArrayMetadata, parse_array_v2, parse_array_v3

ZarrMetadata = ArrayV2Metadata | ArrayV3Metadata


@dataclass(frozen=True)
class Chain:
    """An array's codecs, ready to run.

    Attributes
    ----------
    array
        The array's metadata.
    compiled
        The chain.
    in_python
        What of it is not native, for people to read.
    """

    array: ArrayMetadata
    compiled: CompiledChain
    in_python: tuple[str, ...] = ()


def chain_of(metadata: ZarrMetadata, codecs: Iterable[Any], spec: ArraySpec) -> Chain:
    """Compile an array's codecs.

    Parameters
    ----------
    metadata
        The array's metadata.
    codecs
        Its codecs, as far as they have learned from the array.
    spec
        What zarr-python tells the first of them of a chunk.

    Raises
    ------
    BlazarrError
        Where zarr-python's own pipeline has to do the work; the message says why.
    """
    array = _parsed(metadata)
    parts = list(codecs)
    foreign = [codec for codec in with_inner(parts) if not _is_known(codec)]
    if not foreign:
        chain = compile_chain(array)
        if not (chain.variable or chain.externals):
            return Chain(array, chain)
        names = frozenset(step.name for step in chain.externals)
    else:
        names = frozenset()
    if not array.grid.is_regular:
        what = foreign[0] if foreign else "what runs in Python"
        raise UnsupportedError(f"chunks differ in size, and {what!r} has to know it")
    return _borrowing(array, parts, host_spec(spec, spec.shape), names)


def with_inner(codecs: Iterable[Any]) -> Iterator[Any]:
    """Yield codecs, and those inside of shards."""
    for codec in codecs:
        yield codec
        if isinstance(codec, ShardingCodec):
            yield from with_inner(codec.codecs)
            yield from with_inner(codec.index_codecs)


def _parsed(metadata: ZarrMetadata) -> ArrayMetadata:
    documents = {
        name: buffer.to_bytes()
        for name, buffer in metadata.to_buffer_dict(buffer_prototype).items()
    }
    if isinstance(metadata, ArrayV3Metadata):
        return parse_array_v3(documents["zarr.json"], "zarr.json")
    return parse_array_v2(documents[".zarray"], None, ".zarray")


def _is_known(codec: Any) -> bool:
    if isinstance(codec, V2Codec):
        inner = [*(codec.filters or ()), *([codec.compressor] if codec.compressor else [])]
        return is_own(codec, "zarr") and all(is_own(one, "numcodecs") for one in inner)
    return is_own(codec, "zarr")


def _borrowing(
    array: ArrayMetadata, codecs: list[Any], spec: ArraySpec, names: frozenset[str]
) -> Chain:
    builder = _Builder(names, array.data_type.variable)
    compiled = compile_v3(builder.level(codecs, spec), array.data_type, _shape(array))
    return Chain(array, compiled, tuple(builder.in_python))


def _shape(array: ArrayMetadata) -> tuple[int, ...]:
    return tuple(axis.size for axis in array.grid.axes)


class _Builder:
    """Makes the codecs of a chain, and notes which of them run in Python.

    Parameters
    ----------
    names
        Codecs that the core has no form of.
    variable
        Whether elements are objects.
    """

    def __init__(self, names: frozenset[str], variable: bool) -> None:
        self._names = names
        self._variable = variable
        self.in_python: list[str] = []

    def level(self, codecs: Iterable[Any], spec: ArraySpec) -> list[Codec]:
        """Make the codecs of one level, told of its chunks."""
        made = []
        for theirs in codecs:
            made.append(self._one(theirs, spec))
            spec = theirs.resolve_metadata(spec)
        return made

    def _one(self, theirs: Any, spec: ArraySpec) -> Codec:
        if isinstance(theirs, ShardingCodec) and is_own(theirs, "zarr"):
            return self._shard(theirs, spec)
        makes_objects = self._variable and isinstance(theirs, abc.ArrayBytesCodec)
        if is_own(theirs, "zarr") and not makes_objects and not isinstance(theirs, V2Codec):
            ours = parse_codec(theirs.to_dict(), "codecs")
            if ours.name not in self._names:
                return ours
        return self._borrowed(theirs, spec)

    def _shard(self, theirs: ShardingCodec, spec: ArraySpec) -> Codec:
        for codec in theirs.index_codecs:
            if not is_own(codec, "zarr"):
                raise UnsupportedError(f"{codec!r} encodes the index of shards")
        inner = host_spec(spec, theirs.chunk_shape)
        location: Any = theirs.index_location
        return NativeShardingCodec(
            chunk_shape=theirs.chunk_shape,
            codecs=self.level(theirs.codecs, inner),
            index_codecs=[codec.to_dict() for codec in theirs.index_codecs],
            index_location=getattr(location, "value", location),
        )

    def _borrowed(self, theirs: Any, spec: ArraySpec) -> Codec:
        if isinstance(theirs, abc.ArrayBytesCodecPartialDecodeMixin):
            raise UnsupportedError(f"{theirs!r} reads parts of a chunk from the store itself")
        if not (isinstance(theirs, MAKERS_OF_OBJECTS) and is_own(theirs, "zarr")):
            self.in_python.append(f"{theirs!r} runs in Python")
        return borrow(theirs, spec)
