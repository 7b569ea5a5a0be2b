"""xarray's backend: ``xarray.open_dataset(place, engine="blazarr")``, without zarr-python."""

from blazarr.compat.xarray.backend import BlazarrBackendEntrypoint

__all__ = ["BlazarrBackendEntrypoint"]
