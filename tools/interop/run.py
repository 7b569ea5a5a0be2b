"""Exchange arrays with other implementations of Zarr, both ways, and write docs/interop-table.md.

    python tools/interop/run.py [--python-only]

Each case is an array of one data type, codec and format. blazarr writes it and the peer reads it;
the peer writes it and blazarr reads it; values have to be equal. Where a peer refuses what blazarr
wrote, zarr-python's array of the same case is put before it: if it takes that, blazarr is at fault.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cases import CODECS, Case, cases
from peers import ALL_PEERS, PYTHON_PEERS, Peer, Zarrita, ZarrPython, same

import blazarr

REPORT = Path(__file__).parent.parent.parent / "docs" / "interop-table.md"

# Characters of an error that are shown; more data types than `MANY` are counted, and of more codecs
# than are left out, when those are `FEW`, the latter are listed.
TEXT, MANY, FEW = 110, 8, 5

OK, WRONG, FAULT, LACKS = "ok", "wrong values", "fault", "lacks"


@dataclass(frozen=True)
class Result:
    """What came of a case: with whom, in which direction, how, and what was said."""

    peer: str
    direction: str
    case: Case
    outcome: str
    said: str = ""


def exchange(peer: Peer, case: Case, ours: Path, control: Path, folder: Path) -> list[Result]:
    """Let a peer read what blazarr wrote, and blazarr what the peer writes."""
    reads, said = _reads(peer, case, ours)
    if reads == LACKS and control.exists() and _reads(peer, case, control)[0] == OK:
        reads = FAULT
    writes, also_said = _written(peer, case, folder)
    return [
        Result(peer.name, "reads", case, reads, said),
        Result(peer.name, "writes", case, writes, also_said),
    ]


def _reads(peer: Peer, case: Case, path: Path) -> tuple[str, str]:
    try:
        found = peer.read(path, case)
    except Exception as error:  # noqa: BLE001 - of any kind, for peers have errors of their own
        return LACKS, _shown(error)
    return (OK, "") if same(found, case.values()) else (WRONG, "")


def _written(peer: Peer, case: Case, folder: Path) -> tuple[str, str]:
    try:
        path = peer.write(folder, case)
    except Exception as error:  # noqa: BLE001 - of any kind, for peers have errors of their own
        return LACKS, _shown(error)
    try:
        found = blazarr.open_array(path, mode="r")[...]
    except blazarr.errors.BlazarrError as error:
        return FAULT, _shown(error)
    if same(found, case.values()):
        return OK, ""
    # Equal by their bytes: NaN is no number's equal.
    if np.asarray(peer.read(path, case)).tobytes() == np.asarray(found).tobytes():
        return LACKS, "the peer itself reads other values than it was given to write"
    return WRONG, ""


def _shown(error: Exception) -> str:
    """Return what an error says, without paths and places in a source; the end says most."""
    text = " ".join(str(error).split())
    text = re.sub(r"\[(source locations|tensorstore_spec|domain)=.*", "", text)
    text = re.sub(r"""["'`]?\S*/tmp\S*["'`]?""", "...", text)
    return text if len(text) <= TEXT else f"... {text[-TEXT:]}"


def run(peers: Iterable[Peer], wanted: Iterable[Case], root: Path) -> list[Result]:
    """Exchange all of the cases with all of the peers."""
    peers = list(peers)
    results = []
    for case in wanted:
        ours, control = root / "blazarr" / case.folder, root / "control" / case.folder
        case.create(ours)[...] = case.values()
        try:
            ZarrPython().write(control, case)
        except Exception:  # noqa: BLE001 - zarr-python hasn't got everything
            control = root / "none"
        for peer in peers:
            results += exchange(peer, case, ours, control, root / peer.name / case.folder)
    return results


def page(peers: list[Peer], results: list[Result]) -> str:
    """Return the page."""
    versions = ", ".join(f"{peer.name} {peer.version}" for peer in peers)
    count = Counter(result.outcome for result in results)
    summary = (
        f"{len(results)} exchanges: {count[OK]} with equal values, {count[WRONG]} with others, "
        f"{count[FAULT]} refused by a fault of blazarr, {count[LACKS]} that the peer has no way to do."
    )
    return "\n".join(
        [
            "# Arrays exchanged with other implementations",
            "",
            f"blazarr {blazarr.__version__} with {versions}. Written by `make interop`.",
            "",
            summary,
            "",
            "*reads*: blazarr wrote, the peer read. *writes*: the peer wrote, with metadata of its own, and blazarr",
            "read. A cell counts the cases with equal values among all; the rest is what the peer lacks. A peer that",
            "refuses what blazarr wrote is also shown zarr-python's array of the same kind; if it took that, it would",
            "count as a fault of blazarr. zarr-java is not here: what it depends on is not in Maven Central.",
            "",
            "## By codec",
            "",
            *_table(
                peers, results, "format, codec", lambda case: f"v{case.zarr_format} {case.codec}"
            ),
            "",
            "## By data type",
            "",
            *_table(peers, results, "data type", lambda case: f"`{case.dtype}`"),
            "",
            "## What peers lack",
            "",
            *_lacking(results),
            "",
            "## Faults",
            "",
            *(_faults(results) or ["None."]),
            "",
        ]
    )


def _table(
    peers: list[Peer], results: list[Result], head: str, key: Callable[[Case], str]
) -> list[str]:
    columns = [(peer.name, way) for peer in peers for way in ("reads", "writes")]
    lines = [
        f"| {head} | " + " | ".join(f"{name} {way}" for name, way in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for row in dict.fromkeys(key(result.case) for result in results):
        cells = []
        for column in columns:
            here = [r for r in results if key(r.case) == row and (r.peer, r.direction) == column]
            equal = sum(result.outcome == OK for result in here)
            bad = sum(result.outcome in {WRONG, FAULT} for result in here)
            cells.append(f"{equal}/{len(here)}" + (f" **{bad} bad**" if bad else ""))
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return lines


def _lacking(results: list[Result]) -> list[str]:
    """Return a line for each thing that a peer says, with the cases it says it of."""
    said: dict[tuple[str, str, str], list[Case]] = defaultdict(list)
    for result in results:
        if result.outcome == LACKS:
            said[result.peer, result.direction, result.said].append(result.case)
    return [
        f"- {peer} {direction} not: {_summed(found)} ({text})"
        for (peer, direction, text), found in sorted(said.items(), key=lambda item: item[0])
    ]


def _summed(found: list[Case]) -> str:
    dtypes = ", ".join(f"`{dtype}`" for dtype in dict.fromkeys(case.dtype for case in found))
    listed = ", ".join(
        f"v{number} {_codecs(number, [case.codec for case in found if case.zarr_format == number])}"
        for number in sorted({case.zarr_format for case in found})
    )
    many = len({case.dtype for case in found})
    return f"{listed}: {f'{many} data types' if many > MANY else dtypes}"


def _codecs(zarr_format: int, found: list[str]) -> str:
    others = [codec for codec in CODECS[zarr_format] if codec not in found]
    if not others:
        return "with all codecs"
    if len(others) <= FEW:
        return f"with all codecs but {', '.join(others)}"
    return ", ".join(dict.fromkeys(found))


def _faults(results: list[Result]) -> list[str]:
    return [
        f"- {result.peer} {result.direction} {result.case.name}: {result.outcome} {result.said}"
        for result in results
        if result.outcome in {WRONG, FAULT}
    ]


def main() -> int:
    """Exchange, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--python-only", action="store_true", help="without GDAL and Node; writes no page"
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        peers = [make() for make in (PYTHON_PEERS if arguments.python_only else ALL_PEERS)]
        for peer in peers:
            if isinstance(peer, Zarrita):
                stack.enter_context(closing(peer))
        results = run(peers, cases(), Path(name))
        text = page(peers, results)
    print(text)
    if not arguments.python_only:
        REPORT.write_text(text, encoding="utf-8")
    return any(result.outcome in {WRONG, FAULT} for result in results)


if __name__ == "__main__":
    sys.exit(main())
