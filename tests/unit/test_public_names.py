"""Public names and their arguments stay: those of public_names.txt are there.

`python tests/unit/test_public_names.py` writes the file anew: with new names, and after a change that is meant and stands in
CHANGELOG.md.
"""

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import blazarr

FILE = Path(__file__).parent / "public_names.txt"

MODULES = (
    "blazarr",
    "blazarr.abc.codec",
    "blazarr.abc.store",
    "blazarr.codecs",
    "blazarr.compat.xarray",
    "blazarr.compat.zarr_python",
    "blazarr.conversion",
    "blazarr.cuda",
    "blazarr.distributed",
    "blazarr.dtype",
    "blazarr.errors",
    "blazarr.registry",
    "blazarr.storage",
    "blazarr.types",
)
CLASSES = (
    "blazarr.Array",
    "blazarr.Group",
    "blazarr.engine.plan.Plan",
    "blazarr.errors.BlazarrError",
    "blazarr.nodes.attributes.Attributes",
    "blazarr.nodes.lazy.LazyArray",
    "blazarr.nodes.showing.ArrayShow",
    "blazarr.nodes.showing.ChunkMap",
    "blazarr.stores.base.Store",
)


def names() -> Iterator[str]:
    for name in MODULES:
        module = importlib.import_module(name)
        public = getattr(module, "__all__", None) or [
            member for member, value in vars(module).items() if is_ours(member, value)
        ]
        for member in sorted(public):
            yield f"{name}.{member}{arguments(getattr(module, member))}"
    for name in CLASSES:
        path, _, attribute = name.rpartition(".")
        cls = getattr(importlib.import_module(path), attribute)
        for member in sorted(member for member in dir(cls) if not member.startswith("_")):
            yield f"{name}.{member}{arguments(inspect.getattr_static(cls, member))}"


def is_ours(name: str, value: object) -> bool:
    return not name.startswith("_") and str(getattr(value, "__module__", "")).startswith("blazarr")


def arguments(value: object) -> str:
    """Names of a function's arguments; those with defaults end in '='."""
    value = getattr(value, "__func__", value)
    if not inspect.isfunction(value):
        return ""
    shown = [
        f"{parameter.name}{'' if parameter.default is parameter.empty else '='}"
        for parameter in inspect.signature(value).parameters.values()
        if parameter.name not in {"self", "cls"}
    ]
    return f"({', '.join(shown)})"


def split(line: str) -> tuple[str, set[str]]:
    name, _, rest = line.partition("(")
    return name, {argument.strip().rstrip("=") for argument in rest.rstrip(")").split(",")} - {""}


def test_public_names_and_arguments_stay():
    found = dict(map(split, names()))
    for line in FILE.read_text(encoding="utf-8").splitlines():
        name, expected = split(line)
        assert name in found, f"{name} is gone; see the docstring of {Path(__file__).name}"
        assert expected <= found[name], f"{name} lost {expected - found[name]}"


def test_the_package_is_typed():
    assert (Path(blazarr.__file__).parent / "py.typed").is_file()


if __name__ == "__main__":
    FILE.write_text("".join(f"{name}\n" for name in names()), encoding="utf-8")
