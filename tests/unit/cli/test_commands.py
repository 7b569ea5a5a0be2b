"""Each command: what it prints, its JSON, its exit codes; errors in one line with a hint."""

import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import blazarr

pytest.importorskip("typer")
from blazarr.cli import failing
from blazarr.cli.app import run

VALUES = np.random.default_rng(2).integers(0, 99, (20, 12, 8)).astype("u2")


@pytest.fixture
def root(tmp_path):
    path = tmp_path / "root.zarr"
    group = blazarr.create_group(path, attributes={"title": "all of it", "long": "x" * 200})
    group.create_array(
        "a",
        data=VALUES,
        chunks=(5, 6, 8),
        attributes={"unit": "m"},
        dimension_names=("t", "y", "x"),
    )
    group.create_group("g").create_array("b", data=VALUES[0], chunks=(6, 4), shards=(12, 8))
    return path


@pytest.fixture
def call(capsys):
    def called(*arguments):
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return called


def test_info_of_an_array(root, call):
    code, out, _ = call("info", root / "a", "--stored")
    assert code == 0
    assert "20 x 12 x 8" in out
    assert "t, y, x" in out
    assert "objects stored  8 of 8" in out
    assert "zstd(level=0, checksum=True)" in out
    assert "unit  m" in out
    found = json.loads(call("info", root, "--path", "g/b", "--json")[1])
    assert (found["shape"], found["chunks"], found["shards"]) == ([12, 8], [6, 4], [12, 8])


def test_info_of_a_group_fits_on_a_screen(root, call):
    code, out, _ = call("info", root)
    assert code == 0
    assert "arrays        1" in out
    assert max(map(len, out.replace(str(root), "ROOT").splitlines())) < 100
    assert len(json.loads(call("info", root, "--json")[1])["attributes"]["long"]) == 200


def test_ls(root, call):
    assert call("ls", root)[1].split() == ["a", "g/"]
    assert call("ls", root, "-r")[1].split() == ["a", "g/", "g/b"]
    assert "20x12x8" in call("ls", "-l", root)[1]
    assert call("ls", root / "a")[1] == ".\n"
    assert [entry["path"] for entry in json.loads(call("ls", root, "-r", "--json")[1])] == [
        "a",
        "g",
        "g/b",
    ]


def test_tree(root, call):
    out = call("tree", root)[1]
    assert "├── a (20, 12, 8) uint16" in out
    assert "b (12, 8) uint16" in out
    assert "b (12" not in call("tree", root, "--level", 1)[1]
    assert len(json.loads(call("tree", root, "--json")[1])) == 4


def test_cp(root, tmp_path, call):
    code, out, err = call("cp", root, tmp_path / "copy.zarr", "--verify")
    assert (code, err) == (0, "")
    assert "complete and verified" in out
    assert np.array_equal(blazarr.open_array(tmp_path / "copy.zarr/a")[...], VALUES)
    assert call("cp", root, tmp_path / "copy.zarr")[0] == 4
    assert call("cp", root, tmp_path / "copy.zarr", "--overwrite", "--json")[0] == 0
    code, _, _ = call("cp", root, tmp_path / "part.zip", "--path", "g", "--target-path", "in")
    assert code == 0


def test_convert(root, tmp_path, call):
    target = tmp_path / "out.zarr"
    code, *_ = call("convert", root, target, "-f", 2, "-c", "blosc:lz4:3", "--chunks", "t=20,x=2")
    assert code == 0
    array = blazarr.open_array(target / "a")
    assert array.metadata.zarr_format == 2
    assert array.chunks == (20, 6, 2)
    assert array.compressor.to_v2()["cname"] == "lz4"
    assert np.array_equal(array[...], VALUES)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["zstd:5"], ["zstd"]),
        (["zstd", "crc32c"], ["zstd", "crc32c"]),
        (["none"], []),
        (["gzip:1"], ["gzip"]),
        (['{"name": "zstd", "configuration": {"level": 2, "checksum": true}}'], ["zstd"]),
        (["blosc"], ["blosc"]),
    ],
)
def test_codecs(root, tmp_path, call, given, names):
    options = [word for text in given for word in ("--codec", text)]
    code, _, err = call("convert", root / "a", tmp_path / "x", *options)
    assert (code, err) == (0, "")
    assert [codec.name for codec in blazarr.open_array(tmp_path / "x").compressors] == names


def test_rechunk(root, tmp_path, call):
    target = tmp_path / "out.zarr"
    code, *_ = call(
        "rechunk",
        root / "a",
        target,
        "--chunks",
        "20,3,-1",
        "--shards",
        "20,12,8",
        "--max-memory",
        "1MiB",
    )
    assert code == 0
    array = blazarr.open_array(target)
    assert (array.chunks, array.shards) == ((20, 3, 8), (20, 12, 8))


def test_dry_run_says_what_would_be(root, tmp_path, call):
    target = tmp_path / "out.zarr"
    arguments = ("rechunk", root / "a", target, "--chunks", "20,3,8", "-n")
    code, out, _ = call(*arguments)
    assert code == 0
    assert "peak memory" in out
    assert json.loads(call(*arguments, "--json")[1])["bytes"] == VALUES.nbytes
    assert not target.exists()


