"""`Array`: what users hold to read and write an array."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import GenericAlias
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from blazarr.engine.array_config import ArrayConfig, ArrayConfigLike
from blazarr.errors import BlazarrError, SelectionError
from blazarr.indexing import Selection, field_dtype, parse_basic, parse_getitem, pop_fields
from blazarr.indexing.fields import Fields
from blazarr.metadata import ArrayMetadata, ArrayV3Metadata
from blazarr.nodes import documents, layout, values
from blazarr.nodes.asynchronous import AsyncArray
from blazarr.nodes.attributes import Attributes, Change
from blazarr.nodes.described import Described
from blazarr.nodes.lazy import LazyArray
from blazarr.nodes.location import StorePath
from blazarr.nodes.reading import Reading
from blazarr.nodes.selectable import Selectable
from blazarr.nodes.state import ArrayState

if TYPE_CHECKING:
    from blazarr.cuda.array import CudaArray
    from blazarr.engine.plan import Plan


class Array(Described, Selectable):
    """An array in a store.

    The metadata is read once, when the array is opened. `resize`, `append` and changes of `attrs`
    re-read it, apply themselves to what is stored now and update this handle. Many threads may use
    one handle.

    Parameters
    ----------
    metadata
        The array's metadata.
    store_path
        Where the array is.
    config
        How this handle reads and writes; what is not given comes from ``blazarr.config``.
    """

    __slots__ = ("__weakref__", "_by_copy", "_lock", "_state", "config", "store_path")
    __hash__ = None  # type: ignore[assignment]

    # Annotations such as zarr-python's ``Array[Any]``; one class serves both formats.
    __class_getitem__: Any = classmethod(GenericAlias)

    def __init__(
        self,
        metadata: ArrayMetadata,
        store_path: StorePath,
        config: ArrayConfigLike | None = None,
    ) -> None:
        self.store_path = store_path
        self.config = ArrayConfig.parse(config)
        self._state = ArrayState(metadata, store_path, self.config)
        self._lock = threading.Lock()
        self._by_copy = False

    @classmethod
    def of_copy(cls, metadata: ArrayMetadata, store_path: StorePath) -> Array:
        """Make an array of consolidated metadata, which may be older than the array's own."""
        array = cls(metadata, store_path)
        array._by_copy = True
        return array

    @classmethod
    def open(
        cls,
        store: Any,
        zarr_format: int | None = None,
        *,
        config: ArrayConfigLike | None = None,
    ) -> Array:
        """Open an existing array; see `blazarr.open_array`."""
        store_path = StorePath.locate(store)
        return cls(documents.read_array(store_path, zarr_format), store_path, config)

    @classmethod
    def from_dict(cls, store_path: StorePath, data: Mapping[str, Any]) -> Array:
        """Make an array of its metadata as a dictionary; nothing is stored.

        Parameters
        ----------
        store_path
            Where the array is.
        data
            The document; in format 2 with the attributes in it.
        """
        return cls(documents.array_from_dict(store_path, data), store_path)

    def __reduce__(self) -> tuple[Any, ...]:
        return Array, (self.metadata, self.store_path, self.config), self._by_copy

    def __setstate__(self, by_copy: bool) -> None:
        self._by_copy = by_copy

    def __repr__(self) -> str:
        return f"<Array {self.store_path} shape={self.shape} dtype={self.dtype}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Array):
            return NotImplemented
        return self.store_path.is_same(other.store_path) and self.metadata == other.metadata

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        step = self.write_chunk_sizes[0][0] if len(self) else 1
        for start in range(0, len(self), step):
            yield from self[start : start + step]

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise BlazarrError("copy=False is not possible: reading makes a copy", argument="copy")
        return np.asarray(self[...], dtype=dtype)

    @property
    def attrs(self) -> Attributes:
        """User attributes."""
        return Attributes(self)

    @property
    def aio(self) -> AsyncArray:
        """The same array for ``async`` code."""
        return AsyncArray(self)

    async_array = aio

    @property
    def lazy(self) -> LazyArray:
        """Brackets that put selections together; ``result()`` reads what is left at once."""
        return LazyArray(self, parse_basic(..., self.shape))

    def with_config(self, config: ArrayConfigLike) -> Array:
        """Return a handle that reads and writes in another way.

        Parameters
        ----------
        config
            What is not given stays as it is in this handle.
        """
        array = Array(self.metadata, self.store_path, self.config.updated(config))
        array._by_copy = self._by_copy
        return array

    def to(self, device: str) -> CudaArray:
        """Return a handle that reads to a GPU and writes from one.

        Parameters
        ----------
        device
            ``"cuda"``, or ``"cuda:1"`` for another than cupy's current one.
        """
        from blazarr.cuda.array import CudaArray

        return CudaArray(self, device)

    def read(
        self,
        selection: Any = ...,
        *,
        device: str | None = None,
        out: Any = None,
        stream: Any = None,
    ) -> Any:
        """Return a selection, on the CPU or on a GPU.

        Parameters
        ----------
        selection
            Anything that goes between the brackets.
        device
            As for `to`; None is the CPU.
        out
            An array of the device to fill instead of a new one.
        stream
            For a GPU: the cupy stream on which the result is used; the current one by default.
        """
        if device is not None:
            return self.to(device).read(selection, out=out, stream=stream)
        fields, key = pop_fields(selection)
        return self._get(parse_getitem(key, self._state.shape), fields, out)

    def check_codecs(self) -> None:
        """Raise where the codecs cannot encode and decode the chunks."""
        _ = self._state.engine

    def plan(self, selection: Any = ...) -> Plan:
        """Return the plan that ``array[selection]`` runs.

        Parameters
        ----------
        selection
            Anything that goes between the brackets.
        """
        _, key = pop_fields(selection)
        state = self._state
        plan = state.engine.plan(parse_getitem(key, state.shape))
        counts = layout.chunks_per_shard(state.metadata)
        return plan if counts is None else plan.in_shards(counts)

    def _get(self, selection: Selection, fields: Fields | None = None, out: Any = None) -> Any:
        state = self._state
        if fields is not None or out is not None:
            reading = Reading(state, selection, fields, out)
            state.engine.read(selection, reading.into)
            return reading.result()
        result = values.room(selection.result_shape, state.native, state.order)
        state.engine.read(selection, result)
        if state.native is not state.dtype:
            result = values.in_order(result, state.dtype)
        return result[()] if selection.scalar else result

    def _set(self, selection: Selection, value: Any, fields: Fields | None = None) -> None:
        self.store_path.require_writable()
        if fields is not None:
            self._set_fields(selection, value, fields)
            return
        state = self._state_to_write()
        converted = values.converted(value, state.native)
        state.engine.write(selection, values.fitted(converted, selection))

    def _set_fields(self, selection: Selection, value: Any, fields: Fields) -> None:
        state = self._state_to_write()
        dtype = field_dtype(fields, state.native)
        converted = values.converted(value, dtype.base)
        records = np.empty(selection.result_shape, state.native)
        state.engine.read(selection, records)
        if dtype.shape:
            records[fields] = converted
        else:
            records[fields] = values.fitted(converted, selection).reshape(selection.result_shape)
        state.engine.write(selection, records.reshape(selection.flat_shape))

    def _state_to_write(self) -> ArrayState:
        """Return the state, of the array's own metadata: by a copy its end may be taken for nearer."""
        if not self._by_copy:
            return self._state
        with self._lock:
            stored = documents.read_node(self.store_path, self.metadata.zarr_format)
            if isinstance(stored, ArrayMetadata):
                own = layout.checked_copy(self.metadata, stored, self.store_path)
                self._state = ArrayState(own, self.store_path, self.config)
            self._by_copy = False
            return self._state

    def resize(self, new_shape: int | tuple[int, ...]) -> None:
        """Change the shape; chunks that are then outside are deleted.

        A chunk that is cut stays as it is: what was cut is seen again when the array grows back.

        Parameters
        ----------
        new_shape
            The new number of elements along each axis.
        """
        shape = layout.parse_shape(new_shape)
        if len(shape) != self.ndim:
            raise BlazarrError(
                f"the new shape {shape} has {len(shape)} dimensions, but the array has {self.ndim}; "
                "resizing keeps their number",
                argument="new_shape",
            )
        self._change_shape(lambda _: shape)

    def append(self, data: Any, axis: SupportsIndex = 0) -> tuple[int, ...]:
        """Add data at the end of an axis.

        The room is reserved first, so that concurrent appends never write to the same place.

        Parameters
        ----------
        data
            Elements; along the other axes it has the array's shape.
        axis
            The axis that grows.

        Returns
        -------
        tuple of int
            The new shape.
        """
        converted = values.converted(data, self._state.native)
        place = layout.parse_axis(axis, self.ndim)

        def grown(shape: tuple[int, ...]) -> tuple[int, ...]:
            longer = list(shape)
            longer[place] += converted.shape[place] if converted.ndim == len(shape) else 0
            expected = tuple(n for i, n in enumerate(shape) if i != place)
            found = tuple(n for i, n in enumerate(converted.shape) if i != place)
            if found != expected or converted.ndim != len(shape):
                raise SelectionError(
                    f"data of shape {converted.shape} cannot be appended to an array of shape "
                    f"{shape} along axis {place}: the other axes must be equal"
                )
            return tuple(longer)

        before, after = self._change_shape(grown)
        key = [slice(length) for length in after.shape]
        key[place] = slice(before.shape[place], after.shape[place])
        # Others may append to the same chunk at the same time.
        shared = ArrayState(layout.padded(after.metadata), self.store_path, self.config)
        shared.engine.write(parse_basic(tuple(key), shared.shape), converted)
        return after.shape

    def _change_shape(
        self, change: Callable[[tuple[int, ...]], tuple[int, ...]]
    ) -> tuple[ArrayMetadata, ArrayState]:
        before, state = self._revise(lambda stored: stored.update(shape=change(stored.shape)))
        layout.delete_outside(before, state.metadata, self.store_path)
        return before, state

    def update_attributes(self, new_attributes: Mapping[str, Any]) -> Array:
        """Set attributes with one write; others stay as they are.

        Parameters
        ----------
        new_attributes
            Names and values.
        """
        self.attrs.update(new_attributes)
        return self

    def _change_attributes(self, change: Change) -> None:
        self._revise(lambda stored: stored.update(attributes=change(dict(stored.attributes))))

    def _revise(
        self, change: Callable[[ArrayMetadata], ArrayMetadata]
    ) -> tuple[ArrayMetadata, ArrayState]:
        self.store_path.require_writable()
        # The lock keeps the handle from ending with the older of two revisions.
        with self._lock:
            before, after = documents.revise(self.store_path, self.metadata, change)
            asked = self.metadata.data_type
            if isinstance(after, ArrayV3Metadata) and after.data_type == asked.as_native():
                # Format 3 does not store the byte order that the array was created with.
                after = replace(after, data_type=asked)
            self._state = ArrayState(after, self.store_path, self.config)
            self._by_copy = False
            return before, self._state


AsyncArray.stand_for(Array)
