"""The scripts for a machine with a GPU, over the host device: they can't fail by a plain mistake."""

import importlib.util
import json
import sys

import pytest
import zarr.core.buffer.gpu as buffers

from tests.unit.cuda import fake_cupy

# A fixture.
cupy = fake_cupy.cupy


def script(repository, place, monkeypatch):
    spec = importlib.util.spec_from_file_location("script", repository / place)
    module = importlib.util.module_from_spec(spec)
    # Data classes look their module up.
    monkeypatch.setitem(sys.modules, "script", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def pretended(monkeypatch, cupy):
    monkeypatch.setattr(buffers, "cp", cupy)


def test_the_smoke_test_passes(repository, monkeypatch, capsys, tmp_path):
    smoke = script(repository, "tests/gpu/smoke.py", monkeypatch)
    monkeypatch.setattr(smoke, "SHAPE", (300, 320))
    monkeypatch.setattr(smoke, "KEYS", [..., smoke.np.s_[3:280:7, 300:2:-3]])
    # No second round.
    monkeypatch.setenv(smoke.UNDER_SANITIZER, "1")
    monkeypatch.setattr(sys, "argv", ["smoke.py", str(tmp_path / "results.json")])
    assert smoke.main() == 0
    said = capsys.readouterr().out
    assert "FAILED" not in said
    results = json.loads((tmp_path / "results.json").read_text())["checks"]
    assert not any(results.values())
    for name in ("read blosc zstd bitshuffle", "write ans", "write blosc lz4", "cast", "streams"):
        assert f"ok: {name}" in said, name
    for name in ("files", "zarr-python"):
        assert name in results
    # Named, not passed over.
    assert "kvikio is not installed" in said


def test_the_benchmark_runs(repository, monkeypatch, capsys, tmp_path):
    bench = script(repository, "benchmarks/gpu.py", monkeypatch)
    monkeypatch.setattr(bench, "TOTAL", 1 << 20)
    monkeypatch.setattr(bench, "CHUNKS", (1 << 18,))
    monkeypatch.setattr(bench, "REPEATS", 1)
    monkeypatch.setattr(sys, "argv", ["gpu.py", str(tmp_path), str(tmp_path / "rows")])
    bench.main()
    said = capsys.readouterr().out
    assert "FAILED" not in said
    assert len(json.loads((tmp_path / "rows").read_text())) > len(bench.CODECS)
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert {row["codec"] for row in rows} == set(bench.CODECS)
    ways = {row["way"] for row in rows}
    assert {"blazarr", "blazarr under zarr-python", "blazarr writes, all on the GPU"} <= ways
    assert "limit: pinned copy" in said
    assert "nvCOMP's batched decode alone" in said
    # Named, not passed over.
    assert "czarr is not installed" in said
