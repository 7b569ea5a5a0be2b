"""Time blazarr beside the other Zarr libraries, on one machine in one run.

    python benchmarks/run.py [--mib 64] [--repeats 5] [--match read-full] [--dir FOLDER]

All read the same stores, which zarr-python wrote; all write the same data. They take turns (A B C, A B C, ...), and a
ratio is the median of the ratios turn by turn, so that a machine's drift cancels. Every value read is checked; what was
written is read back by zarr-python. Prints a table and how long all of it took, and writes into benchmarks/results
DATE-VERSION.json, and from it table.md and plot.svg.
"""

import argparse
import dataclasses
import gc
import importlib.metadata
import json
import math
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from cases import MIB, Case, cases, expected, smooth_field
from contender import Contender
from peers import ZarrPython, installed_peers
from plot import draw

RESULTS = Path(__file__).parent / "results"
OURS = "blazarr"
PACKAGES = ("blazarr", "zarr", "zarrs", "tensorstore", "numcodecs", "numpy")
# Short operations are timed in rounds: many calls, the mean of one taken.
CALLS = {"open": 100, "read-small": 50}


class WrongValuesError(Exception):
    """A library returned or stored something else than it was given."""


def seconds(action: Callable[[], Any], calls: int = 1) -> tuple[float, Any]:
    """Return the time of one call in a round of `calls`, and the last result."""
    gc.collect()
    start = time.perf_counter()
    for _ in range(calls):
        result = action()
    return (time.perf_counter() - start) / calls, result


def require_equal(values: Any, wanted: np.ndarray) -> None:
    if not np.array_equal(np.asarray(values), wanted):
        raise WrongValuesError("wrong values")


@dataclasses.dataclass
class Stores:
    """Folders of arrays to read, written by zarr-python; one is kept at a time."""

    root: Path
    data: np.ndarray
    layout: str | None = None

    def path(self, case: Case) -> Path:
        folder = self.root / "source"
        if self.layout != case.layout:
            shutil.rmtree(folder, ignore_errors=True)
            ZarrPython().write(folder, dataclasses.replace(case, op="write-full"), self.data)
            self.layout = case.layout
        return folder


def time_once(library: Any, case: Case, stores: Stores, wanted: np.ndarray) -> float:
    """Return the seconds that one library takes for one case."""
    if case.op.startswith("write"):
        return time_write(library, case, stores, wanted)
    path = stores.path(case)
    if case.op == "open":
        return seconds(lambda: library.open(path, case), CALLS["open"])[0]
    array = library.open(path, case)
    if case.op == "read-into":
        out = np.ones(case.shape, case.dtype)
        taken, _ = seconds(lambda: library.read_into(array, case, out))
        require_equal(out, wanted)
        return taken
    taken, values = seconds(lambda: library.read(array, case), CALLS.get(case.op, 1))
    require_equal(values, wanted)
    return taken


def time_write(library: Any, case: Case, stores: Stores, wanted: np.ndarray) -> float:
    folder = stores.root / "written"
    shutil.rmtree(folder, ignore_errors=True)
    taken, _ = seconds(lambda: library.write(folder, case, wanted))
    peer = ZarrPython()
    require_equal(peer.read(peer.open(folder, case), case), wanted)
    return taken


def compare(libraries: dict[str, Any], case: Case, stores: Stores, repeats: int) -> dict[str, list]:
    """Let all libraries take turns at a case; a first turn warms up. A failed library has no times."""
    wanted = expected(case, stores.data)
    times: dict[str, list] = {name: [] for name in libraries}
    failed = set()
    for turn in range(repeats + 1):
        for name in [name for name in libraries if name not in failed]:
            try:
                taken = time_once(libraries[name], case, stores, wanted)
            except Exception as error:  # noqa: BLE001  a peer that can't is a result too
                print(f"{name} failed at {case.name}: {type(error).__name__}: {error}")
                failed.add(name)
                continue
            if turn:
                times[name].append(taken)
    return {name: [] if name in failed else values for name, values in times.items()}


def ratio_to_best(times: dict[str, list]) -> float:
    """Return our time over the best peer's, the median of turns; below 1 is faster than every peer."""
    peers = {name: values for name, values in times.items() if values and name != OURS}
    if not peers or not times[OURS]:
        return math.nan
    best = min(peers, key=lambda name: statistics.median(peers[name]))
    return statistics.median(a / b for a, b in zip(times[OURS], peers[best], strict=True))


def row(case: Case, times: dict[str, list]) -> str:
    cells = [
        f"{statistics.median(values) * 1e3:>13.2f}" if values else f"{'failed':>13}"
        for values in times.values()
    ]
    return f"{case.name:34}{''.join(cells)}{ratio_to_best(times):>10.2f}"


