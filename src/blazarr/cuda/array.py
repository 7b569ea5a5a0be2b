"""`CudaArray`: an array whose selections are read to a GPU."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from blazarr.cuda.base import Report
from blazarr.cuda.engine import WaveEngine
from blazarr.cuda.gpu import CudaDevice, cuda_device, import_cupy
from blazarr.cuda.options import Options
from blazarr.cuda.repeats import without_repeats
from blazarr.cuda.selecting import Selectable
from blazarr.cuda.waves import WaveRead
from blazarr.errors import SelectionError, UnsupportedError
from blazarr.indexing import Selection, parse_getitem


def parse_device(device: str) -> CudaDevice:
    """Return the device that a name such as ``"cuda"`` or ``"cuda:1"`` means.

    Parameters
    ----------
    device
        The name. ``"cuda"`` is cupy's current device.
    """
    kind, colon, number = device.partition(":")
    if kind != "cuda" or (colon and not number.isdecimal()):
        raise UnsupportedError(f"device {device!r} is not known; ask for 'cuda' or 'cuda:1'")
    cupy = import_cupy()
    return cuda_device(int(number) if colon else int(cupy.cuda.Device().id))


class PendingRead:
    """A read that is under way on a stream.

    The array may be used on that stream at once; only `result` says that nothing was damaged.
    """

    def __init__(self, read: WaveRead, array: Any) -> None:
        self._read = read
        self._array = array
        self._report: Report | None = None

    def result(self) -> Any:
        """Wait, check everything, and return the array."""
        self.report  # noqa: B018
        return self._array

    def __del__(self) -> None:
        # Memory must not be given back while the device works on it.
        if self._report is None:
            with contextlib.suppress(Exception):
                self._read.finish()

    @property
    def report(self) -> Report:
        """What the read did, once it is over."""
        if self._report is None:
            self._report = self._read.finish()
        return self._report


class CudaArray(Selectable):
    """An array that is read to and written from a GPU.

    It parses the metadata once (again after a change of shape) and holds no other state: threads,
    streams and devices may use it at once.

    Parameters
    ----------
    array
        The array, as `blazarr.open_array` returns it.
    device
        ``"cuda"``, ``"cuda:1"``, or a device.
    options
        Memory, and what is left to the CPU.
    """

    def __init__(
        self, array: Any, device: str | CudaDevice = "cuda", options: Options | None = None
    ) -> None:
        self.array = array
        self.device = parse_device(device) if isinstance(device, str) else device
        self.options = options or Options()
        self._made = self._engine_of(array.metadata)
        self._cupy = import_cupy()

    def _engine_of(self, metadata: Any) -> tuple[Any, WaveEngine]:
        array, place = self.array, self.array.store_path
        engine = WaveEngine(
            self.device, self.options, metadata, place.store, place.path, config=array.config
        )
        return metadata, engine

    @property
    def _engine(self) -> WaveEngine:
        metadata, engine = self._made
        if self.array.metadata is not metadata:
            self._made = self._engine_of(self.array.metadata)
            return self._made[1]
        return engine

    def __getattr__(self, name: str) -> Any:
        # Shape, data type, attributes and all else that is not on the device.
        if name == "array":
            raise AttributeError(name)
        return getattr(self.array, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return CudaArray, (self.array, self.device.name, self.options)

    def __repr__(self) -> str:
        return f"<CudaArray {self.array.store_path} shape={self.array.shape} {self.device.name}>"

    def read(
        self, key: Any = ..., *, out: Any = None, dtype: Any = None, stream: Any = None
    ) -> Any:
        """Read a selection; everything was checked when this returns.

        Parameters
        ----------
        key
            Anything that goes between the brackets.
        out
            A cupy array of the selection's shape, to be filled.
        dtype
            The result's type: elements become it while they are placed, as by ``astype``. By
            default `out`'s, or the array's.
        stream
            The cupy stream on which `out` is used; the current one by default.

        Returns
        -------
        cupy.ndarray
        """
        return self.read_async(key, out=out, dtype=dtype, stream=stream).result()

    def read_async(
        self, key: Any = ..., *, out: Any = None, dtype: Any = None, stream: Any = None
    ) -> PendingRead:
        """Queue a read on a stream.

        Parameters
        ----------
        key, out, dtype, stream
            As for `read`.

        Returns
        -------
        PendingRead
        """
        return self._start(parse_getitem(key, self.array.shape), out, stream, dtype)

    def _get(self, selection: Selection, out: Any = None) -> Any:
        return self._start(selection, out).result()

    def _start(
        self, selection: Selection, out: Any = None, stream: Any = None, dtype: Any = None
    ) -> PendingRead:
        with self.device.current():
            stream = stream or self._cupy.cuda.get_current_stream()
            # Scratch comes from the pool of the same stream, whose event the first work awaits.
            with stream:
                result = self._room(selection, out, dtype)
                flat = result.reshape(selection.flat_shape)
                if flat.data.ptr != result.data.ptr:
                    raise SelectionError("out can't be seen as the flat selection", argument="out")
                after = self.device.record(stream)
                read = self._engine.start(
                    selection, int(flat.data.ptr), flat.strides, after, dtype=np.dtype(flat.dtype)
                )
            self.device.wait(stream, read.done())
            return PendingRead(read, result)

    def _room(self, selection: Selection, out: Any, wanted: Any) -> Any:
        self._check_type()
        stored = self._engine.dtype
        if out is None:
            dtype = stored if wanted is None else np.dtype(wanted)
            return self._cupy.empty(selection.result_shape, dtype)
        allowed = out.dtype == (stored if wanted is None else np.dtype(wanted)) or (
            wanted is None and np.can_cast(stored, out.dtype, "same_kind")
        )
        if out.shape != selection.result_shape or not allowed:
            raise SelectionError(
                f"out has shape {out.shape} and type {out.dtype}, but the selection has shape "
                f"{selection.result_shape} and type {wanted or stored}",
                argument="out",
            )
        return out

    def write(self, key: Any, value: Any, *, stream: Any = None) -> Report:
        """Write a value; everything is stored when this returns.

        Chunks that the selection covers are encoded on the device where its options and the codec
        allow it. Others are changed by the CPU, under the store's guard against other writers; those
        that no CPU decodes by the device, which does so again where another writer was faster.

        Parameters
        ----------
        key
            Anything that goes between the brackets.
        value
            An array with ``__cuda_array_interface__`` or DLPack, or what an array on the CPU
            takes; it is broadcast.
        stream
            The cupy stream on which the value was made; the current one by default.

        Returns
        -------
        Report
            What was encoded where.
        """
        return self._store(parse_getitem(key, self.array.shape), value, stream)

    def _set(self, selection: Selection, value: Any) -> None:
        self._store(selection, value)

    def _store(self, selection: Selection, value: Any, stream: Any = None) -> Report:
        self.array.store_path.require_writable()
        self._check_type()
        with self.device.current():
            stream = stream or self._cupy.cuda.get_current_stream()
            with stream:
                placed = self._fitted(on_device(value, self._engine.dtype), selection)
                selection, placed = without_repeats(selection, placed, self._cupy.asarray)
                after = self.device.record(stream)
                return self._engine.write(selection, int(placed.data.ptr), placed.strides, after)

    def _fitted(self, value: Any, selection: Selection) -> Any:
        """A value broadcast to a selection, as numpy's assignment does."""
        shape = selection.result_shape
        if value.shape == selection.flat_shape:
            return value
        spare = value.ndim - len(shape)
        if spare > 0 and value.shape[:spare] == (1,) * spare:
            value = value.reshape(value.shape[spare:])
        try:
            return self._cupy.broadcast_to(value, shape).reshape(selection.flat_shape)
        except ValueError as error:
            raise SelectionError(
                f"a value of shape {value.shape} does not fit a selection of shape {shape}; "
                "nothing was written"
            ) from error

    def _check_type(self) -> None:
        dtype = self._engine.dtype
        if dtype.kind not in "biufc":
            raise UnsupportedError(f"cupy has no data type {dtype}; use the array on the CPU")

    def retrieve_chunk(self, coordinates: tuple[int, ...]) -> Any:
        """Return the elements of one stored chunk (or shard) that lie in the array.

        Parameters
        ----------
        coordinates
            Its place in the grid.
        """
        axes = zip(self.array.metadata.grid.axes, coordinates, self.array.shape, strict=True)
        key = tuple(slice(*axis.bounds(number, extent)) for axis, number, extent in axes)
        return self.read(key)

    def retrieve_encoded_chunk(self, coordinates: tuple[int, ...]) -> Any:
        """Return the stored bytes of one chunk (or shard) on the GPU; None where it is absent.

        Parameters
        ----------
        coordinates
            Its place in the grid.
        """
        place = self.array.store_path
        key = self.array.metadata.chunk_key_encoding.encode(tuple(coordinates))
        found = place.store.get(f"{place.path}/{key}" if place.path else key)
        if found is None:
            return None
        with self.device.current():
            return self._cupy.asarray(np.frombuffer(found[0], np.uint8))


def on_device(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a value as an array of the current device and of a data type.

    Parameters
    ----------
    value
        An array of any device, or anything numpy makes an array of.
    dtype
        The data type.
    """
    cupy = import_cupy()
    if hasattr(value, "__cuda_array_interface__"):
        return cupy.asarray(value).astype(dtype, copy=False)
    if hasattr(value, "__dlpack_device__"):
        # kDLCUDA and kDLCUDAManaged.
        if value.__dlpack_device__()[0] in {2, 13}:
            return cupy.from_dlpack(value).astype(dtype, copy=False)
        if not hasattr(value, "__array__"):
            value = np.from_dlpack(value)
    return cupy.asarray(np.asarray(value).astype(dtype, copy=False))
