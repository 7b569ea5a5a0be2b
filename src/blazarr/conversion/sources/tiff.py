"""TIFF and OME-TIFF files as a source, read by tifffile through its store for zarr-python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy.typing as npt

from blazarr.conversion.boxes import Boxes, Region, Shape
from blazarr.conversion.sources.base import Readable, Source
from blazarr.conversion.sources.zarr import ZarrArray
from blazarr.errors import CorruptError, GroupNotFoundError, UnsupportedError
from blazarr.metadata import ArrayMetadata, GroupMetadata
from blazarr.nodes import Array, StorePath
from blazarr.nodes.request import ArrayRequest
from blazarr.stores import Data, Generation, ReadOnlyStore, store_from


def _tifffile() -> Any:
    try:
        import tifffile
        import tifffile.zarr
    except ImportError as error:
        raise UnsupportedError(
            "TIFF files need the packages tifffile and zarr: pip install tifffile zarr",
            package="tifffile",
        ) from error
    return tifffile


class _Whole(ReadOnlyStore):
    """A store of values that are only given whole, as tifffile makes them on the way."""

    def get(self, key: str, range: slice | None = None) -> tuple[Data, Generation] | None:
        """Return a value, or a part that is cut off it."""
        found = self.store.get(key)
        if found is None or range is None:
            return found
        return memoryview(found[0])[range], found[1]

    def get_many(
        self, keys: Sequence[str], ranges: Sequence[slice | None] | None = None
    ) -> list[tuple[Data, Generation] | None]:
        """Return values one by one."""
        return [
            self.get(*wanted) for wanted in zip(keys, ranges or [None] * len(keys), strict=True)
        ]


@dataclass(frozen=True)
class TiffArray:
    """An image of a TIFF file as something to read.

    Attributes
    ----------
    file
        The file.
    series, level
        Which image of it.
    metadata
        What it would be in Zarr.
    """

    file: Path
    series: int
    level: int
    metadata: ArrayMetadata

    @cached_property
    def _inner(self) -> ZarrArray:
        opened = _tifffile().TiffFile(self.file)
        store = opened.series[self.series].levels[self.level].aszarr(multiscales=False)
        found = ZarrArray(Array.open(_Whole(store_from(store)[0])))
        finalize(found, opened.close)
        return found

    @cached_property
    def units(self) -> Boxes:
        """The tiles, strips or pages."""
        return self._inner.units

    @property
    def place(self) -> StorePath | None:
        """None: there are no objects of Zarr."""
        return None

    def stored(self) -> Iterator[Shape] | None:
        """Return None: all of it may be there."""
        return None

    def read(self, region: Region, out: npt.NDArray[Any]) -> None:
        """Read a region; see `Readable.read`."""
        out[...] = self._inner.array[region]

    def __reduce__(self) -> tuple[Any, ...]:
        return TiffArray, (self.file, self.series, self.level, self.metadata)


def tiff_source(file: Path, inside: str) -> Source:
    """Return a file, or an image of it, as a source.

    An image has the name of its place in the file: ``0``, or ``0/1`` for a smaller version. A file
    with nothing but one image is that array.

    Parameters
    ----------
    file
        The file.
    inside
        Name of an image.
    """
    tifffile = _tifffile()
    try:
        with tifffile.TiffFile(file) as opened:
            images = {
                name: TiffArray(file, index, level, _metadata(image))
                for index, series in enumerate(opened.series)
                for level, image in enumerate(series.levels)
                for name in [f"{index}/{level}" if len(series.levels) > 1 else str(index)]
            }
            attributes = {"ome_xml": opened.ome_metadata} if opened.is_ome else {}
    except tifffile.TiffFileError as error:
        raise CorruptError(f"{file} could not be opened: {error}", store=str(file)) from error
    name = f"{file.absolute()}/{inside}" if inside else str(file.absolute())
    if inside or len(images) == 1:
        if inside and inside not in images:
            raise GroupNotFoundError(
                f"there is no image {inside!r} in {file}; it has {sorted(images)}", key=inside
            )
        image = images[inside or next(iter(images))]
        only = TiffArray(
            file, image.series, image.level, image.metadata.update(attributes=attributes)
        )
        return Source(name, {}, {"": only}, file=file)
    groups = {"": GroupMetadata(3, attributes)}
    groups |= {path.partition("/")[0]: GroupMetadata() for path in images if "/" in path}
    arrays: dict[str, Readable] = dict(images)
    return Source(name, groups, arrays, file=file)


def _metadata(image: Any) -> ArrayMetadata:
    return ArrayRequest(
        zarr_format=3,
        shape=image.shape,
        dtype=image.dtype.newbyteorder("="),
        dimension_names=tuple(axis.lower() for axis in image.axes),
    ).metadata()
