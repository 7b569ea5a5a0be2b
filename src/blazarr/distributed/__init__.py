"""Dask: lazy arrays, and conversions and checks by the workers of a cluster."""

from blazarr.distributed.arrays import from_dask, to_dask
from blazarr.distributed.executor import DaskExecutor, cluster
from blazarr.distributed.functions import check, convert, rechunk

__all__ = ["DaskExecutor", "check", "cluster", "convert", "from_dask", "rechunk", "to_dask"]
