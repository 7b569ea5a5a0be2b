"""Time what a user waits for before any data: importing, and opening arrays and hierarchies.

    python benchmarks/opening.py

Opened are an array in a local folder, and a group with the consolidated metadata of 5,000 arrays (also with one array of
it, and with every one). The libraries take turns, each time is the least of its rounds. Imports are timed in new
processes that find compiled bytecode, as an installed package does.
"""

import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import zarr

import blazarr

ARRAYS = 5_000
ROUNDS = 7
IMPORTS = 9

Action = Callable[[], Any]


def make(folder: Path) -> None:
    """Write the array and the hierarchy, with zarr-python."""
    options = {"shape": (1000, 1000), "chunks": (100, 100), "dtype": "f4"}
    one = zarr.create_array(folder / "array", **options, attributes={"unit": "m"})
    root = zarr.create_group(folder / "group")
    nodes = {f"a{number:05}": one.metadata for number in range(ARRAYS)}
    for _ in root.create_hierarchy(nodes):
        pass
    zarr.consolidate_metadata(folder / "group")


def actions(folder: Path) -> Iterator[tuple[str, int, dict[str, Action]]]:
    """Yield what is timed: its name, the calls of a round, and how each library does it."""
    array, group = folder / "array", folder / "group"
    opened: dict[str, Action] = {
        "blazarr": lambda: blazarr.open_array(array, mode="r"),
        "zarr-python": lambda: zarr.open_array(array, mode="r"),
    }
    if (tensorstore := optional("tensorstore")) is not None:
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(array)}}
        opened["TensorStore"] = lambda: tensorstore.open(spec, read=True, open=True).result()
    yield "an array", 50, opened
    ours: Action = lambda: blazarr.open_group(group, mode="r")  # noqa: E731
    theirs: Action = lambda: zarr.open_group(group, mode="r")  # noqa: E731
    both = {"blazarr": ours, "zarr-python": theirs}
    yield f"a group of {ARRAYS} arrays, consolidated", 1, both
    yield "the same, and one of its arrays", 1, each(both, lambda found: found["a00042"])
    yield "the same, and all of its arrays", 1, each(both, lambda found: list(found.arrays()))


def each(both: dict[str, Action], then: Callable[[Any], Any]) -> dict[str, Action]:
    return {name: lambda action=action: then(action()) for name, action in both.items()}


def optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def least(timed: dict[str, Action], calls: int) -> dict[str, float]:
    """Return the least time of a call, in seconds."""
    times: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(ROUNDS):
        for name, action in timed.items():
            start = time.perf_counter()
            for _ in range(calls):
                action()
            times[name].append((time.perf_counter() - start) / calls)
    return {name: min(found) for name, found in times.items()}


def import_times(folder: Path) -> dict[str, float]:
    """Return the CPU seconds of new processes that import and read something, by the median."""
    read = f"open_array({str(folder / 'array')!r}, mode='r')[:3, :3]"
    codes = {
        "nothing": "pass",
        "numpy": "import numpy",
        "blazarr": "import blazarr",
        "blazarr, and reading an array": f"import blazarr; blazarr.{read}",
        "zarr-python": "import zarr",
        "zarr-python, and reading an array": f"import zarr; zarr.{read}",
    }
    environment = dict(os.environ, PYTHONPYCACHEPREFIX=str(folder / "bytecode"))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    times: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(1 + IMPORTS):
        for name, code in codes.items():
            before = os.times()
            subprocess.run([sys.executable, "-c", code], check=True, env=environment)
            after = os.times()
            spent = after.children_user + after.children_system
            times[name].append(spent - before.children_user - before.children_system)
    # The first round compiled.
    return {name: statistics.median(found[1:]) for name, found in times.items()}


def main() -> None:
    """Print the tables."""
    print(f"blazarr {blazarr.__version__}, zarr-python {zarr.__version__}\n")
    print("| opened | blazarr | zarr-python | TensorStore |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        make(Path(name))
        for what, calls, timed in actions(Path(name)):
            found = least(timed, calls)
            cells = (
                f"{found[library] * 1e3:.3f} ms ({found[library] / found['blazarr']:.1f}x)"
                if library in found
                else "-"
                for library in ("blazarr", "zarr-python", "TensorStore")
            )
            print(f"| {what} | " + " | ".join(cells) + " |", flush=True)
        found = import_times(Path(name))
    print("\n| imported in a new process | CPU | beside numpy |\n|---|---|---|")
    for what, spent in found.items():
        beside = (spent - found["numpy"]) * 1e3
        print(f"| {what} | {spent * 1e3:.0f} ms | {beside:+.0f} ms |")


if __name__ == "__main__":
    main()
