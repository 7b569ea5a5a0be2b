"""Files that a GPU reads and writes itself, past the host's memory: whether it can, and what is in the way."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from blazarr.cuda.device import Device
from blazarr.cuda.options import Options

# Where the kernel module that makes it possible shows itself.
NVIDIA_FS = Path("/proc/driver/nvidia-fs")
MOUNTS = Path("/proc/self/mountinfo")
# File systems on which GPUDirect Storage is more than a copy through the host's memory.
FILE_SYSTEMS = frozenset({"ext4", "xfs", "lustre", "nfs", "nfs4", "gpfs", "wekafs", "beegfs"})


def is_direct(device: Device, options: Options, folder: os.PathLike[str] | None) -> bool:
    """Return whether a device reads and writes the files of a folder itself.

    Parameters
    ----------
    device
        Which one.
    options
        What the user wants.
    folder
        Where the files are; None for a store that is no folder.
    """
    if folder is None or options.io == "host":
        return False
    return options.io == "cufile" or not device.file_obstacle(os.fspath(folder))


def obstacle(folder: str | None = None) -> str:
    """Return what keeps GPUs from reading files themselves; empty for nothing.

    Parameters
    ----------
    folder
        Where the files are; None leaves the file system out.
    """
    if importlib.util.find_spec("kvikio") is None:
        return "kvikio is not installed"
    if not NVIDIA_FS.exists():
        return "the kernel module nvidia_fs is not loaded"
    import kvikio.cufile_driver

    if not kvikio.cufile_driver.get("is_gds_available"):
        return "cuFile says that GPUDirect Storage is not available"
    kind = None if folder is None else file_system(folder)
    if kind is not None and kind not in FILE_SYSTEMS:
        return f"the file system of {folder} is {kind}"
    return ""


def file_system(folder: str) -> str | None:
    """Return the kind of file system that a folder is on; None where that can't be told.

    Parameters
    ----------
    folder
        The folder; where it is not there yet, the first one above it that is.
    """
    place = Path(folder).absolute()
    while not place.exists():
        place = place.parent
    number = place.stat().st_dev
    wanted = f"{os.major(number)}:{os.minor(number)}"
    try:
        lines = MOUNTS.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        # See proc(5): what comes after a dash are kind, source and options.
        mount, _, kinds = line.partition(" - ")
        if mount.split()[2] == wanted:
            return kinds.split()[0]
    return None
