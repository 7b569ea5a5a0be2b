"""Arrays as pictures and tables: what notebooks draw, and ``array.show``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from blazarr.drawing import (
    Cells,
    GridAxis,
    Picture,
    beside,
    draw_cells,
    draw_grid,
    rows_table,
    shown_size,
)
from blazarr.drawing.grid import MOST_CUTS
from blazarr.grids import Axis, ChunkGrid
from blazarr.metadata import ArrayMetadata, CodecSpec
from blazarr.nodes import layout

if TYPE_CHECKING:
    from blazarr.nodes.described import Described


@dataclass(frozen=True, slots=True)
class ArrayShow:
    """Pictures of an array. Terminals print them, notebooks draw them, `save` writes SVG.

    Parameters
    ----------
    array
        The array.
    """

    array: Described

    def __repr__(self) -> str:
        return "array.show.grid() draws chunks and shards; array.show.chunks() lists the store\n"

    def grid(self) -> Picture:
        """Return a picture of how the array is cut into chunks and shards; reads nothing."""
        return _grid_picture(self.array)

    def chunks(self) -> ChunkMap:
        """Return a map of the stored objects (chunks; shards, where sharded); lists the store."""
        metadata, place = self.array.metadata, self.array.store_path
        counts = layout.grid_shape(metadata)
        found = [
            (index, size)
            for _, size, index in layout.stored_objects(metadata, place)
            if all(i < n for i, n in zip(index, counts, strict=True))
        ]
        indices = np.array([index for index, _ in found], np.int64).reshape(len(found), len(counts))
        sizes = np.array([size for _, size in found], np.int64)
        unit = "chunks" if layout.sharding(metadata) is None else "shards"
        return ChunkMap(str(place), unit, counts, indices, sizes)


@dataclass(frozen=True, eq=False)
class ChunkMap:
    """Which chunks (or shards) of an array are stored, and how large they are.

    Attributes
    ----------
    place
        Where the array is.
    unit
        ``"chunks"`` or ``"shards"``.
    counts
        Number of them along each axis, stored or not.
    indices
        Where the stored ones are, of shape ``(n, ndim)``.
    sizes
        Their stored bytes, of shape ``(n,)``.
    """

    place: str
    unit: str
    counts: tuple[int, ...]
    indices: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        """Stored bytes of all of them."""
        return int(self.sizes.sum())

    @property
    def missing(self) -> int:
        """How many are not stored and read as the fill value."""
        return math.prod(self.counts) - len(self.sizes)

    def __repr__(self) -> str:
        return repr(self.picture)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return self.picture._repr_mimebundle_(**options)

    @property
    def picture(self) -> Picture:
        """The map, drawn: planes of the last two axes."""
        summary = (
            f"{len(self.sizes):,} of {math.prod(self.counts):,} {self.unit} stored, "
            f"{shown_size(self.nbytes)}"
        )
        if len(self.sizes):
            summary += (
                f" (smallest {shown_size(int(self.sizes.min()))}, "
                f"largest {shown_size(int(self.sizes.max()))})"
            )
        cells = Cells(self.counts, (0,) * len(self.counts), self.indices, self.sizes)
        return draw_cells(cells, summary)

    def plot(self, ax: Any = None) -> Any:
        """Draw the first plane of the map with matplotlib, coloured by stored bytes.

        Parameters
        ----------
        ax
            Axes to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        import matplotlib.pyplot as plt

        ax = plt.subplots()[1] if ax is None else ax
        rows, columns = (1, 1, *self.counts)[-2:]
        plane = np.full((rows, columns), np.nan)
        first = (self.indices[:, :-2] == 0).all(axis=1)
        where = np.zeros((int(first.sum()), 2), np.int64)
        where[:, 2 - min(2, len(self.counts)) :] = self.indices[first, -2:]
        plane[where[:, 0], where[:, 1]] = self.sizes[first]
        drawn = ax.imshow(plane, aspect="equal", interpolation="nearest")
        ax.figure.colorbar(drawn, ax=ax, label="stored bytes")
        ax.set(xlabel=f"{self.unit}, last axis", title=self.place)
        return ax


def array_html(array: Described) -> str:
    """Return what notebooks show of an array, from its metadata alone."""
    picture = _grid_picture(array)
    return beside(_sizes_table(array) + _facts_table(array), picture.svg)


