"""From an array's metadata in zarr-python to the engine of its chunks."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from zarr.codecs import ShardingCodec
from zarr.core.buffer import default_buffer_prototype
from zarr.core.metadata import ArrayV2Metadata, ArrayV3Metadata

from blazarr.codecs import CompiledChain, compile_chain
from blazarr.codecs.stage import swap_unit
from blazarr.compat.zarr_python.settings import validate_checksums
from blazarr.compat.zarr_python.untouched import is_own
from blazarr.engine.chunks import ChunkBatch, ChunkEngine, chunk_engine
from blazarr.errors import UnsupportedError
from blazarr.metadata import ArrayMetadata, parse_array_v2, parse_array_v3

ZarrMetadata = ArrayV2Metadata | ArrayV3Metadata

# Kinds of data types that numpy always exports through the buffer protocol.
_EXPORTED = "biufc"

_LAYOUTS = {"morton": "morton", "lexicographic": "c", "colexicographic": "f", "unordered": "c"}

_CHECKSUMS = frozenset(["crc32c", "crc32", "adler32", "fletcher32"])


@dataclass(frozen=True)
class Engine:
    """The engine of one array's chunks, and what a decoded item is."""

    chunks: ChunkEngine
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, metadata: ZarrMetadata) -> Engine:
        """Make the engine of an array.

        Raises
        ------
        BlazarrError
            Where zarr-python's own classes have to do the work; the message says why.
        """
        for codec in _codecs(metadata):
            if not (is_own(codec, "zarr") or is_own(codec, "numcodecs")):
                raise UnsupportedError(f"{codec!r} is not a codec of zarr-python's own")
        parsed = _parsed(metadata)
        chain = compile_chain(parsed)
        if chain.variable:
            raise UnsupportedError(f"items of {parsed.data_type.name!r} have no fixed size")
        if chain.externals:
            raise UnsupportedError(f"{chain.externals[0]} runs in Python")
        dtype = metadata.dtype.to_native_dtype()
        chain = _trusting(_laid_out(_as_seen(chain, parsed, dtype), metadata))
        return cls(chunk_engine(parsed, chain, _fill(metadata, dtype)), dtype)

    def batch(
        self, items: list[Any], memory: npt.NDArray[Any], drop_axes: tuple[int, ...]
    ) -> ChunkBatch | None:
        """Take what zarr-python asks of a pipeline; None where only numpy knows what it means."""
        if memory.dtype.kind not in _EXPORTED:
            memory = memory.view(np.dtype((np.void, memory.dtype.itemsize)))
        return self.chunks.batch(items, memory, drop_axes)


def _codecs(metadata: ZarrMetadata) -> Iterator[object]:
    if isinstance(metadata, ArrayV3Metadata):
        yield from _with_inner(metadata.codecs)
        return
    yield from metadata.filters or ()
    if metadata.compressor is not None:
        yield metadata.compressor


def _with_inner(codecs: Iterable[object]) -> Iterator[object]:
    for codec in codecs:
        yield codec
        if isinstance(codec, ShardingCodec):
            yield from _with_inner(codec.codecs)
            yield from _with_inner(codec.index_codecs)


def _parsed(metadata: ZarrMetadata) -> ArrayMetadata:
    buffers = metadata.to_buffer_dict(default_buffer_prototype())
    documents = {name: buffer.to_bytes() for name, buffer in buffers.items()}
    if isinstance(metadata, ArrayV3Metadata):
        return parse_array_v3(documents["zarr.json"], "zarr.json")
    return parse_array_v2(documents[".zarray"], None, ".zarray")


def _as_seen(chain: CompiledChain, parsed: ArrayMetadata, dtype: np.dtype[Any]) -> CompiledChain:
    """Let decoded items have the byte order in which zarr-python's users see them."""
    if dtype.names is not None:
        usual = parsed.data_type.numpy if parsed.zarr_format == 2 else parsed.data_type.native
        if dtype != usual:
            raise UnsupportedError(f"items of {dtype} are stored in another byte order")
        return chain
    if dtype.isnative:
        return chain
    # Compiled chains are shared between arrays.
    native = copy.deepcopy(chain.native)
    *_, innermost = _levels(native)
    innermost["swap"] = 0 if innermost.get("swap") else swap_unit(dtype)
    return replace(chain, native=native)


def _laid_out(chain: CompiledChain, metadata: ZarrMetadata) -> CompiledChain:
    """Let shards be laid out in the order that their codecs say, which no document does."""
    codecs = _codecs(metadata)
    orders = [_LAYOUTS[_layout(codec)] for codec in codecs if isinstance(codec, ShardingCodec)]
    if not orders:
        return chain
    native = copy.deepcopy(chain.native)
    for level, order in zip(_levels(native), orders, strict=False):
        level["shard"]["layout"] = order
    return replace(chain, native=native)


def _layout(codec: ShardingCodec) -> str:
    # Before zarr-python 3.3 shards have the one order that is still the default.
    return getattr(codec, "subchunk_write_order", "morton")


def _trusting(chain: CompiledChain) -> CompiledChain:
    """Let checksums go unverified where the configuration says so."""
    if validate_checksums():
        return chain
    native = copy.deepcopy(chain.native)
    for level in _levels(native):
        steps = [*level["steps"], *level.get("shard", {}).get("index_steps", ())]
        for step in steps:
            if step["id"] in _CHECKSUMS:
                step["verify"] = False
    return replace(chain, native=native)


def _levels(chain: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield chain
    while "shard" in chain:
        chain = chain["shard"]["chain"]
        yield chain


def _fill(metadata: ZarrMetadata, dtype: np.dtype[Any]) -> bytes:
    fill = metadata.fill_value
    if fill is None:
        fill = metadata.dtype.default_scalar()
    # numpy forgets to swap the bytes of times without a unit when it sets them.
    native = dtype if dtype.names else dtype.newbyteorder("=")
    item = np.empty((), native)
    item[()] = fill
    return (item if native == dtype else item.byteswap()).tobytes()
