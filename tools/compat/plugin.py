"""A pytest plugin: the pipeline under test is known by its name from the start, and no test waits for ever."""

from __future__ import annotations

import faulthandler
import importlib
import os
import signal
from collections.abc import Iterator

import pytest

# Tests that take longer hang: their reason is what a pipeline does in a running loop or in a forked child.
SECONDS = 600


def pytest_configure() -> None:
    """Register the pipeline: some of the tests look it up without having asked for packages' entry points."""
    from zarr.registry import register_pipeline

    module, _, name = os.environ["COMPAT_PIPELINE"].rpartition(".")
    register_pipeline(getattr(importlib.import_module(module), name))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Fail a test that hangs, with what its threads were at."""

    def hangs(*_: object) -> None:
        faulthandler.dump_traceback()
        pytest.fail(f"no result after {SECONDS} s", pytrace=False)

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(SECONDS)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
