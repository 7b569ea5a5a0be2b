"""``cp``, ``convert`` and ``rechunk``."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated, Any, TypeAlias

import typer
from rich.text import Text

from blazarr.cli.arguments import (
    Dask,
    Json,
    MaxMemory,
    Options,
    codecs,
    sizes,
    store_options,
)
from blazarr.cli.output import emit, show
from blazarr.conversion import Executor, Plan
from blazarr.conversion import convert as run_conversion

Source: TypeAlias = Annotated[
    str,
    typer.Argument(help="Zarr, HDF5, NetCDF 4 or TIFF; folder, file or URL.", show_default=False),
]
Target: TypeAlias = Annotated[
    str, typer.Argument(help="Folder, zip archive or URL.", show_default=False)
]
SourcePath: TypeAlias = Annotated[str | None, typer.Option(help="Path inside the source.")]
TargetPath: TypeAlias = Annotated[str | None, typer.Option(help="Path inside the target.")]
TargetOptions: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--target-option", metavar="KEY=VALUE", help="Option of the target's store."),
]
Overwrite: TypeAlias = Annotated[bool, typer.Option("--overwrite", help="Replace the target.")]
Verify: TypeAlias = Annotated[
    bool, typer.Option("--verify", help="Compare all values before the target appears.")
]
DryRun: TypeAlias = Annotated[
    bool, typer.Option("--dry-run", "-n", help="Only print the plan, bytes and peak memory.")
]
Scratch: TypeAlias = Annotated[
    str | None, typer.Option(help="Where intermediate arrays go; by default into the target.")
]
Chunks: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="SIZES", help="64,256,-1 or time=100,lat=64 or auto."),
]
Shards: TypeAlias = Annotated[str | None, typer.Option(metavar="SIZES", help="Likewise, or none.")]
Codecs: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--codec", "-c", metavar="CODEC", help="zstd:5, blosc:lz4:5, none, auto or JSON."),
]
Filters: TypeAlias = Annotated[
    list[str] | None, typer.Option("--filter", metavar="CODEC", help="Likewise; repeatable.")
]
Format: TypeAlias = Annotated[
    int | None, typer.Option("--format", "-f", min=2, max=3, help="Zarr format, 2 or 3.")
]


def cp(
    source: Source,
    target: Target,
    *,
    path: SourcePath = None,
    target_path: TargetPath = None,
    overwrite: Overwrite = False,
    verify: Verify = False,
    dry_run: DryRun = False,
    max_memory: MaxMemory = "1GiB",
    dask: Dask = None,
    option: Options = None,
    target_option: TargetOptions = None,
    json: Json = False,
) -> None:
    """Copy an array or hierarchy as it is. Killed, it goes on when run again."""
    _run(
        source,
        target,
        {"path": path, "target_path": target_path},
        {"overwrite": overwrite, "verify": verify, "dry_run": dry_run, "max_memory": max_memory},
        (option, target_option),
        dask=dask,
        json=json,
    )


def convert(
    source: Source,
    target: Target,
    *,
    format: Format = None,
    chunks: Chunks = None,
    shards: Shards = None,
    codec: Codecs = None,
    filter: Filters = None,
    path: SourcePath = None,
    target_path: TargetPath = None,
    overwrite: Overwrite = False,
    verify: Verify = False,
    dry_run: DryRun = False,
    max_memory: MaxMemory = "1GiB",
    scratch: Scratch = None,
    dask: Dask = None,
    option: Options = None,
    target_option: TargetOptions = None,
    json: Json = False,
) -> None:
    """Copy to another format, other chunks, shards or codecs. Killed, it goes on when run again."""
    changes = {
        "zarr_format": format,
        "chunks": sizes(chunks, "chunks"),
        "shards": sizes(shards, "shards"),
        "compressors": codecs(codec, "codec"),
        "filters": codecs(filter, "filter"),
    }
    _run(
        source,
        target,
        {"path": path, "target_path": target_path, "scratch": scratch, **changes},
        {"overwrite": overwrite, "verify": verify, "dry_run": dry_run, "max_memory": max_memory},
        (option, target_option),
        dask=dask,
        json=json,
    )


def rechunk(
    source: Source,
    target: Target,
    *,
    chunks: Annotated[str, typer.Option(metavar="SIZES", help="64,256,-1 or time=100,lat=64.")],
    shards: Shards = "none",
    codec: Codecs = None,
    path: SourcePath = None,
    target_path: TargetPath = None,
    overwrite: Overwrite = False,
    verify: Verify = False,
    dry_run: DryRun = False,
    max_memory: MaxMemory = "1GiB",
    scratch: Scratch = None,
    dask: Dask = None,
    option: Options = None,
    target_option: TargetOptions = None,
    json: Json = False,
) -> None:
    """Copy to other chunks, within a budget of memory. Killed, it goes on when run again."""
    changes = {
        "chunks": sizes(chunks, "chunks"),
        "shards": sizes(shards, "shards"),
        "compressors": codecs(codec, "codec"),
    }
    _run(
        source,
        target,
        {"path": path, "target_path": target_path, "scratch": scratch, **changes},
        {"overwrite": overwrite, "verify": verify, "dry_run": dry_run, "max_memory": max_memory},
        (option, target_option),
        dask=dask,
        json=json,
    )


def _run(
    source: str,
    target: str,
    changes: dict[str, Any],
    how: dict[str, Any],
    options: tuple[list[str] | None, list[str] | None],
    *,
    dask: str | None,
    json: bool,
) -> None:
    with ExitStack() as stack:
        made = run_conversion(
            source,
            target,
            storage_options=store_options(options[0]),
            target_options=store_options(options[1]),
            progress=not json,
            executor=executor_at(dask, stack),
            **changes,
            **how,
        )
    if isinstance(made, Plan):
        if json:
            emit(made.to_json())
        else:
            show(Text(text) for text in repr(made).split("\n"))
    elif json:
        emit({"target": str(made.store_path), "verified": how["verify"]})
    else:
        show([Text(f"{made.store_path} is complete{' and verified' if how['verify'] else ''}")])


def executor_at(dask: str | None, stack: ExitStack) -> Executor | None:
    """Return who does the work; None for this process.

    Parameters
    ----------
    dask
        Address of a cluster, or ``"local"``.
    stack
        Closes what was opened for it.
    """
    if dask is None:
        return None
    from blazarr.distributed import DaskExecutor, cluster

    return DaskExecutor(stack.enter_context(cluster(dask)))