def test_check(root, call):
    assert call("check", root)[0] == 0
    chunk = root / "a/c/1/1/0"
    chunk.write_bytes(chunk.read_bytes()[:-1])
    (root / "a/c/0/0/0.__lock").write_bytes(b"")
    code, out, _ = call("check", root)
    assert code == failing.DAMAGED
    assert "a/c/1/1/0" in out
    assert call("check", root, "--no-data")[0] == 0
    found = json.loads(call("check", root, "--clean", "--json")[1])
    assert found["removed"] == ["a/c/0/0/0.__lock"]
    assert not found["ok"]


def test_bench(root, call):
    code, out, _ = call("bench", root, "-t", 1, "-c", "gzip:1", "--size", "1MiB")
    assert code == 0
    assert "zarr-python" in out
    assert "gzip:1 (in memory)" in out
    rows = json.loads(call("bench", root / "a", "-t", 2, "--json")[1])
    assert {(row["library"], row["threads"]) for row in rows} == {
        ("blazarr", 2),
        ("zarr-python", None),
    }
    assert all(row["nbytes"] == VALUES.nbytes for row in rows)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["info", "{}/none"], 3),
        (["cp", "{}", "{}"], 2),
        (["rechunk", "{}/a", "{}/../x", "--chunks", "3,a"], 2),
        (["rechunk", "{}/a", "{}/../x", "--chunks", "3"], 2),
        (["rechunk", "{}/a", "{}/../x"], 2),
        (["convert", "{}", "{}/../x", "-c", "zstd:high"], 2),
        (["convert", "{}", "{}/../x", "-c", "unheard-of"], 6),
        (["convert", "{}", "{}/../x", "-c", "{{"], 2),
        (["convert", "{}", "{}/../x", "--max-memory", "20"], 2),
        (["convert", "{}/a", "{}/../x", "--chunks", "20,12,8", "--max-memory", "20B"], 8),
        (["info", "{}", "-o", "nonsense"], 2),
        (["info", "{}/zarr.json"], 6),
        (["frobnicate"], 2),
        (["info"], 2),
    ],
    ids=str,
)
def test_errors_are_one_line(root, call, arguments, code):
    if code == 2 and "20" in arguments:
        arguments = [*arguments[:-1], "much"]
    found, out, err = call(*(argument.replace("{}", str(root)) for argument in arguments))
    assert found == code, err
    assert not out
    assert re.fullmatch(r"blazarr: .+\n", err)


def test_errors_as_json(root, call):
    code, out, err = call("info", root / "none", "--json")
    assert (code, out) == (3, "")
    error = json.loads(err)["error"]
    assert error["kind"] == "not-found"
    assert error["code"] == 3
    assert error["hint"]


def test_a_damaged_source_is_an_error_and_leaves_no_target(root, tmp_path, call):
    chunk = root / "a/c/1/1/0"
    chunk.write_bytes(chunk.read_bytes()[:-1])
    code, _, err = call("convert", root, tmp_path / "x", "--chunks", "4,4,4")
    assert code == 5
    assert "a/c/1/1/0" in err
    assert "Hint: blazarr check" in err
    assert call("info", tmp_path / "x")[0] == 3


def test_faults_of_ours_say_so(root, call, monkeypatch):
    monkeypatch.setattr("blazarr.cli.looking.opened", lambda _: 1 / 0)
    code, _, err = call("ls", root)
    assert code == 70
    assert "ZeroDivisionError" in err
    assert "please report" in err


def test_help_and_version(call):
    assert call("--version")[1].strip() == blazarr.__version__
    assert "rechunk" in call("--help")[1]
    for command in ("info", "ls", "tree", "cp", "convert", "rechunk", "check", "bench"):
        code, out, _ = call(command, "--help")
        assert code == 0
        assert "--json" in out


def command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "blazarr", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_the_command_itself(root):
    done = command("ls", root, env={**os.environ, "FORCE_COLOR": "1", "NO_COLOR": "1"})
    assert (done.returncode, done.stdout) == (0, "a\ng/\n")
    completion = command(env={**os.environ, "_BLAZARR_COMPLETE": "source_bash"})
    assert "complete" in completion.stdout


def test_a_reader_that_goes_away(root):
    text = f"{sys.executable} -m blazarr ls -r {root} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout == "0\n"


def test_ctrl_c_says_how_to_go_on(root, tmp_path):
    script = (
        "import sys, os, signal\n"
        "from blazarr.cli.app import run\n"
        "import blazarr.conversion.journal as journal\n"
        "journal.Journal.mark = lambda *_: os.kill(os.getpid(), signal.SIGINT)\n"
        f"sys.exit(run(['convert', {str(root)!r}, {str(tmp_path / 'x')!r}, '--chunks', '4,4,4']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == failing.STOPPED
    assert re.fullmatch(r"blazarr: stopped\. Hint: .+\n", done.stderr)
    assert signal.getsignal(signal.SIGINT) is not None


def test_exit_codes_are_documented(repository):
    text = (repository / "docs/how-to/command-line.md").read_text(encoding="utf-8")
    documented = set(map(int, re.findall(r"^\| (\d+) \|", text, re.MULTILINE)))
    ours = {*failing.CODES.values(), failing.DONE, failing.DAMAGED, failing.USAGE, failing.STOPPED}
    assert documented == ours
