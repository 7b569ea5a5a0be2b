"""Copies of arrays, hierarchies and stores, in the way of zarr-python 2."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from blazarr.errors import BlazarrError, ExistsError
from blazarr.metadata import ArrayMetadata, GroupMetadata
from blazarr.nodes import creation, documents
from blazarr.nodes.array import Array
from blazarr.nodes.group import Group
from blazarr.nodes.location import StorePath
from blazarr.nodes.request import ArrayRequest

IF_EXISTS = ("raise", "replace", "skip", "skip_initialized")

_KEPT = dict.fromkeys(("chunks", "shards", "filters", "compressors", "serializer"), "keep")


class Copied(NamedTuple):
    """How many nodes (or keys) were copied and skipped, and the bytes of what was copied."""

    copied: int
    skipped: int
    nbytes: int


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to copy; the fields but the first are arguments of `blazarr.copy`."""

    zarr_format: int
    shallow: bool = False
    without_attrs: bool = False
    log: Any = None
    if_exists: str = "raise"
    dry_run: bool = False
    create: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_if_exists(self.if_exists, IF_EXISTS)


@dataclass(frozen=True)
class _Step:
    source: Array | Group
    place: StorePath
    skip: bool
    replaces: bool = False


def copy_nodes(pairs: Iterable[tuple[Array | Group, StorePath]], options: Options) -> Copied:
    """Copy nodes, with what is below them.

    Parameters
    ----------
    pairs
        Each node, and where the copy shall be.
    options
        How to copy.
    """
    # Everything that can be refused is refused before anything is copied.
    pairs = list(pairs)
    steps = [
        _step(node, place, options)
        for source, dest in pairs
        for node, place in _nodes(source, dest, shallow=options.shallow)
    ]
    for step in steps:
        for source, _ in pairs if step.replaces else ():
            creation.refuse_overlap(source.store_path, step.place)
    say = _sayer(options.log)
    for step in steps:
        say(f"{'skip' if step.skip else 'copy'} {_described(step.source)}")
        if not step.skip and not options.dry_run:
            _copy(step, options)
    done = [step.source for step in steps if not step.skip]
    return Copied(
        len(done),
        len(steps) - len(done),
        0 if options.dry_run else sum(node.nbytes for node in done if isinstance(node, Array)),
    )


def copy_keys(
    source: StorePath,
    dest: StorePath,
    wanted: Callable[[str], bool],
    if_exists: str,
    *,
    dry_run: bool,
    log: Any,
) -> Copied:
    """Copy what lies under keys, without looking into it.

    Parameters
    ----------
    source, dest
        What the keys begin with, here and there.
    wanted
        Whether to copy a key of the source.
    if_exists, dry_run, log
        As for `blazarr.copy_store`.
    """
    _check_if_exists(if_exists, IF_EXISTS[:3])
    dest.require_writable()
    keys = [key for key, _ in source.entries() if wanted(key)]
    targets = {key: dest.prefix + key.removeprefix(source.prefix) for key in keys}
    there = {key for key, target in targets.items() if dest.store.size(target) is not None}
    if there and if_exists == "raise":
        raise ExistsError(f"{targets[min(there)]!r} is in {dest.store} already")
    if there and if_exists == "replace":
        creation.refuse_overlap(source, dest)
    skipped = there if if_exists == "skip" else set()
    say, nbytes = _sayer(log), 0
    for key in keys:
        say(f"{'skip' if key in skipped else 'copy'} {key}")
        if key not in skipped and not dry_run and (found := source.store.get(key)) is not None:
            dest.store.put(targets[key], found[0])
            nbytes += len(found[0])
    return Copied(len(keys) - len(skipped), len(skipped), nbytes)


def matcher(includes: Any, excludes: Any, flags: int) -> Callable[[str], bool]:
    """Return the test of a key that `blazarr.copy_store` describes.

    Parameters
    ----------
    includes, excludes
        One regular expression, several, or None.
    flags
        Their flags.
    """

    def patterns(given: Any) -> list[re.Pattern[str]]:
        listed = [given] if isinstance(given, str) else given or ()
        return [re.compile(pattern, flags) for pattern in listed]

    included, excluded = patterns(includes), patterns(excludes)

    def wanted(key: str) -> bool:
        return any(pattern.search(key) for pattern in included) or not any(
            pattern.search(key) for pattern in excluded
        )

    return wanted


def _check_if_exists(given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise BlazarrError(f"if_exists must be one of {known}, not {given!r}", argument="if_exists")


def _nodes(
    source: Array | Group, dest: StorePath, *, shallow: bool
) -> Iterator[tuple[Array | Group, StorePath]]:
    yield source, dest
    if isinstance(source, Group):
        found = source.arrays() if shallow else source.members(None)
        for path, node in found:
            yield node, dest / path


def _step(source: Array | Group, place: StorePath, options: Options) -> _Step:
    place.require_writable()
    existing = documents.read_node(place, options.zarr_format)
    both_groups = isinstance(existing, GroupMetadata) and isinstance(source, Group)
    if both_groups or (existing is None and place.is_empty()):
        return _Step(source, place, skip=False)
    if options.if_exists == "replace":
        return _Step(source, place, skip=False, replaces=True)
    if options.if_exists == "raise":
        raise ExistsError(f"there is something at {place} already; see if_exists", key=place.path)
    if options.if_exists == "skip_initialized" and isinstance(existing, ArrayMetadata):
        there = Array(existing, place)
        complete = there.nchunks_initialized == there.nchunks
        return _Step(source, place, skip=complete, replaces=not complete)
    return _Step(source, place, skip=True)


def _copy(step: _Step, options: Options) -> None:
    source, place = step.source, step.place
    attributes = {} if options.without_attrs else dict(source.metadata.attributes)
    if isinstance(source, Array):
        given = {**_KEPT, "attributes": attributes, **options.create}
        given["zarr_format"] = options.zarr_format
        request = ArrayRequest(shape=None, dtype=None, **given)
        creation.from_array(place, request, data=source, overwrite=True)
        return
    existing = documents.read_node(place, options.zarr_format)
    if isinstance(existing, GroupMetadata):
        Group(existing, place).attrs.update(attributes)
    else:
        Group.from_store(
            place, attributes=attributes, zarr_format=options.zarr_format, overwrite=True
        )


def _described(node: Array | Group) -> str:
    return f"{node.name} {node.shape} {node.dtype}" if isinstance(node, Array) else node.name


def _sayer(log: Any) -> Callable[[str], object]:
    if log is None:
        return lambda _: None
    return log if callable(log) else lambda line: log.write(f"{line}\n")
