"""What an array says about itself: the part of `Array` that reads no chunk."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from blazarr.codecs import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec
from blazarr.grids import ChunkGrid
from blazarr.metadata import ArrayMetadata, ArrayV2Metadata
from blazarr.nodes import layout
from blazarr.nodes.placed import Placed
from blazarr.nodes.state import ArrayState

if TYPE_CHECKING:
    from blazarr.nodes.info import ArrayInfo
    from blazarr.nodes.showing import ArrayShow


class Described(Placed):
    """Properties of an array, from its metadata and its place."""

    __slots__ = ()

    _state: ArrayState

    def resize(self, new_shape: int | tuple[int, ...]) -> None:
        """Change the shape."""
        raise NotImplementedError

    # What the metadata says.

    @property
    def metadata(self) -> ArrayMetadata:
        """The array's metadata, as this handle has seen it last."""
        return self._state.metadata

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of elements along each axis; assigning to it resizes."""
        return self._state.shape

    @shape.setter
    def shape(self, value: int | tuple[int, ...]) -> None:
        self.resize(value)

    @property
    def dtype(self) -> np.dtype[Any]:
        """numpy data type of the elements."""
        return self._state.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Size of the elements in memory."""
        return self.size * self.dtype.itemsize

    @property
    def fill_value(self) -> Any:
        """Value of elements that were never written."""
        return self.metadata.fill_value

    @property
    def order(self) -> Literal["C", "F"]:
        """Memory layout of results (and in format 2, of the stored chunks)."""
        return self._state.order

    @property
    def chunks(self) -> tuple[int, ...]:
        """Shape of the chunks that are encoded on their own (inner chunks, where sharded)."""
        return layout.chunk_grid(self.metadata).chunk_shape

    @property
    def shards(self) -> tuple[int, ...] | None:
        """Shape of the shards, or None."""
        return layout.shard_shape(self.metadata)

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """For each axis, the sizes of its chunks, clipped to the array."""
        return layout.chunk_grid(self.metadata).chunk_sizes(self.shape)

    @property
    def write_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """For each axis, the sizes of its stored objects (shards or chunks), clipped."""
        return self.metadata.grid.chunk_sizes(self.shape)

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """Number of chunks along each axis."""
        return layout.chunk_grid(self.metadata).chunk_count(self.shape)

    @property
    def nchunks(self) -> int:
        """Number of chunks."""
        return math.prod(self.cdata_shape)

    @property
    def filters(self) -> tuple[Codec, ...]:
        """Codecs that take and give arrays; in format 2, what comes before the compressor."""
        codecs = layout.codecs(self.metadata)
        if isinstance(self.metadata, ArrayV2Metadata):
            return codecs[: len(self.metadata.filters)]
        return tuple(codec for codec in codecs if isinstance(codec, ArrayArrayCodec))

    @property
    def serializer(self) -> Codec | None:
        """The codec that makes bytes of an array; None in format 2."""
        if self.metadata.zarr_format == 2:
            return None
        codecs = layout.codecs(self.metadata)
        return next((codec for codec in codecs if isinstance(codec, ArrayBytesCodec)), None)

    @property
    def compressors(self) -> tuple[Codec, ...]:
        """Codecs that take and give bytes; in format 2, the compressor."""
        codecs = layout.codecs(self.metadata)
        if isinstance(self.metadata, ArrayV2Metadata):
            return codecs[len(self.metadata.filters) :]
        return tuple(codec for codec in codecs if isinstance(codec, BytesBytesCodec))

    @property
    def compressor(self) -> Codec | None:
        """The compressor of a format 2 array."""
        if self.metadata.zarr_format != 2:
            raise TypeError("`compressor` is not available for Zarr format 3 arrays.")
        return next(iter(self.compressors), None)

    # What is stored.

    @property
    def nchunks_initialized(self) -> int:
        """Number of chunks that are stored; a stored shard counts with all its chunks."""
        return layout.stored_counts(self.metadata, self.store_path)[1]

    def nbytes_stored(self) -> int:
        """Return the number of bytes stored, metadata included."""
        return sum(size for _, size in self.store_path.entries())

    @property
    def info(self) -> ArrayInfo:
        """Summary of the metadata."""
        return self._info()

    def info_complete(self) -> ArrayInfo:
        """Return the summary with what is stored; lists the store."""
        objects, _ = layout.stored_counts(self.metadata, self.store_path)
        return self._info(nbytes_stored=self.nbytes_stored(), chunks_initialized=objects)

    @property
    def show(self) -> ArrayShow:
        """Pictures: ``show.grid()`` of chunks and shards, ``show.chunks()`` of what is stored."""
        from blazarr.nodes.showing import ArrayShow

        return ArrayShow(self)

    def _repr_html_(self) -> str:
        from blazarr.nodes.showing import array_html

        return array_html(self)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.dtype.names or ())

    def _info(self, **stored: int) -> ArrayInfo:
        from blazarr.nodes.info import ArrayInfo

        return ArrayInfo(
            zarr_format=self.metadata.zarr_format,
            data_type=repr(self.dtype) if self.dtype.names else str(self.dtype),
            fill_value=self.fill_value,
            shape=self.shape,
            shards=None if layout.sharding(self.metadata) is None else _shown(self.metadata.grid),
            chunks=_shown(layout.chunk_grid(self.metadata)),
            order=self.order,
            read_only=self.read_only,
            store_type=type(self.store).__name__,
            filters=self.filters,
            serializer=self.serializer,
            compressors=self.compressors,
            nbytes=self.nbytes,
            **stored,
        )


def _shown(grid: ChunkGrid) -> tuple[int, ...] | str:
    return grid.chunk_shape if grid.is_regular else "<variable>"
