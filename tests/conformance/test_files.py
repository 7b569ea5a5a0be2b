"""Arrays that other implementations wrote: every one opens, and its values match the recorded digest."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import blazarr

# Packages that have a codec and cannot be had everywhere, by what the array's path contains.
PACKAGES = {"zfpy": "zfpy", "pcodec": "pcodec"}

pytestmark = pytest.mark.filterwarnings("ignore")


@cache
def bank(shared: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("bankcore", shared / "cases" / "bankcore.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bankcore"] = module
    spec.loader.exec_module(module)
    return module


def entries(shared: Path) -> dict[str, list[dict[str, Any]]]:
    index = json.loads((shared / "files" / "index.json").read_text())
    by_source = defaultdict(list)
    for entry in index["arrays"]:
        by_source[entry["source"]].append(entry)
    return by_source


def reason_to_skip(entry: dict[str, Any]) -> str | None:
    if not entry.get("digest"):
        return "no digest was recorded: no implementation reads it"
    for part, package in PACKAGES.items():
        if part in entry["path"] and importlib.util.find_spec(package) is None:
            return f"needs the package {package}"
    return None


def opened(folder: Path, entry: dict[str, Any]) -> blazarr.Array:
    if entry.get("zip"):
        return blazarr.open_array(folder / entry["zip"], path=entry["inner"], mode="r")
    return blazarr.open_array(folder / entry["path"], mode="r")


def test_every_file_decodes_to_its_digest(shared: Path) -> None:
    digest = bank(shared).digest
    wrong, skipped, right = [], defaultdict(int), 0
    for source, arrays in entries(shared).items():
        for entry in arrays:
            if why := reason_to_skip(entry):
                skipped[why] += 1
                continue
            try:
                array = opened(shared / "files", entry)
                got = digest(np.asarray(array[...]))
            except Exception as error:  # noqa: BLE001 - the list below shows what went wrong where
                got = f"{type(error).__name__}: {error}"
            if got == entry["digest"]:
                right += 1
            else:
                wrong.append(f"{source} {entry['path']}: {got}")
    print(f"{right} arrays are right; skipped: {dict(skipped)}")
    assert not wrong, "\n".join(wrong)
    assert right > 1000
