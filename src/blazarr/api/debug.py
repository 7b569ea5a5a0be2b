"""What to put into a bug report, and what is logged."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import logging

PACKAGES = ("blazarr", "numpy", "numcodecs", "zarr", "fsspec", "obstore", "cupy")


def print_debug_info() -> None:
    """Print the versions of Python, the platform and the packages that matter."""
    import platform

    sys.stdout.write(f"platform: {platform.platform()}\npython: {platform.python_version()}\n")
    for package in PACKAGES:
        sys.stdout.write(f"{package}: {_version(package)}\n")


def set_log_level(
    level: Literal["NOTSET", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"],
) -> None:
    """Print what blazarr logs from a level on; its loggers are below ``blazarr``.

    Parameters
    ----------
    level
        The name of a level of `logging`.
    """
    import logging

    logging.getLogger("blazarr").setLevel(level)
    _handler().setLevel(level)


def set_format(log_format: str) -> None:
    """Print what blazarr logs in a format.

    Parameters
    ----------
    log_format
        A format of `logging.Formatter`.
    """
    import logging

    _handler().setFormatter(logging.Formatter(log_format))


@cache
def _handler() -> logging.Handler:
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
    logging.getLogger("blazarr").addHandler(handler)
    return handler


def _version(package: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
