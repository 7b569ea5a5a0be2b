"""The architecture's rules that a machine can keep: direction of imports, rooms, names, sizes, no machine paths.

The table of rooms is the one of docs/design/architecture.md, section 2.
"""

import ast
import dataclasses
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent.parent
PACKAGE = REPOSITORY / "src" / "blazarr"

# A room imports from its own level and from those before it; within a level, rooms form no cycle.
LEVELS = (
    {"errors", "limits", "config"},
    {"metadata", "dtypes", "grids", "stores", "drawing"},
    {"indexing", "codecs"},
    {"engine", "cuda"},
    {"nodes", "api", "aio"},
    # zarr-python's module names: nothing but imports.
    {"abc", "dtype", "experimental", "registry", "storage", "types"},
    {"compat", "conversion", "checking", "distributed", "show", "cli", "testing"},
    {"__main__"},
)
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}

# Stores know nothing of arrays.
STORES_MAY_IMPORT = {"errors", "limits", "config"}
CORE_MAY_BE_IMPORTED_BY = {"codecs", "grids", "indexing", "stores", "engine", "cuda", "__init__"}

# Packages other than numpy load on use, in the rooms named here.
ROOMS_OF_PACKAGE = {
    "numcodecs": {"codecs", "dtypes", "compat"},
    "zfpy": {"codecs"},
    "ml_dtypes": {"dtypes"},
    "zarr": {"compat", "stores", "codecs", "cli"},
    "fsspec": {"stores"},
    "obstore": {"stores"},
    "cupy": {"cuda"},
    "kvikio": {"cuda"},
    "xarray": {"compat"},
    "dask": {"distributed", "compat"},
    "distributed": {"distributed"},
    "h5py": {"conversion"},
    "tifffile": {"conversion"},
    "rich": {"show", "cli"},
    "typer": {"cli"},
    "tqdm": {"show"},
    "matplotlib": {"nodes"},
    "hypothesis": {"testing"},
    "pytest": {"testing"},
}

LINES = {".py": 400, ".pyi": 400, ".rs": 500}


@dataclasses.dataclass(frozen=True)
class Import:
    """One imported module, by its absolute name."""

    file: Path
    line: int
    module: str
    on_use: bool  # inside a function, or for type checkers only

    @property
    def room(self) -> str:
        return room_of(self.file)

    @property
    def top(self) -> str:
        return self.module.split(".")[0]

    def __str__(self) -> str:
        return f"{self.file.relative_to(REPOSITORY)}:{self.line} imports {self.module}"


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room_of(file: Path) -> str:
    inside = file.relative_to(PACKAGE)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem


def imports_of(file: Path) -> Iterator[Import]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    on_use = {
        id(node)
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef) or is_for_type_checkers(outer)
        for node in ast.walk(outer)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for module in modules_of(node, file):
                yield Import(file, node.lineno, module, id(node) in on_use)


def is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def modules_of(node: ast.Import | ast.ImportFrom, file: Path) -> list[str]:
    """Absolute names of what a statement imports; `from blazarr import x` counts as `blazarr.x`."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    package = ["blazarr", *file.relative_to(PACKAGE).parts[:-1]]
    base = package[: len(package) - node.level + 1] if node.level else []
    name = ".".join([*base, *([node.module] if node.module else [])])
    return [f"blazarr.{alias.name}" for alias in node.names] if name == "blazarr" else [name]


def all_imports() -> list[Import]:
    return [found for file in sources() for found in imports_of(file)]


def between_rooms() -> list[tuple[Import, str]]:
    """Imports of one room of the package by another, with the room imported."""
    pairs = []
    for found in all_imports():
        parts = found.module.split(".")
        if parts[0] == "blazarr" and len(parts) > 1 and parts[1] != "_core":
            pairs.append((found, parts[1]))
    return [(found, room) for found, room in pairs if found.room not in {room, "__init__"}]


def listed(offenders: list) -> str:
    return "\n".join(map(str, offenders))


def test_every_room_has_a_level():
    rooms = {room_of(file) for file in sources()} - {"__init__"}
    assert rooms <= LEVEL.keys(), f"give {rooms - LEVEL.keys()} a place in LEVELS"


def test_imports_point_one_way():
    upward = [found for found, room in between_rooms() if LEVEL.get(room, 99) > LEVEL[found.room]]
    assert not upward, listed(upward)


def test_rooms_form_no_cycle():
    graph = {}
    for found, room in between_rooms():
        graph.setdefault(found.room, set()).add(room)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"rooms import each other: {' -> '.join(error.args[1])}")


def test_nothing_inside_imports_the_package_itself():
    inside = [found for found in all_imports() if found.module == "blazarr"]
    assert not inside, listed(inside)


def test_stores_know_nothing_of_arrays():
    offenders = [
        found
        for found, room in between_rooms()
        if found.room == "stores" and room not in STORES_MAY_IMPORT
    ]
    assert not offenders, listed(offenders)


def test_few_rooms_know_the_core():
    offenders = [
        found
        for found in all_imports()
        if found.module.startswith("blazarr._core") and found.room not in CORE_MAY_BE_IMPORTED_BY
    ]
    assert not offenders, listed(offenders)


def outside_packages() -> list[Import]:
    known = {"blazarr", "numpy", "__future__"} | sys.stdlib_module_names
    return [found for found in all_imports() if found.top not in known]


def is_inside_plug_in(found: Import) -> bool:
    """Whether a package is imported by what only that package's users import: `compat/zarr_python` by zarr's."""
    folder = found.file.parent.name
    return found.room == "compat" and folder.split("_")[0] == found.top


def is_of_the_command_line(found: Import) -> bool:
    """Whether a package is imported by what only the command `blazarr` imports."""
    return found.room == "cli" and found.top in {"typer", "rich"}


def test_packages_load_on_use():
    at_import = [
        found
        for found in outside_packages()
        if not found.on_use and not is_inside_plug_in(found) and not is_of_the_command_line(found)
    ]
    assert not at_import, listed(at_import)


def test_packages_stay_in_their_room():
    offenders = [
        found
        for found in outside_packages()
        if found.room not in ROOMS_OF_PACKAGE.get(found.top, set())
    ]
    assert not offenders, listed(offenders)


def test_no_module_is_named_like_a_public_function():
    blazarr = importlib.import_module("blazarr")
    modules = {path.stem for path in PACKAGE.iterdir()}
    functions = {
        name for name in getattr(blazarr, "__all__", ()) if callable(getattr(blazarr, name))
    }
    assert not modules & functions


def tracked(*patterns: str) -> list[Path]:
    command = ["git", "-C", str(REPOSITORY), "ls-files", "-z", "--", *patterns]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"not a git checkout: {error}")
    names = filter(None, done.stdout.split("\0"))
    return [path for name in names if (path := REPOSITORY / name).is_file()]


@pytest.mark.parametrize("suffix", LINES)
def test_files_stay_small(suffix):
    long = []
    for path in tracked(f"src/*{suffix}", f"crates/*{suffix}"):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > LINES[suffix]:
            long.append(f"{path.relative_to(REPOSITORY)}: {lines} lines, more than {LINES[suffix]}")
    assert not long, listed(long)


def test_no_file_names_a_machine():
    folders = "|".join(("ro" + "ot", "ho" + "me", "wo" + "rk", "fa" + "rm", "Us" + "ers"))
    machine_path = re.compile(rf"(?<![\w.~\-/])/({folders})/", re.ASCII)
    offenders = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            if machine_path.search(line):
                offenders.append(f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()}")
    assert not offenders, listed(offenders)
