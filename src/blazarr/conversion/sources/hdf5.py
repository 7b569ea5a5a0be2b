"""HDF5 and NetCDF 4 files as a source, read by h5py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from blazarr.conversion.boxes import Boxes, Region, Shape
from blazarr.conversion.dimensions import FILL_ATTRIBUTE, encoded_fill
from blazarr.conversion.sources.base import Readable, Source
from blazarr.errors import BlazarrError, CorruptError, GroupNotFoundError, UnsupportedError
from blazarr.metadata import ArrayMetadata, GroupMetadata
from blazarr.nodes import StorePath
from blazarr.nodes.request import DEFAULT_FILL_VALUE, ArrayRequest

# What HDF5's dimension scales and NetCDF keep for themselves; names of dimensions say the same.
_INTERNAL: Final = frozenset(
    ["CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS"]
)
_INTERNAL_START: Final = ("_Netcdf4", "_NC", "_nc3_strict")

# netCDF's names of dimensions that have no values.
_NO_VALUES: Final = "This is a netCDF dimension but not a netCDF variable"


def _h5py() -> Any:
    try:
        import h5py
    except ImportError as error:
        raise UnsupportedError(
            "HDF5 and NetCDF files need the package h5py: pip install h5py", package="h5py"
        ) from error
    return h5py


@dataclass(frozen=True)
class Hdf5Array:
    """A data set of an HDF5 file as something to read.

    Attributes
    ----------
    file
        The file.
    name
        The data set's name in it.
    metadata
        What it would be in Zarr.
    """

    file: Path
    name: str
    metadata: ArrayMetadata

    @cached_property
    def _data_set(self) -> Any:
        return _open(self.file)[self.name]

    @cached_property
    def units(self) -> Boxes:
        """The chunks; without any, rows along the last axis."""
        shape = self.metadata.shape
        rows = (*(1 for _ in shape[:-1]), *shape[-1:])
        return Boxes.of_shape(self._data_set.chunks or rows, shape)

    @property
    def place(self) -> StorePath | None:
        """None: there are no objects of Zarr."""
        return None

    def stored(self) -> Iterator[Shape] | None:
        """Return None: all of it may be there."""
        return None

    def read(self, region: Region, out: npt.NDArray[Any]) -> None:
        """Read a region; see `Readable.read`."""
        data_set = self._data_set
        if _h5py().check_string_dtype(data_set.dtype) is not None and out.dtype.hasobject:
            data_set = data_set.asstr()
        try:
            out[...] = data_set[region]
        except OSError as error:
            raise CorruptError(
                f"{self.file}: {self.name} could not be read: {error}", key=self.name
            ) from error

    def __reduce__(self) -> tuple[Any, ...]:
        return Hdf5Array, (self.file, self.name, self.metadata)


def _open(file: Path) -> Any:
    try:
        return _h5py().File(file, "r")
    except OSError as error:
        raise CorruptError(
            f"{file} could not be opened as HDF5 ({error}); NetCDF files of version 3 are not HDF5",
            store=str(file),
        ) from error


def hdf5_source(file: Path, inside: str) -> Source:
    """Return a file, or a group or data set in it, as a source.

    Parameters
    ----------
    file
        The file.
    inside
        Path in it.
    """
    h5py = _h5py()
    with _open(file) as opened:
        root = opened.get(inside or "/")
        if root is None:
            raise GroupNotFoundError(f"there is no {inside!r} in {file}", key=inside)
        found = _Found(file)
        if isinstance(root, h5py.Dataset):
            found.add("", root)
        else:
            found.walk("", root)
    name = f"{file.absolute()}/{inside}" if inside else str(file.absolute())
    return Source(name, found.groups, found.arrays, left_out=tuple(found.left_out), file=file)


class _Found:
    """What a walk through a file has found."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.groups: dict[str, GroupMetadata] = {}
        self.arrays: dict[str, Readable] = {}
        self.left_out: list[str] = []

    def walk(self, path: str, group: Any) -> None:
        """Add a group and all below it."""
        h5py = _h5py()
        self.groups[path] = GroupMetadata(3, self._attributes(path, group))
        for name in group:
            below = f"{path}/{name}" if path else name
            link = group.get(name, getlink=True)
            if not isinstance(link, h5py.HardLink):
                self.left_out.append(f"{below}: a link")
                continue
            node = group[name]
            if isinstance(node, h5py.Group):
                self.walk(below, node)
            elif isinstance(node, h5py.Dataset):
                self.add(below, node)
            else:
                self.left_out.append(f"{below}: a named data type")

    def add(self, path: str, data_set: Any) -> None:
        """Add a data set."""
        label = data_set.attrs.get("NAME", b"")
        if isinstance(label, bytes) and label.decode("utf-8", "replace").startswith(_NO_VALUES):
            return
        if data_set.shape is None:
            self.left_out.append(f"{path}: an empty data set")
            return
        try:
            metadata = _metadata(data_set, self._attributes(path, data_set))
        except BlazarrError as error:
            self.left_out.append(f"{path}: {error.message}")
            return
        self.arrays[path] = Hdf5Array(self._file, data_set.name, metadata)

    def _attributes(self, path: str, node: Any) -> dict[str, Any]:
        attributes = {}
        for name in node.attrs:
            if name in _INTERNAL or name.startswith(_INTERNAL_START):
                continue
            try:
                attributes[name] = _json(node.attrs[name])
            except (TypeError, OSError) as error:
                self.left_out.append(f"{path or '/'}: attribute {name!r}: {error}")
        fill = getattr(node, "attrs", {}).get(FILL_ATTRIBUTE)
        if fill is not None:
            encoded = encoded_fill(np.asarray(fill).reshape(-1)[0])
            attributes[FILL_ATTRIBUTE] = attributes[FILL_ATTRIBUTE] if encoded is None else encoded
        return attributes


