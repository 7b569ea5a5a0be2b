"""Which package has a codec that blazarr does not have."""

from __future__ import annotations

from typing import Final

# Names of format 3, and identifiers of format 2, with what to ``pip install`` for them.
_V3: Final = {
    "gribberish": "gribberish",
    "imagecodecs_jetraw": "virtual-tiff",
    "imagecodecs_jpeg8": "virtual-tiff",
}
_V3_PREFIXES: Final = {
    "any-numcodecs.": "zarr-any-numcodecs",
    "imagecodecs_": "imagecodecs-zarr",
    "omfiles.": "omfiles",
    "virtual_tiff.": "virtual-tiff",
    "zarrs.": "zarrs",
}
_V2: Final = {
    "FITSAscii": "kerchunk",
    "FITSVarBintable": "kerchunk",
    "crc32c": "numcodecs[crc32c]",
    "fill_hdf_strings": "kerchunk",
    "grib": "kerchunk",
    "msgpack2": "numcodecs[msgpack]",
    "pcodec": "numcodecs[pcodec]",
    "rawgrib": "gribscan",
    "record_member": "kerchunk",
    "vc-delta3d": "vc-delta3d",
    "wavpack": "wavpack-numcodecs",
    "zfpy": "numcodecs[zfpy]",
}
_V2_PREFIXES: Final = {"gribscan.": "gribscan", "imagecodecs_": "imagecodecs-numcodecs"}


def package_of(name: str, zarr_format: int) -> str | None:
    """Return the package that has a codec, where one is known."""
    exact, prefixes = (_V2, _V2_PREFIXES) if zarr_format == 2 else (_V3, _V3_PREFIXES)
    if name in exact:
        return exact[name]
    return next((package for start, package in prefixes.items() if name.startswith(start)), None)
