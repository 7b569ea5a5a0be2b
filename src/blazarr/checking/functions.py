"""`check`: the function that users call."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from blazarr.checking import inventory, leftovers
from blazarr.checking.chunks import CheckBox
from blazarr.checking.findings import ArrayReport, Finding, Report
from blazarr.checking.inventory import Inventory
from blazarr.config import config
from blazarr.conversion.boxes import nbytes
from blazarr.conversion.choosing import direct
from blazarr.conversion.executors import Executor, Here
from blazarr.conversion.layouts import side_of
from blazarr.conversion.planning import threads_within
from blazarr.conversion.sizes import parse_size
from blazarr.engine.events import Meter, Progress
from blazarr.errors import BlazarrError
from blazarr.metadata import ArrayMetadata
from blazarr.nodes import Array, StorePath, layout, opening
from blazarr.show.progress import listener_of

_CHECKSUMS: Final = ("crc32", "adler32", "fletcher32", "jenkins_lookup3", "gzip", "zlib")


def check(
    store: Any,
    *,
    path: str | None = None,
    data: bool = True,
    complete: bool = False,
    clean: bool = False,
    storage_options: dict[str, Any] | None = None,
    max_memory: int | str = "1GiB",
    progress: bool | Callable[[Progress], object] = False,
    executor: Executor | None = None,
) -> Report:
    """Check an array or a hierarchy: metadata, every chunk, and what does not belong there.

    Parameters
    ----------
    store, path, storage_options
        As for `blazarr.open`.
    data
        Whether to decode every chunk; checksums are verified thereby.
    complete
        Whether a chunk that is not stored is a fault. (It reads as the fill value.)
    clean
        Remove the leftovers that were found, and nothing else.
    max_memory, progress, executor
        As for `blazarr.convert`.

    Returns
    -------
    Report
        What was found.

    Raises
    ------
    NotFoundError
        Nothing is there.
    """
    place = opening.locate(store, path, "r" if not clean else None, storage_options)
    if clean:
        place.require_writable()
    found = inventory.take(place)
    findings = list(found.findings)
    locks = list(leftovers.lock_files(place))
    findings += [Finding(key, "leftover", "of a writer that was killed") for key in locks]
    if complete:
        findings += _missing(found)
    if data:
        findings += _check_data(found, parse_size(max_memory, "max_memory"), progress, executor)
    return Report(
        store=str(place),
        groups=len(found.nodes) - len(_arrays(found)),
        arrays=tuple(_report(found, path, node) for path, node in sorted(_arrays(found).items())),
        findings=tuple(sorted(set(findings))),
        removed=tuple(_clean(place, locks, found.leftovers)) if clean else (),
    )


def _arrays(found: Inventory) -> dict[str, ArrayMetadata]:
    return {path: node for path, node in found.nodes.items() if isinstance(node, ArrayMetadata)}


def _handle(found: Inventory, path: str, metadata: ArrayMetadata) -> Array:
    return Array(metadata, found.place.child(path) if path else found.place)


def _check_data(
    found: Inventory,
    budget: int,
    progress: bool | Callable[[Progress], object],
    executor: Executor | None,
) -> list[Finding]:
    findings: list[Finding] = []
    arrays: dict[str, Array] = {}
    for path, metadata in sorted(_arrays(found).items()):
        array = _handle(found, path, metadata)
        try:
            array.check_codecs()
        except BlazarrError as error:
            findings.append(Finding(array.path, error.kind, error.message))
        else:
            arrays[path] = array
    wanted = len(os.sched_getaffinity(0))
    sides = [side_of(array.metadata) for array in arrays.values()]
    threads = min((threads_within(s, s, budget, wanted) for s in sides), default=wanted)
    tasks = [
        task
        for path, array in arrays.items()
        for task in _boxes(found, path, array, budget, threads)
    ]
    with config.set({"threading.max_workers": threads}):
        return findings + _decode(tasks, progress, executor)


def _decode(
    tasks: list[CheckBox],
    progress: bool | Callable[[Progress], object],
    executor: Executor | None,
) -> list[Finding]:
    findings: list[Finding] = []
    sizes = [nbytes(task.region, task.array.dtype.itemsize) for task in tasks]
    meter = Meter(listener_of(progress), "check", sum(sizes))
    try:
        for number, damaged in (executor or Here()).run(enumerate(tasks)):
            findings += damaged
            meter.add(sizes[number])
    finally:
        meter.finish()
    return findings


def _boxes(
    found: Inventory, path: str, array: Array, budget: int, threads: int
) -> Iterator[CheckBox]:
    side = side_of(array.metadata)
    boxes = direct(side, side, budget, threads).boxes
    if found.stored is None:
        numbers = set(range(len(boxes)))
    else:
        places = found.stored[path].places
        numbers = {n for place in places for n in boxes.touched(side.objects.region_at(place))}
    return (CheckBox(array, boxes.region(number)) for number in sorted(numbers))


def _missing(found: Inventory) -> Iterator[Finding]:
    for path, metadata in sorted(_arrays(found).items()):
        if found.stored is None:
            continue
        array, stored = _handle(found, path, metadata), found.stored[path].places
        for place in side_of(metadata).objects.all_places():
            if place not in stored:
                key = array.store_path.prefix + metadata.chunk_key_encoding.encode(place)
                yield Finding(key, "missing", "is not stored and reads as the fill value")


def _report(found: Inventory, path: str, metadata: ArrayMetadata) -> ArrayReport:
    stored = None if found.stored is None else found.stored[path]
    return ArrayReport(
        path=path,
        objects=math.prod(layout.grid_shape(metadata)),
        stored=None if stored is None else len(stored.places),
        nbytes_stored=None if stored is None else stored.nbytes,
        checksums=_has_checksums(metadata),
    )


def _has_checksums(metadata: ArrayMetadata) -> bool:
    """Return whether damage of a chunk's bytes is noticed: by a codec of checksums, or zstd's own."""
    codec = layout.sharding(metadata)
    inner = () if codec is None else codec.configuration.get("codecs", ())
    specs = [spec.to_json() for spec in metadata.codecs] if codec is None else inner
    # What stands inside of a shard has not been looked at yet, and may be anything.
    members = [spec if isinstance(spec, dict) else {"name": str(spec)} for spec in specs]
    return any(
        str(member.get("name")).removeprefix("numcodecs.").startswith(_CHECKSUMS)
        or (member.get("name") == "zstd" and _configuration(member).get("checksum"))
        for member in members
    )


def _configuration(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    found = spec.get("configuration")
    return found if isinstance(found, Mapping) else {}


def _clean(place: StorePath, locks: list[str], others: list[str]) -> Iterator[str]:
    for key in locks:
        if leftovers.remove_lock(place, key):
            yield key
    for key in others:
        if place.store.delete(key):
            yield key
