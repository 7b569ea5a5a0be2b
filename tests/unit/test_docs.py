"""The documents tell the truth where a machine can tell: kinds of errors, links."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from blazarr.errors import BlazarrError

REPOSITORY = Path(__file__).parent.parent.parent
DOCUMENTS = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")])


def subclasses(cls: type) -> Iterator[type]:
    for sub in cls.__subclasses__():
        yield sub
        yield from subclasses(sub)


def kinds_in_the_sources() -> set[str]:
    """Kinds of the classes, and those that a raise narrows them to: `CorruptError(..., kind="checksum")`."""
    kinds = {cls.default_kind for cls in subclasses(BlazarrError)}
    for file in (REPOSITORY / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Error"):
                values = [keyword.value for keyword in node.keywords if keyword.arg == "kind"]
                kinds |= {value.value for value in values if isinstance(value, ast.Constant)}
    border = (REPOSITORY / "crates" / "py" / "src" / "errors.rs").read_text(encoding="utf-8")
    kinds |= set(re.findall(r'"\w+Error",\s*"([a-z-]+)"', border))
    return kinds


def test_each_kind_of_error_has_a_heading():
    text = (REPOSITORY / "docs" / "errors.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^## (\S+)$", text, re.MULTILINE))
    missing = kinds_in_the_sources() - headings
    assert not missing, f"docs/errors.md has no heading for {sorted(missing)}"


def test_each_heading_is_a_kind():
    text = (REPOSITORY / "docs" / "errors.md").read_text(encoding="utf-8")
    sources = "".join(
        path.read_text(encoding="utf-8")
        for folder, pattern in (("src", "*.py"), ("crates/py", "*.rs"))
        for path in (REPOSITORY / folder).rglob(pattern)
    )
    unknown = [
        kind for kind in re.findall(r"^## (\S+)$", text, re.MULTILINE) if f'"{kind}"' not in sources
    ]
    assert not unknown, f"docs/errors.md explains kinds that nothing raises: {unknown}"


def test_each_heading_says_message_and_fix():
    text = (REPOSITORY / "docs" / "errors.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    poor = [kind for kind, body in sections if "\n> " not in body or "*Do:*" not in body]
    assert not poor, f"docs/errors.md: a quoted message ('> ...') and '*Do:*' are wanted for {poor}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document):
    text = document.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    dead = [link for link in links if not (document.parent / link).exists()]
    assert not dead


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_first_example_runs(tmp_path):
    done = run(str(REPOSITORY / "examples" / "hello.py"), folder=tmp_path)
    assert "works" in done.stdout, done.stderr


def test_the_demo_runs(tmp_path):
    done = run(str(REPOSITORY / "examples" / "demo.py"), "--planes", "16", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "all values equal" in done.stdout
    assert (tmp_path / "demo-data" / "stack-blazarr.zarr" / "zarr.json").is_file()
