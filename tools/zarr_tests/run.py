"""Run zarr-python's own tests with blazarr in the place of zarr, and write docs/parity-tests.md.

The tests come from the source distribution of the zarr-python that is installed. What is
imported in zarr's name is blazarr (`stand_in.py`); what the tests take from zarr-python's inside
stays zarr-python's. A failure is a fault of blazarr, or has its reason in `reasons.py`.

    python tools/zarr_tests/run.py [--sdist FILE] [--page] [module ...]

What was found is kept in build/parity-tests, so that modules can be run one by one; the page has
the last results of each, and says which were not run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from reasons import REASONS

HERE = Path(__file__).resolve().parent
FOUND = HERE.parent.parent / "build" / "parity-tests"
REPORT = HERE.parent.parent / "docs" / "parity-tests.md"

# Modules about what users see, and the seconds that each may take.
MODULES = {
    "tests/test_api.py": 600,
    "tests/test_array.py": 1200,
    "tests/test_attributes.py": 60,
    "tests/test_group.py": 600,
    "tests/test_indexing.py": 600,
    "tests/test_metadata/test_consolidated.py": 300,
    "tests/test_properties.py": 1200,
    "tests/test_store/test_stateful.py": 600,
    "tests/test_resize.py": 300,
    "tests/test_tree.py": 60,
    "tests/test_unified_chunk_grid.py": 600,
    "tests/test_v2.py": 300,
    "tests/test_codecs/test_blosc.py": 300,
    "tests/test_codecs/test_bytes.py": 300,
    "tests/test_codecs/test_cast_value.py": 300,
    "tests/test_codecs/test_codecs.py": 600,
    "tests/test_codecs/test_gzip.py": 300,
    "tests/test_codecs/test_numcodecs.py": 300,
    "tests/test_codecs/test_scale_offset.py": 300,
    "tests/test_codecs/test_sharding.py": 900,
    "tests/test_codecs/test_transpose.py": 300,
    "tests/test_codecs/test_vlen.py": 300,
    "tests/test_codecs/test_zstd.py": 300,
    "tests/test_metadata/test_repair.py": 300,
    "tests/test_metadata/test_v2.py": 300,
    "tests/test_metadata/test_v3.py": 300,
}

LEFT_OUT = (
    "tests/test_array_stateful.py is left out: it drives zarr-python's own chunk grid, reads a private member of the "
    "metadata after each step, and stores chunk sizes of 0. With a grid of blazarr's in its model and without the other two "
    "it passed (40 examples of 30 steps)."
)

PYTEST = (
    "-m", "pytest", "-p", "stand_in", "-o", "addopts=", "-q", "--tb=no", "--no-header",
    "-p", "no:cacheprovider", "--run-slow-hypothesis", "-m", "not gpu and not s3",
)  # fmt: skip


@dataclass(frozen=True)
class Result:
    """What became of the tests of one module."""

    module: str
    outcomes: dict[str, dict[str, str]]

    def count(self, outcome: str) -> int:
        """Return how many tests ended so."""
        return sum(test["outcome"] == outcome for test in self.outcomes.values())

    def failures(self) -> list[tuple[str, str]]:
        """Return the tests that failed, each with the first line of what it said."""
        return [
            (test, (said["message"].strip().splitlines() or ["?"])[0])
            for test, said in self.outcomes.items()
            if said["outcome"] == "failed"
        ]


def source(sdist: str | None, folder: Path) -> Path | None:
    """Return the unpacked source distribution, or None where there is none to be had."""
    wanted = f"zarr=={version('zarr')}"
    if sdist is None:
        options = ["download", "--quiet", "--no-deps", "--no-binary", "zarr", "--dest", str(folder)]
        if subprocess.run([sys.executable, "-m", "pip", *options, wanted], check=False).returncode:
            print(f"skipped: no source distribution of {wanted} to be had")
            return None
        sdist = str(next(folder.glob("zarr-*.tar.gz")))
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return next(path for path in folder.glob("zarr-*") if path.is_dir())


def file_of(module: str) -> Path:
    """Return where the results of a module are kept."""
    return FOUND / f"{module.replace('/', '-')}.jsonl"


def run(module: str, seconds: int, tests: Path) -> None:
    """Run the tests of one module."""
    file = file_of(module)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(HERE), "ZARR_TESTS_RESULT": str(file)}
    command = [sys.executable, *PYTEST, module]
    try:
        ended = subprocess.run(
            command,
            cwd=tests,
            env=environment,
            timeout=seconds,
            capture_output=True,
            text=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        print(f"{module}: stopped after {seconds} s")
        return
    if not file.exists():
        sys.exit(f"{module}: nothing ran\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}")


def result_of(module: str) -> Result:
    """Return what was found when a module was run last."""
    file = file_of(module)
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    outcomes = {said.pop("test"): said for said in map(json.loads, lines)}
    if outcomes.pop("", None) is None:
        message = "the run was stopped before its end"
        outcomes[f"{module}::the tests after these"] = {"outcome": "failed", "message": message}
    return Result(module, outcomes)


def reason(test: str, message: str) -> str:
    """Return why a test fails, or that nobody knows."""
    for pattern, why in REASONS:
        if re.search(pattern, f"{test}\n{message}"):
            return why
    return f"**not explained**: {re.sub(r'0x[0-9a-f]+', '0x…', message)[:120]}"


def table(results: list[Result]) -> list[str]:
    """Return the table of modules."""
    lines = ["| module | passed | passed, noted | failed | skipped |", "|---|---|---|---|---|"]
    outcomes = ("passed", "noted", "failed", "skipped")
    for result in results:
        counts = " | ".join(str(result.count(outcome)) for outcome in outcomes)
        lines.append(f"| {result.module} | {counts} |")
    sums = " | ".join(str(sum(r.count(o) for r in results)) for o in outcomes)
    return [*lines, f"| all | {sums} |"]


def explained(results: list[Result]) -> list[str]:
    """Return the reasons of the failures, most frequent first, with the tests."""
    names: dict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        for test, message in result.failures():
            names[reason(test, message)][test.split("::", 1)[-1].split("[")[0]] += 1
    lines = []
    for why, tests in sorted(names.items(), key=lambda item: -item[1].total()):
        listed = ", ".join(f"{name} ({n})" if n > 1 else name for name, n in tests.most_common(12))
        more = f" and {len(tests) - 12} more" if len(tests) > 12 else ""
        lines.append(f"- {tests.total()}: {why}. {listed}{more}.")
    return lines


def report(results: list[Result]) -> str:
    """Return the page."""
    absent = sorted(MODULES.keys() - {result.module for result in results})
    lines = [
        "# zarr-python's tests, run on blazarr",
        "",
        f"Tests of zarr-python {version('zarr')}; written by `tools/zarr_tests/run.py` (`make parity-tests`).",
        "",
        "*Noted*: the test passes, but an error has another text than zarr-python's, or a warning is not given.",
        "*Skipped*: mostly stores of zarr-python that have no stand-in here (fsspec, obstore, wrappers).",
        "",
        *table(results),
        "",
        *([f"Not run this time: {', '.join(absent)}.", ""] if absent else []),
        LEFT_OUT,
        "",
        "## Why tests fail",
        "",
        *explained(results),
    ]
    return "\n".join(lines) + "\n"


def run_all(modules: list[str], sdist: str | None) -> bool:
    """Run modules; return whether their source was to be had."""
    with tempfile.TemporaryDirectory() as name:
        tests = source(sdist, Path(name))
        if tests is None:
            return False
        for module in modules:
            run(module, MODULES.get(module, 600), tests)
            print(table([result_of(module)])[2], flush=True)
    return True


def main() -> int:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sdist", help="the source distribution; fetched by name where not given")
    parser.add_argument("modules", nargs="*", default=list(MODULES))
    parser.add_argument("--page", action="store_true", help="run nothing, write the page")
    arguments = parser.parse_args()
    try:
        version("zarr")
    except PackageNotFoundError:
        print("skipped: zarr-python is not installed")
        return 0
    if not arguments.page and not run_all(arguments.modules, arguments.sdist):
        return 0
    page = report([result_of(module) for module in MODULES if file_of(module).exists()])
    print(page)
    REPORT.write_text(page, encoding="utf-8")
    return "**not explained**" in page


if __name__ == "__main__":
    sys.exit(main())
