"""Makes every read of blazarr's go through the wave executor, over the host device.

A plugin of pytest: ``pytest -p tests.gpu.through_waves tests/stateful tests/conformance``. The
budget is the smallest that a read fits, so that nearly every read takes many waves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blazarr.cuda.engine import WaveEngine
from blazarr.cuda.host import HostDevice
from blazarr.cuda.options import Options
from blazarr.engine import run
from blazarr.errors import LimitError, UnsupportedError
from blazarr.nodes import state

# Reads that were made, by where their chunks were decoded.
counts = {"reads": 0, "waves": 0, "device": 0, "host": 0, "absent": 0}


class ThroughWaves:
    """An engine that reads through waves and does all else as the CPU does."""

    def __init__(self, native: Any, made: Any) -> None:
        self._made = made
        self.write = native.write
        self.plan = native.plan

    def read(self, selection: Any, out: Any) -> None:
        if out.shape != selection.flat_shape:
            flat = np.empty(selection.flat_shape, out.dtype)
            self.read(selection, flat)
            out[...] = flat.reshape(out.shape)
            return
        device, memory = HostDevice(), 1
        while True:
            options = Options(memory=memory, crossover=0, least_streams=0)
            engine = self._made(device, options)
            try:
                started = engine.start(selection, out.ctypes.data, out.strides)
                break
            except LimitError as error:
                memory = max(error.size, memory + 1)
        report = started.finish()
        assert device.allocated == 0
        assert device.peak <= memory
        assert report.retried == 0
        counts["reads"] += 1
        counts["waves"] += report.waves
        counts["device"] += report.device_rows
        counts["host"] += report.host_rows
        counts["absent"] += report.absent_rows


def engine_of(metadata: Any, store: Any, path: str, config: Any) -> Any:
    native = run.engine_of(metadata, store, path, config)

    def made(device: HostDevice, options: Options) -> WaveEngine:
        return WaveEngine(device, options, metadata, store, path, config=config)

    try:
        made(HostDevice(), Options())
    except UnsupportedError:
        return native
    return ThroughWaves(native, made)


def pytest_configure() -> None:
    state.engine_of = engine_of


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"through waves: {counts}")
