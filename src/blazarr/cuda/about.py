"""Which path a read on a GPU would take here, and why."""

from __future__ import annotations

from dataclasses import dataclass, fields

from blazarr.cuda import files, nvcomp, nvrtc
from blazarr.cuda.gpu import import_cupy
from blazarr.errors import BlazarrError


@dataclass(frozen=True)
class Info:
    """What is there for reads on a GPU.

    Attributes
    ----------
    usable
        Whether arrays can be read to a GPU.
    devices
        What cupy says about the GPUs, or what is missing.
    nvcomp
        Which decoders there are, or what is missing.
    nvrtc
        What compiles the kernels, or what is missing.
    reading
        How bytes come from files to the GPU.
    """

    usable: bool
    devices: str
    nvcomp: str
    nvrtc: str
    reading: str

    def __str__(self) -> str:
        lines = [(field.name, getattr(self, field.name)) for field in fields(self)]
        return "\n".join(f"{name:>8}: {value}" for name, value in lines)


def info(folder: str | None = None) -> Info:
    """Return what is there for reads on a GPU, and what is missing.

    Parameters
    ----------
    folder
        Where files are, to be told whether a GPU reads them itself.
    """
    devices, found = _devices()
    library, decodes = _nvcomp()
    compilers = [f"{path.name} of a wheel" for path in nvrtc.found()]
    return Info(
        usable=found and decodes,
        devices=devices,
        nvcomp=library,
        nvrtc=", ".join(compilers) or "no wheel of it; the system's is tried",
        reading=_reading(folder),
    )


def _devices() -> tuple[str, bool]:
    try:
        cupy = import_cupy()
    except BlazarrError as error:
        return str(error), False
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"cupy {cupy.__version__} sees no GPU: {error}", False
    names = [cupy.cuda.runtime.getDeviceProperties(n)["name"].decode() for n in range(count)]
    return f"cupy {cupy.__version__}: {', '.join(names)}", count > 0


def _nvcomp() -> tuple[str, bool]:
    try:
        library = nvcomp.installed()
    except BlazarrError as error:
        return str(error), False
    major, minor = library.version
    return f"nvCOMP {major}.{minor}: {', '.join(f.name.lower() for f in nvcomp.CODECS)}", True


def _reading(folder: str | None) -> str:
    obstacle = files.obstacle(folder)
    if obstacle:
        return f"parallel reads into pinned memory, then copies; not past the host: {obstacle}"
    return (
        "chunks without a codec straight from their files by cuFile; others by parallel reads "
        "into pinned memory, where they are checked, then copies"
    )
