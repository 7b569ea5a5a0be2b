"""``check`` and ``bench``."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated

import typer
from rich.text import Text

from blazarr.checking import Report
from blazarr.checking import check as run_check
from blazarr.cli.arguments import Dask, Json, MaxMemory, Options, Path, Place, codecs, store_options
from blazarr.cli.benching import Measured, measure
from blazarr.cli.changing import executor_at
from blazarr.cli.failing import DAMAGED
from blazarr.cli.looking import node_at
from blazarr.cli.output import columns, emit, show
from blazarr.conversion.sizes import parse_size
from blazarr.drawing import shown_size


def check(
    place: Place,
    *,
    path: Path = None,
    no_data: Annotated[
        bool, typer.Option("--no-data", help="Metadata and keys only; decode no chunk.")
    ] = False,
    complete: Annotated[
        bool, typer.Option("--complete", help="A chunk that is not stored is a fault.")
    ] = False,
    clean: Annotated[
        bool, typer.Option("--clean", help="Remove the leftovers found, and nothing else.")
    ] = False,
    max_memory: MaxMemory = "1GiB",
    dask: Dask = None,
    option: Options = None,
    json: Json = False,
) -> None:
    """Find damage, strays and leftovers.

    Metadata, every chunk, consolidated copies, keys. Exits with 1 for damage.
    """
    with ExitStack() as stack:
        report = run_check(
            place,
            path=path,
            data=not no_data,
            complete=complete,
            clean=clean,
            storage_options=store_options(option),
            max_memory=max_memory,
            progress=not json,
            executor=executor_at(dask, stack),
        )
    if json:
        emit(report.to_json())
    else:
        show(_lines(report))
    if not report.ok:
        raise typer.Exit(DAMAGED)


def _lines(report: Report) -> list[Text]:
    styles = {True: "bold red", False: "yellow"}
    first, *others = repr(report).split("\n")
    lines = [Text(first, "bold red" if not report.ok else "bold green")]
    known = {f"  {found.kind}: {found.key}": found.is_damage for found in report.findings}
    for text in others:
        style = next((styles[known[start]] for start in known if text.startswith(start)), "")
        lines.append(Text(text, style))
    return lines


def bench(
    place: Place,
    *,
    path: Path = None,
    threads: Annotated[
        list[int] | None,
        typer.Option("--threads", "-t", min=1, help="Threads; repeatable. By default 1, 2, 4 ..."),
    ] = None,
    size: Annotated[
        str, typer.Option(metavar="SIZE", help="How much of each array to read.")
    ] = "256MiB",
    codec: Annotated[
        list[str] | None,
        typer.Option("--codec", "-c", metavar="CODEC", help="Try this codec, too, in memory."),
    ] = None,
    option: Options = None,
    json: Json = False,
) -> None:
    """Measure how fast a store is read here.

    By number of threads, beside zarr-python where it is installed.
    """
    tried = [(text, codecs([text], "codec")) for text in codec or ()]
    budget = parse_size(size, "size")
    rows = list(measure(node_at(place, path, option), threads, budget, tried))
    if json:
        emit([row.to_json() for row in rows])
        return
    head = ("array", "codecs", "library", "threads", "MiB/s", "read", "ratio")
    show(columns(map(_row, rows), ["bold"], head))


def _row(row: Measured) -> tuple[str, ...]:
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    threads = "" if row.threads is None else str(row.threads)
    speed = f"{row.nbytes / row.seconds / 2**20:.0f}"
    return row.array, row.codecs, row.library, threads, speed, shown_size(row.nbytes), ratio
