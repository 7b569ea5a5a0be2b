"""Functions for the metadata of stored hierarchies: validate, repair, migrate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blazarr.metadata.document import decode
from blazarr.metadata.validation import Problem, problems_in
from blazarr.nodes import upkeep
from blazarr.nodes.location import StorePath
from blazarr.nodes.upkeep import Repair

__all__ = ["Problem", "Repair", "migrate", "repair", "validate"]


def validate(
    source: Any,
    *,
    path: str | None = None,
    strict: bool = False,
    storage_options: dict[str, Any] | None = None,
) -> tuple[Problem, ...]:
    """Return every problem of metadata documents, each with its place.

    Parameters
    ----------
    source
        A folder, URL or store, all of whose nodes are looked at; or one document, as bytes or decoded; or one node's
        documents by the names of their keys.
    path
        Path in the store, of what to look at.
    strict
        Report everything that the specifications forbid (needs zarr-metadata); otherwise what keeps blazarr from reading.
    storage_options
        Options of a remote store.

    Returns
    -------
    tuple of Problem
        Empty where nothing is wrong.

    Raises
    ------
    UnsupportedError
        If `strict` and zarr-metadata is not installed.
    """
    documents = _documents(source)
    if documents is not None:
        return problems_in(documents, strict=strict)
    place = StorePath.locate(source, path, "r", storage_options)
    return tuple(upkeep.problems(place, strict=strict))


def _documents(source: Any) -> Mapping[str, Any] | None:
    """Return the documents that `source` is or holds; None where it is a place."""
    if isinstance(source, bytes):
        return {_name(decode(source)): source}
    if not isinstance(source, Mapping):
        return None
    if source.keys() & set(upkeep.NAMES):
        return source
    marks = {"zarr_format", "zarr_consolidated_format"}
    return {_name(source): source} if source.keys() & marks else None


def _name(document: Mapping[str, Any]) -> str:
    if "zarr_consolidated_format" in document:
        return ".zmetadata"
    if document.get("zarr_format") == 2:
        return ".zarray" if "shape" in document else ".zgroup"
    return "zarr.json"


def repair(
    store: Any,
    *,
    path: str | None = None,
    apply: bool = False,
    storage_options: dict[str, Any] | None = None,
) -> tuple[Repair, ...]:
    """Find metadata documents that earlier releases or other writers stored wrongly, and rewrite them if asked to.

    Known are chunk sizes true, and 0 or false along an empty axis, early spellings of codecs, fill values that do not suit their data type, bare NaN
    in fill values, missing members, nulls where a member should be absent. All of these are read as they are; repaired, they
    are read by others too. Documents that can't be read at all are left alone; `validate` names them.

    Parameters
    ----------
    store
        A folder, URL or store.
    path
        Path in it; everything below is looked at.
    apply
        Write the valid documents. Each is written only if nobody has changed it meanwhile.
    storage_options
        Options of a remote store.

    Returns
    -------
    tuple of Repair
        What was wrong: key, places, and the document before and after.
    """
    place = StorePath.locate(store, path, "r+" if apply else "r", storage_options)
    return tuple(upkeep.repairs(place, apply=apply))


def migrate(
    store: Any,
    *,
    path: str | None = None,
    dry_run: bool = False,
    remove_v2: bool = False,
    storage_options: dict[str, Any] | None = None,
) -> list[str]:
    """Bring a hierarchy of format 2 to format 3 in place.

    Each node gets a ``zarr.json`` beside its documents of format 2. Chunks stay what and where they are: the new metadata
    describes their keys with the ``v2`` chunk key encoding. Nothing is written before every node is known to be describable.
    The top is written last, so that a migration that was interrupted leaves a hierarchy of format 2, and can be called again.

    Parameters
    ----------
    store
        A folder, URL or store.
    path
        Path in it; everything below is migrated.
    dry_run
        Write nothing.
    remove_v2
        Delete the documents of format 2 when all of format 3 are written. Chunks are never deleted.
    storage_options
        Options of a remote store.

    Returns
    -------
    list of str
        Keys of the new documents.

    Raises
    ------
    UnsupportedError
        If format 3 can't describe an array exactly.
    ExistsError
        If another ``zarr.json`` is there already.
    NotFoundError
        If there is no node of format 2.
    """
    from blazarr.nodes import migration

    place = StorePath.locate(store, path, "r" if dry_run else "r+", storage_options)
    return migration.migrate(place, dry_run=dry_run, remove_v2=remove_v2)