def _sizes_table(array: Described) -> str:
    metadata = array.metadata
    levels: list[tuple[str, ChunkGrid | None]] = [("Array", None)]
    if layout.sharding(metadata) is not None:
        levels.append(("Shard", metadata.grid))
    levels.append(("Chunk", layout.chunk_grid(metadata)))
    shape, itemsize = array.shape, array.dtype.itemsize
    shapes = [_largest(grid, shape) for _, grid in levels]
    counts = [1 if grid is None else grid.total_chunks(shape) for _, grid in levels]
    return rows_table(
        [
            ("Shape", *(_shape_text(grid, shape) for _, grid in levels)),
            ("Bytes", *(shown_size(math.prod(sizes) * itemsize) for sizes in shapes)),
            ("Count", *(f"{count:,}" for count in counts)),
        ],
        head=("", *(name for name, _ in levels)),
    )


def _largest(grid: ChunkGrid | None, shape: tuple[int, ...]) -> tuple[int, ...]:
    if grid is None:
        return shape
    return tuple(
        axis.size if axis.lengths is None else max(axis.lengths, default=0) for axis in grid.axes
    )


def _shape_text(grid: ChunkGrid | None, shape: tuple[int, ...]) -> str:
    if grid is None:
        return str(shape)
    sizes = (str(axis.size) if axis.is_regular else "uneven" for axis in grid.axes)
    return f"({', '.join(sizes)}{',' if len(grid.axes) == 1 else ''})"


def _facts_table(array: Described) -> str:
    metadata = array.metadata
    return rows_table(
        [
            ("Data type", array.dtype),
            ("Fill value", array.fill_value),
            ("Codecs", " → ".join(codec_texts(metadata)) or "none"),
            ("Format", f"Zarr {metadata.zarr_format}{', read-only' if array.read_only else ''}"),
            ("Place", array.store_path),
        ]
    )


def codec_texts(metadata: ArrayMetadata) -> list[str]:
    """Return an array's codecs as text, in the order of encoding; those of chunks in shards too."""
    texts = []
    for codec in metadata.codecs:
        if codec.name in layout.SHARDING:
            inner = codec.configuration.get("codecs")
            names = [_stored_text(one) for one in inner] if isinstance(inner, list | tuple) else []
            texts.append(f"shards of [{' → '.join(names)}]")
        else:
            texts.append(_codec_text(codec))
    return texts


def _stored_text(stored: Any) -> str:
    if isinstance(stored, CodecSpec):
        return _codec_text(stored)
    if isinstance(stored, dict):
        return _codec_text(CodecSpec(str(stored.get("name")), stored.get("configuration") or {}))
    return str(stored)


def _codec_text(codec: CodecSpec) -> str:
    members = ", ".join(f"{name}={value}" for name, value in codec.configuration.items())
    return f"{codec.name}({members})" if members else codec.name


def _grid_picture(array: Described) -> Picture:
    metadata = array.metadata
    names = metadata.dimension_names or _names_of_xarray(array) or ("",) * array.ndim
    chunks = layout.chunk_grid(metadata)
    shards = None if layout.sharding(metadata) is None else metadata.grid
    axes = [
        GridAxis(
            str(name or ""),
            extent,
            _cuts(chunks.axes[i], extent),
            () if shards is None else _cuts(shards.axes[i], extent),
        )
        for i, (name, extent) in enumerate(zip(names, array.shape, strict=True))
    ]
    return draw_grid(axes, _summary(array, chunks, shards))


def _names_of_xarray(array: Described) -> tuple[str, ...] | None:
    names = array.metadata.attributes.get("_ARRAY_DIMENSIONS")
    return tuple(names) if isinstance(names, list) and len(names) == array.ndim else None


def _cuts(axis: Axis, extent: int) -> tuple[int, ...]:
    count = axis.count(extent)
    if not 1 < count <= MOST_CUTS + 1:
        return ()
    return tuple(axis.bounds(index, extent)[0] for index in range(1, count))


def _summary(array: Described, chunks: ChunkGrid, shards: ChunkGrid | None) -> str:
    shape = array.shape
    text = f"{shape} {array.dtype}: {chunks.total_chunks(shape):,} chunks of "
    text += _shape_text(chunks, shape)
    if shards is not None:
        text += f" in {shards.total_chunks(shape):,} shards of {_shape_text(shards, shape)}"
    return text
