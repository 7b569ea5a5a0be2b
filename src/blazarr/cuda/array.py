"""`CudaArray`: an array whose selections are read to a GPU."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from blazarr.cuda.engine import WaveEngine
from blazarr.cuda.gpu import CudaDevice, cuda_device, import_cupy
from blazarr.cuda.options import Options
from blazarr.cuda.waves import Report, WaveRead
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


class CudaArray:
    """An array that is read to and written from a GPU.

    It parses the metadata once and holds no other state: threads, streams and devices may use it
    at once.

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
        place = array.store_path
        self._engine = WaveEngine(
            self.device,
            options or Options(),
            array.metadata,
            place.store,
            place.path,
            config=array.config,
        )
        self._cupy = import_cupy()

    def __getattr__(self, name: str) -> Any:
        # Shape, data type, attributes and all else that is not on the device.
        if name == "array":
            raise AttributeError(name)
        return getattr(self.array, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return CudaArray, (self.array, self.device.name, self._engine.options)

    def __repr__(self) -> str:
        return f"<CudaArray {self.array.store_path} shape={self.array.shape} {self.device.name}>"

    def __getitem__(self, key: Any) -> Any:
        return self.read(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.write(key, value)

    def read(self, key: Any = ..., *, out: Any = None, stream: Any = None) -> Any:
        """Read a selection; everything was checked when this returns.

        Parameters
        ----------
        key
            Anything that goes between the brackets.
        out
            A cupy array of the selection's shape and the array's data type, to be filled.
        stream
            The cupy stream on which `out` is used; the current one by default.

        Returns
        -------
        cupy.ndarray
        """
        return self.read_async(key, out=out, stream=stream).result()

    def read_async(self, key: Any = ..., *, out: Any = None, stream: Any = None) -> PendingRead:
        """Queue a read on a stream.

        Parameters
        ----------
        key, out, stream
            As for `read`.

        Returns
        -------
        PendingRead
        """
        selection = parse_getitem(key, self.array.shape)
        with self.device.current():
            stream = stream or self._cupy.cuda.get_current_stream()
            # Scratch comes from the pool of the same stream, whose event the first work awaits.
            with stream:
                result = self._room(selection, out)
                flat = result.reshape(selection.flat_shape)
                if flat.data.ptr != result.data.ptr:
                    raise SelectionError("out can't be seen as the flat selection", argument="out")
                after = self.device.record(stream)
                read = self._engine.start(selection, int(flat.data.ptr), flat.strides, after)
            self.device.wait(stream, read.done())
            return PendingRead(read, result)

    def _room(self, selection: Selection, out: Any) -> Any:
        dtype = self._engine.dtype
        if dtype.kind not in "biufc":
            raise UnsupportedError(f"cupy has no data type {dtype}; read on the CPU")
        if out is None:
            return self._cupy.empty(selection.result_shape, dtype)
        if out.shape != selection.result_shape or out.dtype != dtype:
            raise SelectionError(
                f"out has shape {out.shape} and type {out.dtype}, but the selection has shape "
                f"{selection.result_shape} and type {dtype}",
                argument="out",
            )
        return out

    def write(self, key: Any, value: Any) -> None:
        """Write a value from the GPU, or from anything else that numpy reads.

        Parameters
        ----------
        key
            Anything that goes between the brackets.
        value
            An array with ``__cuda_array_interface__`` or DLPack, or what an array on the CPU takes.
        """
        self.array[key] = on_host(value)

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


def on_host(value: Any) -> Any:
    """Return a value from a GPU as a numpy array; anything else as it is."""
    on_device = hasattr(value, "__cuda_array_interface__")
    if not on_device and hasattr(value, "__dlpack_device__"):
        # kDLCUDA and kDLCUDAManaged.
        on_device = value.__dlpack_device__()[0] in (2, 13)
    if not on_device:
        return value
    cupy = import_cupy()
    if hasattr(value, "__cuda_array_interface__"):
        return cupy.asnumpy(cupy.asarray(value))
    return cupy.asnumpy(cupy.from_dlpack(value))
