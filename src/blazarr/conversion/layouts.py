"""What planning has to know of an array: what is stored and what is decoded as a whole."""

from __future__ import annotations

import math
from dataclasses import dataclass

from blazarr.conversion.boxes import Boxes, Shape
from blazarr.metadata import ArrayMetadata
from blazarr.nodes import layout

# Text and bytes of any length: what one element is taken for. The true size is known afterwards.
VARIABLE_BYTES = 64

# A chunk on its way through a codec: fetched or stored, decoded, and one step between.
BUFFERS = 3

# A shard in the making: its encoded chunks, and the shard that is put together of them.
SHARD_BUFFERS = 2


@dataclass(frozen=True)
class Side:
    """An array as one side of a copy.

    Attributes
    ----------
    objects
        What is written at once: shards, or chunks that are stored on their own.
    units
        What is decoded at once: the chunks in the shards, or the same as `objects`.
    itemsize
        Bytes of an element.
    """

    objects: Boxes
    units: Boxes
    itemsize: int

    @property
    def nbytes(self) -> int:
        """Size of all elements."""
        return math.prod(self.objects.shape) * self.itemsize

    def reading(self, threads: int) -> int:
        """Return what reading holds in memory besides the result."""
        return threads * BUFFERS * math.prod(self.units.largest) * self.itemsize

    def writing(self, box: Shape, threads: int) -> int:
        """Return what writing a box holds in memory besides the box."""
        largest = self.objects.largest
        touched = math.prod(-(-n // max(1, size)) for n, size in zip(box, largest, strict=True))
        chunks = threads * BUFFERS * math.prod(self.units.largest) * self.itemsize
        if self.objects == self.units:
            return chunks
        shard = SHARD_BUFFERS * math.prod(largest) * self.itemsize
        return chunks + min(threads, touched) * shard


def side_of(metadata: ArrayMetadata, units: Boxes | None = None) -> Side:
    """Return an array as a side of a copy.

    Parameters
    ----------
    metadata
        The array's metadata.
    units
        What is decoded at once, where the metadata does not say it.
    """
    objects = Boxes.of_grid(metadata.grid, metadata.shape)
    inner = layout.inner_shape(metadata)
    if units is None:
        units = objects if inner is None else Boxes.of_shape(inner, metadata.shape)
    return Side(objects, units, itemsize(metadata))


def itemsize(metadata: ArrayMetadata) -> int:
    """Return the bytes of an element; a guess where elements have no fixed size."""
    data_type = metadata.data_type
    return VARIABLE_BYTES if data_type.variable else max(1, data_type.native.itemsize)
