"""From an array's metadata in zarr-python to the engine of its chunks."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from zarr.codecs import ShardingCodec
from zarr.core.array_spec import ArraySpec

from blazarr.codecs import CompiledChain
from blazarr.codecs.stage import swap_unit
from blazarr.compat.zarr_python.borrowed import BorrowedArrayBytes, Call
from blazarr.compat.zarr_python.chains import ZarrMetadata, chain_of, with_inner
from blazarr.compat.zarr_python.objects import Table
from blazarr.compat.zarr_python.sessions import BorrowingSession, NativeSession, ObjectSession
from blazarr.compat.zarr_python.settings import validate_checksums
from blazarr.engine.chunks import ChunkEngine, chunk_spec
from blazarr.engine.objects import FILL, HANDLE, ObjectChain
from blazarr.errors import UnsupportedError
from blazarr.metadata import ArrayMetadata

_LAYOUTS = {"morton": "morton", "lexicographic": "c", "colexicographic": "f", "unordered": "c"}

_CHECKSUMS = frozenset(["crc32c", "crc32", "adler32", "fletcher32"])


class Engine(Protocol):
    """The engine of one array's chunks."""

    def session(self) -> NativeSession:
        """Return what does one read or write, in the running event loop."""


@dataclass(frozen=True)
class _Native:
    """All is native: reads and writes share what does them."""

    shared: NativeSession

    def session(self) -> NativeSession:
        return self.shared


@dataclass(frozen=True)
class _Borrowing:
    """Some steps are borrowed; each read or write has its own."""

    spec: bytes
    dtype: np.dtype[Any]
    steps: tuple[Any, ...]

    def session(self) -> NativeSession:
        call = Call(asyncio.get_running_loop())
        chunks = ChunkEngine(self.spec, _bound(self.steps, call))
        return BorrowingSession(chunks, self.dtype, call)


@dataclass(frozen=True)
class _Objects:
    """Elements are objects, of which each read or write has a table: the last of its steps."""

    spec: bytes
    steps: tuple[Any, ...]
    codec: BorrowedArrayBytes
    fill: Any

    def session(self) -> NativeSession:
        call = Call(asyncio.get_running_loop())
        table = Table(self.codec.bound(call), self.fill)
        chunks = ChunkEngine(self.spec, [*_bound(self.steps, call), table])
        return ObjectSession(chunks, HANDLE, call, table)


def engine_of(
    metadata: ZarrMetadata, codecs: Iterable[Any], spec: ArraySpec
) -> tuple[Engine, tuple[str, ...]]:
    """Make the engine of an array's chunks.

    Parameters
    ----------
    metadata
        The array's metadata.
    codecs
        Its codecs, as far as they have learned from the array.
    spec
        What zarr-python tells the first of them of a chunk.

    Returns
    -------
    Engine
    tuple of str
        What of it runs in Python, for people to read.

    Raises
    ------
    BlazarrError
        Where zarr-python's own pipeline has to do the work; the message says why.
    """
    codecs = tuple(codecs)
    chain = chain_of(metadata, codecs, spec)
    compiled = _trusting(_laid_out(chain.compiled, codecs))
    dtype = metadata.dtype.to_native_dtype()
    if compiled.variable:
        return _objects(chain.array, compiled, _fill_value(metadata)), chain.in_python
    if compiled.externals:
        native = chain.array.data_type.native
        if dtype.newbyteorder("=") != native:
            raise UnsupportedError(f"items of {dtype} are {native} to the core")
        spec_bytes = chunk_spec(chain.array, compiled.native, _fill(metadata, native))
        return _Borrowing(spec_bytes, native, compiled.externals), chain.in_python
    compiled = _as_seen(compiled, chain.array, dtype)
    spec_bytes = chunk_spec(chain.array, compiled.native, _fill(metadata, dtype))
    inner = _inner(compiled.native)
    return _Native(NativeSession(ChunkEngine(spec_bytes, ()), dtype, inner=inner)), ()


def _inner(chain: dict[str, Any]) -> tuple[int, ...] | None:
    """Return the shape of inner chunks, where the array's axes are theirs."""
    if "shard" not in chain or chain.get("order"):
        return None
    return tuple(chain["shard"]["chunks"])


def _objects(array: ArrayMetadata, compiled: CompiledChain, fill: Any) -> Engine:
    assert compiled.objects is not None
    codec = compiled.objects.codec
    assert isinstance(codec, BorrowedArrayBytes)
    numbered = ObjectChain(compiled, array)
    spec = chunk_spec(array, numbered.native, np.array(FILL, HANDLE).tobytes())
    return _Objects(spec, compiled.externals, codec, fill)


def _bound(steps: tuple[Any, ...], call: Call) -> list[Any]:
    return [replace(step, codec=step.codec.bound(call)) for step in steps]


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


def _laid_out(chain: CompiledChain, codecs: Iterable[Any]) -> CompiledChain:
    """Let shards be laid out in the order that their codecs say, which no document does."""
    shards = [codec for codec in with_inner(codecs) if isinstance(codec, ShardingCodec)]
    orders = [_LAYOUTS[_layout(codec)] for codec in shards]
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


def _fill_value(metadata: ZarrMetadata) -> Any:
    fill = metadata.fill_value
    return metadata.dtype.default_scalar() if fill is None else fill


def _fill(metadata: ZarrMetadata, dtype: np.dtype[Any]) -> bytes:
    # numpy forgets to swap the bytes of times without a unit when it sets them.
    native = dtype if dtype.names else dtype.newbyteorder("=")
    item = np.empty((), native)
    item[()] = _fill_value(metadata)
    return (item if native == dtype else item.byteswap()).tobytes()
