"""Run other projects' tests of codec pipelines with zarr-python's own pipeline and with blazarr's, and compare.

The tests come from the source distributions of zarr-python, of the version that is installed, and of zarrs-python. A test
that passes with zarr-python's default pipeline has to pass with blazarr's, or be named in tests/compat/KNOWN.md; what is
named there has to fail. Otherwise the exit status is 1.

    python tools/compat/run.py [--reduced] [--workers N] [--zarrs FOLDER]

The default pipeline's results are kept in build/compat and used again until they are deleted: they do not depend on
blazarr. ``--reduced`` runs a part of each suite with blazarr's pipeline, and asks the default pipeline about the tests
that fail alone.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build" / "compat"
KNOWN = ROOT / "tests" / "compat" / "KNOWN.md"

DEFAULT = "zarr.core.codec_pipeline.BatchedCodecPipeline"
OURS = "blazarr.compat.zarr_python.BlazarrCodecPipeline"

# The release of zarr-python from which on its tests were looked at.
FIRST = (3, 4)

GOOD = frozenset(["passed", "xpassed"])


@dataclass(frozen=True)
class Suite:
    """A project's tests.

    Attributes
    ----------
    name
        The project on the package index.
    release
        Its version.
    options
        What pytest is told.
    part
        Which tests the reduced form runs.
    """

    name: str
    release: str
    options: tuple[str, ...]
    part: tuple[str, ...]

    def source(self) -> Path | None:
        """Return the unpacked source distribution, or None where there is none to be had."""
        if self is ZARR and tuple(map(int, self.release.split(".")[:2])) < FIRST:
            print("skipped: KNOWN.md is about later releases")
            return None
        folder = BUILD / f"{self.name}-{self.release}"
        if folder.is_dir():
            return folder
        BUILD.mkdir(parents=True, exist_ok=True)
        wanted = f"{self.name}=={self.release}"
        options = ["--quiet", "--no-deps", "--no-binary", self.name, "--dest", str(BUILD)]
        command = [sys.executable, "-m", "pip", "download", *options, wanted]
        if subprocess.run(command, check=False).returncode:
            print(f"skipped: no source distribution of {wanted} to be had")
            return None
        with tarfile.open(BUILD / f"{folder.name}.tar.gz") as archive:
            archive.extractall(BUILD, filter="data")
        return folder


ZARR = Suite(
    "zarr",
    version("zarr"),
    (
        "-m", "not gpu and not s3 and not slow_hypothesis",
        "--ignore=tests/benchmarks", "--ignore=tests/test_docs.py", "--ignore=tests/test_examples.py",
    ),
    (
        "tests/test_indexing.py", "tests/test_codecs", "tests/test_codec_pipeline.py",
        "tests/test_codec_pipeline_suite.py", "tests/test_v2.py", "tests/test_resize.py",
        "tests/test_unified_chunk_grid.py",
    ),
)  # fmt: skip
ZARRS = Suite(
    "zarrs",
    "0.2.3",
    (
        # About zarrs' package alone.
        "--deselect=tests/test_registry.py", "--deselect=tests/test_version.py",
        # These read from the internet.
        "--deselect=tests/test_zarrs_http.py", "--deselect=tests/test_obstore.py::test_obstore_http",
    ),
    # Of the two halves of the round trips one.
    ("tests", "--deselect=tests/pipeline/test_roundtrip.py::test_roundtrip_read_only_zarrs"),
)  # fmt: skip


def run(
    suite: Suite, source: Path, pipeline: str, workers: str, tests: Iterable[str]
) -> dict[str, str]:
    """Run tests with a pipeline; how each ended."""
    log = BUILD / f"{suite.name}-{suite.release}-{pipeline.rpartition('.')[2]}.jsonl"
    log.unlink(missing_ok=True)
    folders = [str(HERE), str(HERE / "stand_in"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {
        "ZARR_CODEC_PIPELINE__PATH": pipeline,
        "COMPAT_PIPELINE": pipeline,
        "PYTHONPATH": os.pathsep.join(folders),
    }
    command = [
        sys.executable, "-m", "pytest", *tests, *suite.options, "-p", "plugin", "-n", workers,
        "-o", "addopts=--import-mode=importlib" if suite is ZARRS else "addopts=",
        "-o", "xfail_strict=false", "-o", "strict_xfail=false", "-p", "no:cacheprovider",
        "-q", "--tb=short", "--max-worker-restart=20", f"--report-log={log}",
    ]  # fmt: skip
    with log.with_suffix(".log").open("w", encoding="utf-8") as output:
        subprocess.run(
            command, cwd=source, env=environment, stdout=output, stderr=output, check=False
        )
    if not log.exists():
        raise SystemExit(f"pytest did not run; see {log.with_suffix('.log')}")
    return outcomes(log)


def outcomes(log: Path) -> dict[str, str]:
    """Return how the tests of a report ended."""
    found: dict[str, str] = {}
    with log.open(encoding="utf-8") as lines:
        for report in map(json.loads, lines):
            name = report.get("nodeid")
            if report["$report_type"] == "CollectReport" and report["outcome"] == "failed":
                found[name] = "failed"
            elif report["$report_type"] == "TestReport":
                found[name] = _worse(found.get(name), _outcome(report))
    return found


def _outcome(report: dict[str, object]) -> str | None:
    outcome = str(report["outcome"])
    if report.get("wasxfail") is not None:
        return "xfailed" if outcome == "skipped" else "xpassed"
    # Of the three phases of a test that passes the middle one counts.
    return outcome if outcome != "passed" or report["when"] == "call" else None


def _worse(before: str | None, now: str | None) -> str:
    return "failed" if "failed" in (before, now) else now or before or "passed"


def known(suite: Suite) -> frozenset[str]:
    """Return the tests of a project that KNOWN.md names."""
    names = []
    inside = False
    for line in KNOWN.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            inside = line.startswith(f"## {suite.name} ")
        elif inside and line.startswith("| `"):
            names.append(line.split("`")[1])
    return frozenset(names)


def totals(pipeline: str, found: dict[str, str]) -> None:
    """Print how many tests ended how."""
    counts = ", ".join(
        f"{count:,} {outcome}" for outcome, count in Counter(found.values()).most_common()
    )
    print(f"  {pipeline.rpartition('.')[2]}: {len(found):,} tests: {counts}", flush=True)


def full(suite: Suite, source: Path, workers: str) -> tuple[dict[str, str], dict[str, str]]:
    """Run all tests with both pipelines."""
    kept = BUILD / f"{suite.name}-{suite.release}-{DEFAULT.rpartition('.')[2]}.jsonl"
    default = outcomes(kept) if kept.exists() else run(suite, source, DEFAULT, workers, ["tests"])
    totals(DEFAULT, default)
    ours = run(suite, source, OURS, workers, ["tests"])
    totals(OURS, ours)
    return default, ours


def reduced(suite: Suite, source: Path, workers: str) -> tuple[dict[str, str], dict[str, str]]:
    """Run a part of the tests with our pipeline, and what fails with the default one."""
    ours = run(suite, source, OURS, workers, suite.part)
    totals(OURS, ours)
    failed = [test for test, outcome in ours.items() if outcome == "failed"]
    default = run(suite, source, DEFAULT, "0", failed) if failed else {}
    return {test: default.get(test, outcome) for test, outcome in ours.items()}, ours


def compare(suite: Suite, default: dict[str, str], ours: dict[str, str]) -> bool:
    """Print which tests end otherwise than with the default pipeline; whether all of them are known."""
    lost = {test for test in default if default[test] in GOOD and ours.get(test) not in GOOD}
    gained = {test for test in ours if ours[test] in GOOD and default.get(test) not in GOOD}
    both = {test for test in ours if ours[test] == default.get(test) == "failed"}
    named = known(suite)
    unknown = sorted(lost - named)
    stale = sorted(test for test in named & ours.keys() if test not in lost)
    print(f"  {len(lost)} pass with the default pipeline alone, {len(gained)} with blazarr's alone")
    print(f"  {len(both)} fail with both")
    for title, tests in (("NOT KNOWN", unknown), ("KNOWN, but passes", stale)):
        for test in tests:
            print(f"  {title}: {test}")
    return not unknown and not stale


def main() -> int:
    """Run, print and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reduced", action="store_true", help="a part of the tests")
    parser.add_argument("--workers", default="2", help="processes")
    parser.add_argument("--zarrs", type=Path, help="a checkout of zarrs-python, for its tests")
    arguments = parser.parse_args()
    good = True
    for suite, checkout in ((ZARR, None), (ZARRS, arguments.zarrs)):
        print(f"{suite.name} {suite.release}", flush=True)
        source = checkout or suite.source()
        if source is None:
            continue
        results = (reduced if arguments.reduced else full)(suite, source, arguments.workers)
        good = compare(suite, *results) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
