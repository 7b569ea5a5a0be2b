"""What all tests share: hypothesis profiles and the folder of other people's Zarr files."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).parent.parent

# What a shell starts in the background ignores Ctrl-C, and so do its children; some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Deadlines measure the machine, not the code; a busy machine makes drawing slow.
QUIET = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", max_examples=30, derandomize=True, **QUIET)
settings.register_profile("default", max_examples=100, **QUIET)
settings.register_profile("thorough", max_examples=10_000, **QUIET)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root folder of the sources."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with files written by other implementations; tests that need it skip without it."""
    folder = Path(os.environ.get("BLAZARR_SHARED", REPOSITORY.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no folder of shared files at {folder}; set BLAZARR_SHARED")
    return folder
