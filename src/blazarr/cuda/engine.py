"""The engine of one array on a device: what `blazarr.engine.run` is for the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from blazarr.codecs import compile_chain
from blazarr.cuda.base import Report, unless_changed
from blazarr.cuda.device import Device, Event
from blazarr.cuda.encode_waves import WaveWrite, chunks_of
from blazarr.cuda.encoding import EncodeProgram, encode_program_of
from blazarr.cuda.files import is_direct
from blazarr.cuda.options import Options
from blazarr.cuda.program import Program, program_of
from blazarr.cuda.wave import Target
from blazarr.cuda.waves import WaveRead, rows_of
from blazarr.engine.array_config import ArrayConfig
from blazarr.engine.run import core_array
from blazarr.errors import UnsupportedError
from blazarr.indexing import Selection
from blazarr.metadata import ArrayMetadata
from blazarr.stores import Store


class WaveEngine:
    """Reads and writes an array on a device. Many threads may use one: each call has its own memory.

    Parameters
    ----------
    device
        Where results go, and where values are.
    options
        Memory, and what is left to the CPU.
    metadata, store, path, config
        As for `blazarr.engine.run.engine_of`.
    """

    def __init__(
        self,
        device: Device,
        options: Options,
        metadata: ArrayMetadata,
        store: Store,
        path: str,
        *,
        config: ArrayConfig,
    ) -> None:
        chain = compile_chain(metadata)
        dtype = metadata.data_type.native
        if chain.variable or dtype.hasobject:
            raise UnsupportedError(
                f"elements of type {metadata.data_type.name!r} are Python objects, which are not "
                "read on a device; read on the CPU",
            )
        self.device = device
        self.options = options
        self.dtype: np.dtype[Any] = dtype
        self.program: Program = program_of(chain.native, device.formats)
        self.encode_program: EncodeProgram = encode_program_of(chain.native, device.encodes)
        self._fill = metadata.fill_bytes
        self._missing_is_error = not config.read_missing_chunks
        self._elide = not config.write_empty_chunks
        self._array = core_array(chain, metadata, store, path)
        self._direct = is_direct(device, options, store.capabilities.local_path)

    def start(
        self,
        selection: Selection,
        address: int,
        strides: tuple[int, ...],
        after: Event = None,
        *,
        dtype: np.dtype[Any] | None = None,
    ) -> WaveRead:
        """Queue a read.

        Parameters
        ----------
        selection
            What is read.
        address, strides
            Where the flat result goes: memory of the device, strides in bytes.
        after
            An event that the first work waits for.
        dtype
            The result's type, where it is another than the array's.

        Returns
        -------
        WaveRead
            To be finished by the caller.
        """
        cast = None if dtype is None or dtype == self.dtype else cast_of(self.dtype, dtype)
        target = Target(address, strides, self.dtype.itemsize, self._fill, cast)

        def issued() -> WaveRead:
            read = WaveRead(self.device, self.program, self.options, target, direct=self._direct)
            rows = rows_of(
                self._array,
                selection.core(),
                strides,
                self.options,
                missing_is_error=self._missing_is_error,
            )
            read.issue(rows, after)
            return read

        return unless_changed(issued)

    def write(
        self, selection: Selection, address: int, strides: tuple[int, ...], after: Event = None
    ) -> Report:
        """Write a value; everything is stored when this returns.

        Parameters
        ----------
        selection
            What is written to; no element twice, since the device knows no order.
        address, strides
            Where the flat value is: memory of the device, strides in bytes.
        after
            An event that the first work waits for.

        Returns
        -------
        Report
        """
        source = Target(address, strides, self.dtype.itemsize, self._fill)
        program = self.encode_program
        write = WaveWrite(
            self.device,
            program,
            self.program,
            self.options,
            source,
            elide=self._elide,
            direct=self._direct,
        )
        write.run(chunks_of(self._array, selection.core(), strides, self.options, program), after)
        return write.report


def cast_of(stored: np.dtype[Any], wanted: np.dtype[Any]) -> tuple[int, int, int]:
    """Return how elements become another type while they are placed.

    Parameters
    ----------
    stored, wanted
        The two types.
    """
    for dtype in (stored, wanted):
        if dtype.kind not in "biuf" or dtype.itemsize > 8 or not dtype.isnative:
            raise UnsupportedError(
                f"elements of type {stored} do not become {wanted} on a device: only truth values, "
                "integers and floats of up to 8 bytes do",
                argument="dtype",
            )
    return ord(stored.kind), ord(wanted.kind), wanted.itemsize