def _json(value: Any) -> Any:
    """Return an attribute's value as JSON has it; netCDF's lists of one are the one."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value
    found = np.asarray(value)
    if found.dtype.kind in "SO":
        found = np.vectorize(_text, otypes=[object])(found) if found.size else found
    elif found.dtype.kind not in "biufU":
        raise TypeError(f"values of {found.dtype} have no form in JSON")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        found = found.astype(str)
    return (
        found.reshape(-1)[0].item()
        if found.size == 1 and found.dtype.kind != "O"
        else (found.reshape(-1)[0] if found.size == 1 else found.tolist())
    )


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value
    raise TypeError(f"values of {type(value).__name__} have no form in JSON")


def _metadata(data_set: Any, attributes: dict[str, Any]) -> ArrayMetadata:
    h5py = _h5py()
    dtype = data_set.dtype
    text = h5py.check_string_dtype(dtype)
    if text is not None and text.length is None:
        dtype = "string"
    elif h5py.check_enum_dtype(dtype) is not None:
        dtype = np.dtype(dtype.str)
    elif dtype.hasobject:
        raise UnsupportedError(f"values of {dtype} have no form in Zarr")
    else:
        dtype = np.dtype(dtype.newbyteorder("=").descr if dtype.names else dtype.newbyteorder("="))
    names = _names(data_set)
    return ArrayRequest(
        zarr_format=3,
        shape=data_set.shape,
        dtype=dtype,
        chunks=data_set.chunks or "auto",
        attributes=attributes,
        dimension_names=names if any(names) else None,
        fill_value=DEFAULT_FILL_VALUE if dtype == "string" else _fill(data_set, dtype),
    ).metadata()


def _fill(data_set: Any, dtype: np.dtype[Any]) -> Any:
    return np.asarray(data_set.fillvalue).astype(dtype)[()]


def _names(data_set: Any) -> tuple[str | None, ...]:
    names: list[str | None] = []
    for axis, dimension in enumerate(data_set.dims):
        if len(dimension):
            names.append(dimension[0].name.rpartition("/")[2])
        elif data_set.is_scale and data_set.ndim == 1 and axis == 0:
            names.append(data_set.name.rpartition("/")[2])
        else:
            names.append(dimension.label or None)
    return tuple(names)
