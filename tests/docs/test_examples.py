"""Every example of the documentation runs: the Python blocks of a page, in order, in an empty folder."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent.parent
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"(<!-- not run: (?P<reason>[^>]+) -->\n)?^```python\n(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)

# Packages that a page is about; without them (they don't install everywhere) it is not run.
NEEDS = {
    "climate": ("xarray", "dask", "zarr"),
    "cubed-and-ray": ("cubed", "zarr"),
    "conversions": ("h5py", "tifffile"),
    "dask-clusters": ("dask", "distributed"),
    "machine-learning": ("ml_dtypes",),
    "zarr-python": ("zarr",),
}


def program(page: Path) -> str:
    """The blocks of a page as one program, each on the lines that it has in the page."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        if block["reason"] is None:
            first = text.count("\n", 0, block.start("code"))
            code = block["code"].splitlines()
            lines[first : first + len(code)] = code
    return "\n".join(lines)


def run(page: Path, folder: Path) -> None:
    file = folder / f"{page.stem}.py"
    file.write_text(program(page), encoding="utf-8")
    command = [sys.executable, "-W", "error::DeprecationWarning:__main__", str(file)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{page.relative_to(REPOSITORY)}:\n{done.stderr}"


def with_examples() -> list[Path]:
    return [page for page in PAGES if program(page).strip()]


@pytest.mark.parametrize("page", with_examples(), ids=lambda page: page.stem)
def test_examples_run(page, tmp_path):
    for package in NEEDS.get(page.stem, ()):
        pytest.importorskip(package, reason=f"{package} is not installed")
    run(page, tmp_path)


@pytest.mark.parametrize(
    "page", [PAGES[0], REPOSITORY / "docs" / "start.md"], ids=lambda page: page.stem
)
def test_first_examples_run_twice(page, tmp_path):
    run(page, tmp_path)
    run(page, tmp_path)


def test_pictures_are_what_the_examples_draw(tmp_path):
    docs = REPOSITORY / "docs"
    run(docs / "how-to" / "pictures.md", tmp_path)
    for name in ("grid.svg", "plan.svg"):
        assert (tmp_path / name).read_text() == (docs / "images" / name).read_text()


def test_most_examples_run():
    blocks = [block for page in PAGES for block in BLOCK.finditer(page.read_text(encoding="utf-8"))]
    skipped = [block["reason"] for block in blocks if block["reason"]]
    assert len(skipped) * 4 < len(blocks), skipped


def test_each_page_is_in_the_menu():
    menu = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [page.relative_to(REPOSITORY / "docs") for page in PAGES[1:]]
    guides = [str(page) for page in pages if page.parts[0] != "design"]
    assert not [page for page in guides if f": {page}\n" not in menu]


SAMPLE = """
import numpy as np
import blazarr
blazarr.open_group("data.zarr", mode="w")["frames"] = np.zeros((4, 64, 64), "uint16")
"""

RUN_ALL = """
import json, sys
from blazarr.cli.app import run
for command in json.loads(sys.argv[1]):
    if code := run(command):
        sys.exit(f"{command} ended with {code}")
"""


def commands(page: Path) -> list[list[str]]:
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("blazarr ")]


@pytest.mark.parametrize(
    ("page", "data"),
    [
        (PAGES[0], program(PAGES[0])),
        (REPOSITORY / "docs" / "how-to" / "command-line.md", SAMPLE),
    ],
    ids=["README", "command-line"],
)
def test_commands_run(page, data, tmp_path):
    pytest.importorskip("typer", reason="typer is not installed")
    assert commands(page)
    for arguments in (["-c", data], ["-c", RUN_ALL, json.dumps(commands(page))]):
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
