"""Conversions and checks by a cluster."""

from __future__ import annotations

from typing import Any

from blazarr.checking import check as check_here
from blazarr.conversion import convert as convert_here
from blazarr.conversion import rechunk as rechunk_here
from blazarr.distributed.executor import DaskExecutor, cluster


def convert(source: Any, target: Any, *, dask: Any = "local", **options: Any) -> Any:
    """Do what `blazarr.convert` does by the workers of a Dask cluster.

    Parameters
    ----------
    source, target
        As for `blazarr.convert`; in stores that all workers reach.
    dask
        A ``distributed.Client``, the address of a scheduler, or ``"local"``.
    **options
        Other arguments of `blazarr.convert`; the budget is one for each thread of a worker.
    """
    with cluster(dask) as client:
        return convert_here(source, target, executor=DaskExecutor(client), **options)


def rechunk(source: Any, target: Any, chunks: Any, *, dask: Any = "local", **options: Any) -> Any:
    """Do what `blazarr.rechunk` does by the workers of a Dask cluster; see `convert`."""
    with cluster(dask) as client:
        return rechunk_here(source, target, chunks, executor=DaskExecutor(client), **options)


def check(store: Any, *, dask: Any = "local", **options: Any) -> Any:
    """Do what `blazarr.check` does by the workers of a Dask cluster; see `convert`."""
    with cluster(dask) as client:
        return check_here(store, executor=DaskExecutor(client), **options)
