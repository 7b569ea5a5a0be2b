"""Functions that copy arrays, groups and stores; arguments are those of zarr-python 2.

zarr-python 3 has these names, and raises ``NotImplementedError``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from blazarr.nodes import copying, opening
from blazarr.nodes.array import Array
from blazarr.nodes.copying import Copied, Options
from blazarr.nodes.group import Group

IfExists = Literal["raise", "replace", "skip", "skip_initialized"]


def copy(
    source: Array | Group,
    dest: Group,
    name: str | None = None,
    *,
    shallow: bool = False,
    without_attrs: bool = False,
    log: Any = None,
    if_exists: IfExists = "raise",
    dry_run: bool = False,
    **create_kws: Any,
) -> Copied:
    """Copy an array, or a group with everything below it, into a group.

    Parameters
    ----------
    source
        What to copy.
    dest
        Where to; the copy has its format.
    name
        Path of the copy below `dest`; by default the last part of the source's.
    shallow
        Of a group, copy only the arrays directly in it.
    without_attrs
        Leave the user attributes out.
    log
        Called with a line for each node, or a file to write the lines to.
    if_exists
        ``"raise"``, ``"replace"`` or ``"skip"`` what is there already; ``"skip_initialized"``
        skips arrays of which every chunk is stored. Groups that are there are filled.
    dry_run
        Say what would be done, and do nothing.
    **create_kws
        Arguments of `from_array` for the copies.

    Returns
    -------
    Copied
        Numbers of nodes copied and skipped, and the bytes of the values copied.
    """
    options = Options(
        zarr_format=dest.metadata.zarr_format,
        shallow=shallow,
        without_attrs=without_attrs,
        log=log,
        if_exists=if_exists,
        dry_run=dry_run,
        create=create_kws,
    )
    place = dest.store_path.below(source.basename if name is None else name)
    return copying.copy_nodes([(source, place)], options)


def copy_all(
    source: Group,
    dest: Group,
    *,
    shallow: bool = False,
    without_attrs: bool = False,
    log: Any = None,
    if_exists: IfExists = "raise",
    dry_run: bool = False,
    **create_kws: Any,
) -> Copied:
    """Copy the members of a group into another group; arguments and result are those of `copy`."""
    options = Options(
        zarr_format=dest.metadata.zarr_format,
        shallow=shallow,
        without_attrs=without_attrs,
        log=log,
        if_exists=if_exists,
        dry_run=dry_run,
        create=create_kws,
    )
    pairs = [(node, dest.store_path / name) for name, node in source.members()]
    return copying.copy_nodes(pairs, options)


def copy_store(
    source: Any,
    dest: Any,
    source_path: str = "",
    dest_path: str = "",
    *,
    excludes: str | Iterable[str] | None = None,
    includes: str | Iterable[str] | None = None,
    flags: int = 0,
    if_exists: Literal["raise", "replace", "skip"] = "raise",
    dry_run: bool = False,
    log: Any = None,
) -> Copied:
    """Copy what is stored, key by key, without decoding it.

    Parameters
    ----------
    source, dest
        As for `open`.
    source_path, dest_path
        Paths in them.
    excludes, includes
        Regular expressions: a key that matches one of `excludes` and none of `includes` is left.
    flags
        Flags of the regular expressions.
    if_exists, dry_run, log
        As for `copy`.

    Returns
    -------
    Copied
        Numbers of keys copied and skipped, and the bytes copied.
    """
    return copying.copy_keys(
        opening.locate(source, source_path, None, None),
        opening.locate(dest, dest_path, None, None),
        copying.matcher(includes, excludes, flags),
        if_exists,
        dry_run=dry_run,
        log=log,
    )
