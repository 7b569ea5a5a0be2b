"""The engine of one array on a device: what `blazarr.engine.run` is for the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from blazarr.codecs import compile_chain
from blazarr.cuda.device import Device, Event
from blazarr.cuda.options import Options
from blazarr.cuda.program import Program, program_of
from blazarr.cuda.wave import Target
from blazarr.cuda.waves import WaveRead
from blazarr.engine.array_config import ArrayConfig
from blazarr.engine.run import core_array
from blazarr.errors import UnsupportedError
from blazarr.indexing import Selection
from blazarr.metadata import ArrayMetadata
from blazarr.stores import Store


class WaveEngine:
    """Reads an array on a device. Many threads may use one at once: each read has its own memory.

    Parameters
    ----------
    device
        Where results go.
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
        self._fill = metadata.fill_bytes
        self._missing_is_error = not config.read_missing_chunks
        self._array = core_array(chain, metadata, store, path)

    def start(
        self, selection: Selection, address: int, strides: tuple[int, ...], after: Event = None
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

        Returns
        -------
        WaveRead
            To be finished by the caller.
        """
        target = Target(address, strides, self.dtype.itemsize, self._fill)
        read = WaveRead(self.device, self._array, self.program, self.options, target)
        read.issue(selection.core(), after, self._missing_is_error)
        return read
