"""Makes every read and write of blazarr's go through the wave executor, over the host device.

A plugin of pytest: ``pytest -p tests.gpu.through_waves tests/stateful tests/conformance``. The
budget is the smallest that a call fits, so that nearly every one takes many waves.

With ``--fail-every-call`` each read and write is made once for each call of the device that it
consists of, and that call fails. Nothing may leak; a read that raised nothing is right; after a
write every element is the old one or the new one; and the same handle then does what it failed to
do. That is quadratic in the number of calls, so the budget is doubled until `MOST_CALLS` are enough
(or it has no more effect), and what goes through the same calls, however often, for the same chain as something before it is not made to
fail again; nor is what is over `LARGE` bytes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import settings

from blazarr.codecs import compile_chain
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
counts.update(
    dict.fromkeys(["failed reads", "failed writes", "failed calls", "seen before", "large"], 0)
)

# Whether every call of the device is to fail once; then the most calls that a read or write may
# consist of, a budget that is above all of them, the longest result or value, and how many examples.
failing = False
MOST_CALLS, ROOMY, LARGE, MOST_EXAMPLES = 150, 1 << 28, 1 << 18, 40
seen: set[int] = set()

Run: TypeAlias = Callable[[WaveEngine], Report]


class ThroughWaves:
    """An engine that reads and writes through waves, and plans as the CPU does."""

    def __init__(self, native: Any, made: Any, chain: str) -> None:
        self._native = native
        self._made = made
        self._chain = chain
        self.plan = native.plan

    def read(self, selection: Any, out: Any) -> None:
        if out.shape != selection.flat_shape:
            flat = np.empty(selection.flat_shape, out.dtype)
            self.read(selection, flat)
            out[...] = flat.reshape(out.shape)
            return

        def run(engine: WaveEngine) -> Report:
            return engine.start(selection, out.ctypes.data, out.strides).finish()

        memory, device = self._smallest("read", run)
        if failing and self._is_new("read", device, out):
            self._fail_reads(run, memory, out)

    async def read_async(self, selection: Any, out: Any) -> None:
        self.read(selection, out)

    def _fail_reads(self, run: Run, memory: int, out: Any) -> None:
        counts["failed reads"] += 1
        expected = out.copy()
        for engine, raised in self._failures(run, memory, lambda: spoil(out)):
            if raised:
                spoil(out)
                run(engine)
            assert out.tobytes() == expected.tobytes()

    def write(self, selection: Any, value: Any) -> None:
        selection, value = without_repeats(selection, value, np.asarray)

        def run(engine: WaveEngine) -> Report:
            return engine.write(selection, value.ctypes.data, value.strides)

        old = self._stored(selection, value) if failing else None
        memory, device = self._smallest("write", run)
        if failing and self._is_new("write", device, value):
            self._fail_writes(run, memory, selection, value, old)

    def _fail_writes(self, run: Run, memory: int, selection: Any, value: Any, old: Any) -> None:
        counts["failed writes"] += 1
        new = self._stored(selection, value)
        for engine, raised in self._failures(
            run, memory, lambda: self._native.write(selection, old)
        ):
            if raised:
                found = self._stored(selection, value)
                assert (same(found, old) | same(found, new)).all()
                run(engine)
            assert same(self._stored(selection, value), new).all()

    def _stored(self, selection: Any, value: Any) -> Any:
        """What the CPU reads."""
        out = np.empty(selection.flat_shape, value.dtype)
        self._native.read(selection, out)
        return out

    def _is_new(self, call: str, device: HostDevice, data: Any) -> bool:
        """Whether nothing before went through these calls for such a chain."""
        if data.nbytes > LARGE:
            counts["large"] += 1
            return False
        made = hash((call, self._chain, *dict.fromkeys(device.log)))
        counts["seen before"] += made in seen
        is_new = made not in seen
        seen.add(made)
        return is_new

    def _failures(
        self, run: Run, memory: int, prepare: Callable[[], object]
    ) -> Iterator[tuple[WaveEngine, bool]]:
        """Run until no call is left to fail; yield the handle each time, and whether it raised."""
        for number in itertools.count():
            prepare()
            device, engine, raised = HostDevice(fail_at=number), None, False
            try:
                engine = self._made(device, _options(memory))
                run(engine)
            except DeviceCallError:
                counts["failed calls"] += 1
                raised = True
            assert device.allocated == 0
            made, device.fail_at = device.calls, None
            # A handle that could not be made is made now.
            yield engine or self._made(device, _options(memory)), raised
            assert device.allocated == 0
            if made <= number:
                return

    def _smallest(self, call: str, run: Run) -> tuple[int, HostDevice]:
        """Run with the smallest budget that fits; return it, and the device."""
        memory = 1
        while True:
            device = HostDevice()
            try:
                report = run(self._made(device, _options(memory)))
            except LimitError as error:
                assert device.allocated == 0
                memory = max(error.size, memory + 1)
                continue
            if not failing or device.calls <= MOST_CALLS or memory > ROOMY:
                break
            memory *= 2
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
        return memory, device


def spoil(out: Any) -> None:
    """Let nothing of an earlier read be left."""
    out[...] = np.frombuffer(b"\x55" * out.itemsize, out.dtype)[0]


def same(found: Any, wanted: Any) -> Any:
    """Which elements have the same bits."""
    bits = [np.ascontiguousarray(a).reshape(-1, 1).view("u1") for a in (found, wanted)]
    return (bits[0] == bits[1]).all(axis=1)


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
    return ThroughWaves(native, made, str(compile_chain(metadata).native))


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--fail-every-call", action="store_true")


def pytest_configure(config: Any) -> None:
    global failing  # noqa: PLW0603 - hooks of pytest have no other place
    failing = config.getoption("--fail-every-call")
    state.engine_of = engine_of
    if failing:
        settings.register_profile("few", settings.get_profile("ci"), max_examples=MOST_EXAMPLES)
        settings.load_profile("few")


def pytest_sessionfinish(session: Any) -> None:
    """A run that went past the waves, or in which nothing failed, shows nothing."""
    if not counts["failed calls" if failing else "read waves"]:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"through waves: {counts}")