def machine() -> dict[str, Any]:
    """Describe the machine without naming it."""
    model = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    system = f"{platform.system()} {platform.release()}"
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "system": system,
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def scratch(folder: Path | None, need: int) -> Path:
    """Make a folder for the stores, in memory where that has room: disks slow down after deletions."""
    memory = Path("/dev/shm")
    if folder is None and memory.is_dir() and shutil.disk_usage(memory).free > need:
        folder = memory
    return Path(tempfile.mkdtemp(prefix="blazarr-bench-", dir=folder))


def save(rows: list[dict], options: argparse.Namespace) -> Path:
    """Write the result, its table and its picture; return the folder."""
    found = versions()
    today = datetime.now(UTC).date().isoformat()
    report = {
        "date": today,
        "versions": found,
        "machine": machine(),
        "mib": options.mib,
        "repeats": options.repeats,
        "cases": rows,
        "groups": group_means(rows),
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{today}-{found['blazarr']}.json"
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    (RESULTS / "table.md").write_text(markdown(report), encoding="utf-8")
    draw(report, RESULTS / "plot.svg")
    return RESULTS


def markdown(report: dict[str, Any]) -> str:
    """Write the table of a result for readers, with what it was measured on."""
    libraries = list(report["cases"][0]["milliseconds"])
    lines = [
        f"Milliseconds, median of {report['repeats']} turns; uint16, {report['mib']} MiB.",
        "The last column is blazarr's time over the best other's.",
        "",
        f"| case | {' | '.join(libraries)} | to best |",
        f"|---|{'---:|' * (len(libraries) + 1)}",
    ]
    for entry in report["cases"]:
        times = [entry["milliseconds"].get(name) for name in libraries]
        cells = ["failed" if time is None else f"{time:.4g}" for time in times]
        lines.append(f"| {entry['case']} | {' | '.join(cells)} | {entry['ratio_to_best']:.2f} |")
    means = ", ".join(f"{group} {mean:.2f}" for group, mean in report["groups"].items())
    found = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    place = ", ".join(str(value) for value in report["machine"].values())
    lines += [
        "",
        f"Geometric means of the last column: {means}.",
        "",
        f"{found}. {place}. {report['date']}.",
    ]
    return "\n".join(lines) + "\n"


def record(case: Case, times: dict[str, list]) -> dict[str, Any]:
    medians = {name: statistics.median(values) * 1e3 for name, values in times.items() if values}
    return {"case": case.name, "milliseconds": medians, "ratio_to_best": ratio_to_best(times)}


def group_means(rows: list[dict]) -> dict[str, float]:
    """Return geometric means of our ratio to the best peer, by kind of operation."""
    groups: dict[str, list[float]] = {}
    for entry in rows:
        op = entry["case"].split()[0]
        whole = {"read-full": "whole reads", "read-into": "whole reads", "write-full": "writes"}
        if not math.isnan(entry["ratio_to_best"]):
            group = "open" if op == "open" else whole.get(op, "partial reads")
            groups.setdefault(group, []).append(entry["ratio_to_best"])
    return {group: statistics.geometric_mean(ratios) for group, ratios in groups.items()}


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mib", type=int, default=64, help="size of the array (default 64)")
    parser.add_argument("--repeats", type=int, default=5, help="turns (default 5)")
    parser.add_argument("--match", default="", help="only cases whose name contains this")
    parser.add_argument("--dir", type=Path, help="folder of the stores (default: in memory)")
    return parser.parse_args()


def main() -> int:
    """Run all cases; exit code 1 where blazarr failed at one."""
    options = parse_options()
    began = time.monotonic()
    libraries = {**installed_peers(), OURS: Contender()}
    print(", ".join(f"{name} {version}" for name, version in versions().items()))
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    print(
        f"\n{'milliseconds, median':34}{''.join(f'{name:>13}' for name in libraries)}{'to best':>10}"
    )

    todo = [case for case in cases(options.mib) if options.match in case.name]
    data = smooth_field(todo[0].shape, todo[0].dtype)
    stores = Stores(scratch(options.dir, 8 * options.mib * MIB), data)
    rows = []
    try:
        for case in todo:
            times = compare(libraries, case, stores, options.repeats)
            rows.append(record(case, times))
            print(row(case, times), flush=True)
    finally:
        shutil.rmtree(stores.root, ignore_errors=True)

    for group, mean in group_means(rows).items():
        print(f"{group}: blazarr takes {mean:.2f} of the best peer's time (geometric mean)")
    if not options.match:
        print(f"written to {save(rows, options)}")
    print(f"took {(time.monotonic() - began) / 60:.1f} minutes")
    return int(any(OURS not in entry["milliseconds"] for entry in rows))


if __name__ == "__main__":
    sys.exit(main())
