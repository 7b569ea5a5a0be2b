"""The part of `Group` that creates members, in the group's format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from blazarr.dtypes import parse_data_type
from blazarr.engine.array_config import ArrayConfigLike
from blazarr.errors import BlazarrError
from blazarr.metadata import GroupMetadata
from blazarr.nodes import classic, creation
from blazarr.nodes.array import Array
from blazarr.nodes.layout import parse_shape
from blazarr.nodes.location import StorePath
from blazarr.nodes.placed import Placed
from blazarr.nodes.request import DEFAULT_FILL_VALUE, ArrayRequest


class Creating(Placed, ABC):
    """Methods that create arrays below a group."""

    __slots__ = ()

    @property
    @abstractmethod
    def metadata(self) -> GroupMetadata:
        """The group's metadata."""

    @abstractmethod
    def get(self, path: str, default: Any = None) -> Any:
        """Return a member, or `default`."""

    def create_array(
        self,
        name: str,
        *,
        shape: int | Iterable[int] | None = None,
        dtype: Any = None,
        data: Any = None,
        chunks: Any = "auto",
        shards: Any = None,
        filters: Any = "auto",
        compressors: Any = "auto",
        compressor: Any = "auto",
        serializer: Any = "auto",
        fill_value: Any = DEFAULT_FILL_VALUE,
        order: Literal["C", "F"] | None = None,
        attributes: Mapping[str, Any] | None = None,
        chunk_key_encoding: Any = None,
        dimension_names: Iterable[str | None] | None = None,
        storage_options: dict[str, Any] | None = None,
        overwrite: bool = False,
        config: ArrayConfigLike | None = None,
        write_data: bool = True,
    ) -> Array:
        """Create an array below this group.

        Parameters
        ----------
        name
            Path below this group.
        compressor
            Older name of `compressors`.
        storage_options
            Accepted for zarr-python's sake; the store is the group's.
        shape, dtype, data, chunks, shards, filters, compressors, serializer, fill_value, order
            As for `blazarr.create_array`.
        attributes, chunk_key_encoding, dimension_names, overwrite, config, write_data
            As for `blazarr.create_array`.
        """
        request = ArrayRequest(
            zarr_format=self.metadata.zarr_format,
            shape=shape,
            dtype=dtype,
            chunks=chunks,
            shards=shards,
            filters=filters,
            compressors=classic.renamed_compressor(compressor, compressors),
            serializer=serializer,
            fill_value=fill_value,
            order=order,
            attributes=attributes,
            chunk_key_encoding=chunk_key_encoding,
            dimension_names=dimension_names,
        )
        place = self._new(name, overwrite=overwrite)
        return creation.create_array(
            place, request, data=data, write_data=write_data, overwrite=overwrite, config=config
        )

    create = create_array

    def require_array(
        self,
        name: str,
        *,
        shape: int | Iterable[int],
        dtype: Any = None,
        exact: bool = False,
        config: ArrayConfigLike | None = None,
        **kwargs: Any,
    ) -> Array:
        """Return an array below this group, creating it if it is missing.

        Parameters
        ----------
        name
            Path below this group.
        shape
            The shape it has to have.
        dtype
            Data type it has to have, or (unless `exact`) that its own can be cast to.
        exact
            Whether the data type has to be the same.
        config
            Configuration of the handle.
        **kwargs
            Further arguments of `create_array`.
        """
        dtype = "float64" if dtype is None else dtype
        found = self.get(name)
        if found is None:
            return self.create_array(name, shape=shape, dtype=dtype, config=config, **kwargs)
        if not isinstance(found, Array):
            raise TypeError(f"{found.store_path} is a group, so it cannot be an array")
        if found.shape != parse_shape(shape):
            raise TypeError(f"{found.store_path} has shape {found.shape}, not {shape}")
        wanted = parse_data_type(dtype).numpy
        if not (found.dtype == wanted if exact else np.can_cast(found.dtype, wanted)):
            raise TypeError(f"{found.store_path} has data type {found.dtype}, not {wanted}")
        return found if config is None else found.with_config(config)

    def empty(self, *, name: str, shape: int | Iterable[int], **kwargs: Any) -> Array:
        """Create an array of the default fill value; arguments are those of `blazarr.create`."""
        return self._create(name, {"shape": shape, **kwargs})

    def zeros(self, *, name: str, shape: int | Iterable[int], **kwargs: Any) -> Array:
        """Create an array whose fill value is 0."""
        return self._create(name, {"shape": shape, "fill_value": 0, **kwargs})

    def ones(self, *, name: str, shape: int | Iterable[int], **kwargs: Any) -> Array:
        """Create an array whose fill value is 1."""
        return self._create(name, {"shape": shape, "fill_value": 1, **kwargs})

    def full(
        self, *, name: str, shape: int | Iterable[int], fill_value: Any | None, **kwargs: Any
    ) -> Array:
        """Create an array with the given fill value."""
        return self._create(name, {"shape": shape, "fill_value": fill_value, **kwargs})

    def empty_like(self, *, name: str, data: Any, **kwargs: Any) -> Array:
        """Create an array like another one; arguments override what it has."""
        return self._create(name, {**classic.like(data, self._format(kwargs)), **kwargs})

    full_like = empty_like

    def zeros_like(self, *, name: str, data: Any, **kwargs: Any) -> Array:
        """Create an array like another one, with 0 as fill value."""
        return self.empty_like(name=name, data=data, **{"fill_value": 0, **kwargs})

    def ones_like(self, *, name: str, data: Any, **kwargs: Any) -> Array:
        """Create an array like another one, with 1 as fill value."""
        return self.empty_like(name=name, data=data, **{"fill_value": 1, **kwargs})

    def _create(self, name: str, arguments: dict[str, Any]) -> Array:
        arguments["zarr_format"] = self._format(arguments)
        place = self._new(name, overwrite=arguments.get("overwrite", False))
        return classic.create(place, **arguments)

    def _new(self, name: str, *, overwrite: bool) -> StorePath:
        """Return where a new member goes; it may replace what is there, but not this group."""
        return self.store_path.below(name) if overwrite else self.store_path / name

    def _format(self, arguments: Mapping[str, Any]) -> int:
        own = self.metadata.zarr_format
        if arguments.get("zarr_format") not in (None, own):
            raise BlazarrError(
                f"a group of format {own} holds only arrays of format {own}", argument="zarr_format"
            )
        return own
