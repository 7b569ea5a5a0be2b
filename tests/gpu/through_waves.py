"""Makes every read and write of blazarr's go through the wave executor, over the host device.

A plugin of pytest: ``pytest -p tests.gpu.through_waves tests/stateful tests/conformance``. The
budget is the smallest that a call fits, so that nearly every one takes many waves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blazarr.cuda.base import Report
from blazarr.cuda.engine import WaveEngine
from blazarr.cuda.host import HostDevice
from blazarr.cuda.options import Options
from blazarr.cuda.repeats import without_repeats
from blazarr.engine import run
from blazarr.errors import LimitError, UnsupportedError
from blazarr.nodes import state

# Reads and writes that were made, and what became of their chunks.
counts = dict.fromkeys(
    f"{call} {what}"
    for call in ("read", "write")
    for what in ("calls", "waves", "device", "host", "absent")
)
counts.update(dict.fromkeys(counts, 0))


class ThroughWaves:
    """An engine that reads and writes through waves, and plans as the CPU does."""

    def __init__(self, native: Any, made: Any) -> None:
        self._made = made
        self.plan = native.plan

    def read(self, selection: Any, out: Any) -> None:
        if out.shape != selection.flat_shape:
            flat = np.empty(selection.flat_shape, out.dtype)
            self.read(selection, flat)
            out[...] = flat.reshape(out.shape)
            return

        def run(engine: WaveEngine) -> Report:
            return engine.start(selection, out.ctypes.data, out.strides).finish()

        self._smallest("read", run)

    def write(self, selection: Any, value: Any) -> None:
        selection, value = without_repeats(selection, value, np.asarray)

        def run(engine: WaveEngine) -> Report:
            return engine.write(selection, value.ctypes.data, value.strides)

        self._smallest("write", run)

    def _smallest(self, call: str, run: Callable[[WaveEngine], Report]) -> None:
        """Run with the smallest budget that fits."""
        device, memory = HostDevice(), 1
        while True:
            options = Options(memory=memory, crossover=0, least_streams=0)
            try:
                report = run(self._made(device, options))
                break
            except LimitError as error:
                assert device.allocated == 0
                memory = max(error.size, memory + 1)
        assert device.allocated == 0
        assert device.peak <= memory
        assert report.retried == 0
        found = {
            "calls": 1,
            "waves": report.waves,
            "device": report.device_rows,
            "host": report.host_rows,
            "absent": report.absent_rows,
        }
        for what, number in found.items():
            counts[f"{call} {what}"] += number


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
