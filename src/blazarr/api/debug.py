"""What to put into a bug report."""

from __future__ import annotations

import sys

PACKAGES = ("blazarr", "numpy", "numcodecs", "zarr", "fsspec", "obstore", "cupy")


def print_debug_info() -> None:
    """Print the versions of Python, the platform and the packages that matter."""
    import platform

    sys.stdout.write(f"platform: {platform.platform()}\npython: {platform.python_version()}\n")
    for package in PACKAGES:
        sys.stdout.write(f"{package}: {_version(package)}\n")


def _version(package: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
