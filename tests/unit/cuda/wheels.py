"""NVIDIA's libraries where tests find them: unpacked side by side, or installed.

``BLAZARR_GPU_WHEELS`` names a folder with one unpacked wheel in each subfolder; ``make gpu-check``
fills one.
"""

import os
from pathlib import Path

import pytest


def libraries(pattern):
    """Libraries whose file name matches, as parameters of a test; one that skips where none is."""
    folder = os.environ.get("BLAZARR_GPU_WHEELS")
    found = sorted(Path(folder).glob(f"*/nvidia/**/{pattern}")) if folder else []
    # The wheels hold a second, smaller NVRTC and helpers of it.
    found = [path for path in found if ".alt." not in path.name]
    names = [path.relative_to(folder).parts[0] for path in found] if folder else []
    if not found:
        skip = pytest.mark.skip(reason="BLAZARR_GPU_WHEELS names no folder with NVIDIA's wheels")
        return [pytest.param(None, marks=skip, id="none")]
    return [pytest.param(path, id=name) for path, name in zip(found, names, strict=True)]
