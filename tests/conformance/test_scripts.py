"""Scripts written for zarr-python print the same with ``import blazarr as zarr``."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

pytest.importorskip("zarr", minversion="3.4")

pytestmark = pytest.mark.filterwarnings("ignore")

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))


def printed(source: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    folder.mkdir()
    monkeypatch.chdir(folder)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(source, "script", "exec"), {"__name__": "__main__"})
    return re.sub(r"memory://\d+", "memory://", output.getvalue()).splitlines()


def with_blazarr(source: str) -> str:
    source = re.sub(r"^import zarr$", "import blazarr as zarr", source, flags=re.MULTILINE)
    return re.sub(r"^from zarr\b", "from blazarr", source, flags=re.MULTILINE)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_print_the_same(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = script.read_text(encoding="utf-8")
    wanted = printed(source, tmp_path / "zarr", monkeypatch)
    assert len(wanted) > 5
    assert printed(with_blazarr(source), tmp_path / "blazarr", monkeypatch) == wanted
