"""`convert` and `rechunk`: the functions that users call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from blazarr.conversion.changes import KEEP, Changes
from blazarr.conversion.executors import Executor, Here
from blazarr.conversion.journal import Journal
from blazarr.conversion.plan import Plan
from blazarr.conversion.planning import make_plan
from blazarr.conversion.running import Run
from blazarr.conversion.sizes import parse_size
from blazarr.conversion.sources import Source, open_source
from blazarr.conversion.sources.opening import opened
from blazarr.engine.events import Listener, Progress
from blazarr.errors import BlazarrError, ExistsError
from blazarr.nodes import Array, Group, StorePath, documents, opening
from blazarr.nodes.location import nested
from blazarr.show.progress import listener_of
from blazarr.stores import ZipStore
from blazarr.stores.base import file_location

MAX_MEMORY: Final = "1GiB"


def convert(
    source: Any,
    target: Any,
    *,
    path: str | None = None,
    target_path: str | None = None,
    zarr_format: int | None = None,
    chunks: Any = KEEP,
    shards: Any = KEEP,
    filters: Any = KEEP,
    serializer: Any = KEEP,
    compressors: Any = KEEP,
    chunk_key_encoding: Any = None,
    storage_options: dict[str, Any] | None = None,
    target_options: dict[str, Any] | None = None,
    overwrite: bool = False,
    max_memory: int | str = MAX_MEMORY,
    scratch: Any = None,
    verify: bool = False,
    dry_run: bool = False,
    progress: bool | Callable[[Progress], object] = False,
    executor: Executor | None = None,
) -> Array | Group | Plan:
    """Copy an array or a hierarchy, to other chunks, codecs, another format or store.

    What is not named stays as it is; where that lets the stored chunks stay as they are, they are
    copied without being decoded. A call that was killed goes on where it was when it is made
    again: a journal lies in the target until it is complete. The target can't be opened before.

    Parameters
    ----------
    source
        An `Array` or `Group`, anything that `blazarr.open` takes, or an HDF5, NetCDF 4 or TIFF
        file. Another process must not change it meanwhile.
    target
        Anything that `blazarr.open` takes.
    path, target_path
        Paths in the two stores.
    zarr_format, chunks, shards, filters, serializer, compressors, chunk_key_encoding
        What shall be different, as for `blazarr.create_array`. `chunks` and `shards` may be a
        dictionary of sizes by names of dimensions; sizes by position are for arrays of as many
        dimensions, and other arrays of a hierarchy keep theirs.
    storage_options, target_options
        Options of the two stores.
    overwrite
        Delete what is at the target; otherwise that is an error.
    max_memory
        The most that this may take in a process, beyond what it takes anyhow: bytes, or text such
        as ``"512MiB"``.
    scratch
        Where intermediate arrays go, if they are needed; by default into the target.
    verify
        Compare all elements before the target appears.
    dry_run
        Do nothing, and return the plan.
    progress
        True shows progress on standard error if that is a terminal; a function gets each
        `blazarr.engine.events.Progress`.
    executor
        Who does the work, such as `blazarr.distributed.DaskExecutor`; this process by default.

    Returns
    -------
    Array, Group or Plan
        The target, open for reading; the plan with `dry_run`.

    Raises
    ------
    ExistsError
        Something else is at the target.
    LimitError
        `max_memory` is too small for even one stored object of the target.
    CorruptError
        A chunk of the source is damaged, or `verify` found a difference (kind ``"verify"``).
    """
    changes = Changes(
        zarr_format=zarr_format,
        chunks=chunks,
        shards=shards,
        filters=filters,
        serializer=serializer,
        compressors=compressors,
        chunk_key_encoding=chunk_key_encoding,
    )
    conversion = Conversion(
        open_source(source, path, storage_options),
        opening.locate(target, target_path, None, target_options),
        changes,
        parse_size(max_memory, "max_memory"),
        None if scratch is None else StorePath.locate(scratch),
    )
    plan = conversion.plan()
    if dry_run:
        return plan
    listener = listener_of(progress)
    conversion.run(plan, executor or Here(), listener, overwrite=overwrite, verify=verify)
    return opened(opening.locate(target, target_path, None, target_options))


def rechunk(
    source: Any, target: Any, chunks: Any, *, shards: Any = None, **options: Any
) -> Array | Group | Plan:
    """Copy an array or a hierarchy to other chunks.

    Parameters
    ----------
    source, target
        As for `convert`.
    chunks, shards
        Shape of the chunks, and of the shards if there shall be any.
    **options
        Other arguments of `convert`.
    """
    return convert(source, target, chunks=chunks, shards=shards, **options)


@dataclass(frozen=True)
class Conversion:
    """A source, a target, and what shall be different.

    Attributes
    ----------
    source, target, changes
        What it says.
    budget
        The most bytes that may be held at once.
    scratch
        Where intermediate arrays go; None is in the target.
    """

    source: Source
    target: StorePath
    changes: Changes
    budget: int
    scratch: StorePath | None

    def plan(self) -> Plan:
        """Return the plan."""
        detours = self.scratch is not None or self._keeps_journal
        return make_plan(self.source, self.target, self.changes, self.budget, detours=detours)

    @property
    def _keeps_journal(self) -> bool:
        # An archive that was not finished is none, so there is nothing to go on with.
        return not isinstance(self.target.store, ZipStore)

    def run(
        self,
        plan: Plan,
        executor: Executor,
        listener: Listener | None,
        *,
        overwrite: bool = False,
        verify: bool = False,
    ) -> None:
        """Run the plan.

        Parameters
        ----------
        plan
            The plan.
        executor
            Who does it.
        listener
            Who is told how far it is.
        overwrite, verify
            As for `convert`.
        """
        self.target.require_writable()
        _refuse_overlap(self.source, self.target)
        journal = self._journal(plan, overwrite=overwrite)
        scratch = self.scratch or journal.folder
        run = Run(plan, self.source, self.target, scratch, journal, executor, listener)
        run.copy()
        if verify:
            run.verify()
        run.commit()

    def _journal(self, plan: Plan, *, overwrite: bool) -> Journal:
        journal = Journal(self.target, plan.identity, self._keeps_journal)
        try:
            goes_on = journal.load()
        except ExistsError:
            if not overwrite:
                raise
            goes_on = False
        if not goes_on:
            self._make_room(plan, overwrite=overwrite)
            journal = Journal(self.target, plan.identity, self._keeps_journal)
        journal.save()
        return journal

    def _make_room(self, plan: Plan, *, overwrite: bool) -> None:
        documents.missing_parents(self.target, plan.zarr_format)
        if overwrite:
            self.target.delete_all()
        elif not self.target.is_empty():
            raise ExistsError(
                f"there is something at {self.target} already; use overwrite=True to replace it",
                store=str(self.target.store),
                key=self.target.path,
            )


def _refuse_overlap(source: Source, target: StorePath) -> None:
    places = [source.place, *(array.place for array in source.arrays.values())]
    inside = any(place is not None and place.overlaps(target) for place in places)
    if inside or _holds(target, source.file):
        raise BlazarrError(
            f"{target} and the source {source.name} are one inside of the other; convert to "
            "another place, and move it afterwards",
            argument="target",
        )


def _holds(target: StorePath, file: Path | None) -> bool:
    location = target.store.location(target.path)
    return file is not None and location is not None and nested(file_location(file), location)
