"""Makes every read and write of blazarr's go through the wave executor, over the host device.

A plugin of pytest: ``pytest -p tests.gpu.through_waves tests/stateful tests/conformance``. The
budget is the smallest that a call fits, so that nearly every one takes many waves. With
``--fail-every-call`` each read and write is first made once for each call of the device that it
consists of, and that call fails: nothing may leak, and a read gives an error or the right result.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from blazarr.cuda.base import Report
from blazarr.cuda.engine import WaveEngine
from blazarr.cuda.host import DeviceCallError, HostDevice
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
counts["failed calls"] = 0

# Whether every call of the device is to fail once.
failing = False


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

        memory = self._smallest("read", run)
        if failing:
            expected = out.tobytes()
            for _ in self._failures(run, memory):
                # One that came back although a call failed is complete.
                assert out.tobytes() == expected

    def write(self, selection: Any, value: Any) -> None:
        selection, value = without_repeats(selection, value, np.asarray)

        def run(engine: WaveEngine) -> Report:
            return engine.write(selection, value.ctypes.data, value.strides)

        memory = self._smallest("write", run)
        if failing:
            for _ in self._failures(run, memory):
                pass
            run(self._made(HostDevice(), _options(memory)))

    def _failures(self, run: Callable[[WaveEngine], Report], memory: int) -> Iterator[None]:
        """Run until no call is left to fail; yield whenever nothing was raised."""
        for number in itertools.count():
            device = HostDevice(fail_at=number)
            try:
                engine = self._made(device, _options(memory))
                run(engine)
            except DeviceCallError:
                counts["failed calls"] += 1
            else:
                yield
            assert device.allocated == 0
            if device.calls <= number:
                return

    def _smallest(self, call: str, run: Callable[[WaveEngine], Report]) -> int:
        """Run with the smallest budget that fits, and return it."""
        device, memory = HostDevice(), 1
        while True:
            try:
                report = run(self._made(device, _options(memory)))
                break
            except LimitError as error:
                assert device.allocated == 0
                memory = max(error.size, memory + 1)
        assert device.allocated == 0
        assert device.peak <= memory
        # Blosc's chunks that do not shrink are stored by the core.
        assert report.retried == 0 or call == "write"
        found = {
            "calls": 1,
            "waves": report.waves,
            "device": report.device_rows,
            "host": report.host_rows,
            "absent": report.absent_rows,
        }
        for what, number in found.items():
            counts[f"{call} {what}"] += number
        return memory


def _options(memory: int) -> Options:
    return Options(memory=memory, crossover=0, least_streams=0)


def engine_of(metadata: Any, store: Any, path: str, config: Any) -> Any:
    native = run.engine_of(metadata, store, path, config)

    def made(device: HostDevice, options: Options) -> WaveEngine:
        return WaveEngine(device, options, metadata, store, path, config=config)

    try:
        made(HostDevice(), Options())
    except UnsupportedError:
        return native
    return ThroughWaves(native, made)


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--fail-every-call", action="store_true")


def pytest_configure(config: Any) -> None:
    global failing  # noqa: PLW0603 - hooks of pytest have no other place
    failing = config.getoption("--fail-every-call")
    state.engine_of = engine_of


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"through waves: {counts}")
