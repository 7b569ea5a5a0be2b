"""What can be converted: a hierarchy of Zarr, of HDF5 and NetCDF, or of TIFF."""

from blazarr.conversion.sources.base import Readable, Source
from blazarr.conversion.sources.opening import open_source

__all__ = ["Readable", "Source", "open_source"]
