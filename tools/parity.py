"""Compare blazarr's public names with those of the zarr-python that is installed.

    python tools/parity.py           write docs/parity.md
    python tools/parity.py --check   only say what has no reason

A name is the *same* (arguments and defaults too), *differs* or is *absent*; the last two need a
reason in `parity_reasons.py`.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any

from parity_reasons import REASONS

REPORT = Path(__file__).parent.parent / "docs" / "parity.md"

MODULES = (
    "", "abc.buffer", "abc.codec", "abc.metadata", "abc.numcodec", "abc.store",
    "api.asynchronous", "api.synchronous", "codecs", "codecs.numcodecs", "dtype", "errors",
    "experimental", "experimental.cache_store", "registry", "storage", "testing",
    "testing.stateful", "testing.strategies", "types",
)  # fmt: skip
CLASSES = ("Array", "AsyncArray", "AsyncGroup", "Group")

ABSENT = object()


@dataclass(frozen=True)
class Name:
    """One public name of zarr-python, and how blazarr compares."""

    place: str
    name: str
    status: str
    detail: str = ""

    @property
    def full(self) -> str:
        """The name with its place, as reasons know it."""
        return f"{self.place}.{self.name}".lstrip(".")

    @property
    def reason(self) -> str | None:
        """Why it isn't the same, where somebody said so."""
        return next(
            (why for pattern, why in REASONS.items() if fnmatchcase(self.full, pattern)), None
        )

    @property
    def fine(self) -> bool:
        """Whether it is the same or has a reason."""
        return self.status == "same" or self.reason is not None


def public(module: ModuleType) -> list[str]:
    """Return the public names of a module: those in ``__all__``, or those that it defines."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(listed)
    own = (
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__
    )
    return sorted(name for name in own if not name.startswith("_"))


def members(cls: type) -> list[str]:
    """Return the public members of a class, and what makes it a container."""
    special = (
        "__getitem__",
        "__setitem__",
        "__delitem__",
        "__contains__",
        "__iter__",
        "__len__",
        "__array__",
        "__eq__",
    )
    return sorted(
        name
        for name in dir(cls)
        if not name.startswith("_") or (name in special and name in vars(cls))
    )


def parameters(function: Any) -> dict[str, inspect.Parameter] | None:
    """Return the named parameters of a function or class; None where they can't be told."""
    try:
        found = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return {
        n: p
        for n, p in found.items()
        if p.kind not in variable and n not in ("self", "cls", "facade")
    }


def differences(ours: Any, theirs: Any) -> Iterator[str]:
    """Yield what a call written for theirs would notice."""
    if callable(ours) != callable(theirs):
        yield "a function" if callable(ours) else "no function"
        return
    mine, wanted = parameters(ours), parameters(theirs)
    if not callable(theirs) or mine is None or wanted is None:
        return
    for name, parameter in wanted.items():
        if name not in mine:
            yield f"no argument `{name}`"
        elif (
            parameter.kind is not parameter.KEYWORD_ONLY
            and mine[name].kind is parameter.KEYWORD_ONLY
        ):
            yield f"`{name}` by name only"
        elif not same_default(mine[name].default, parameter.default):
            yield f"`{name}` is {shown(mine[name].default)} by default, not {shown(parameter.default)}"
    for name in [name for name in mine if name not in wanted]:
        if mine[name].default is inspect.Parameter.empty:
            yield f"needs an argument `{name}`"


def same_default(ours: Any, theirs: Any) -> bool:
    """Whether two defaults mean the same; sentinels are told by being none of the plain types."""
    if not isinstance(theirs, str | int | float | tuple | None):
        return (ours is inspect.Parameter.empty) == (theirs is inspect.Parameter.empty)
    return bool(ours == theirs) or repr(ours) == repr(theirs)


def shown(default: Any) -> str:
    """Return a default as it is to be read."""
    if default is inspect.Parameter.empty:
        return "not there"
    return "something private" if " object at 0x" in repr(default) else f"`{default!r}`"


def compare(place: str, name: str, ours: Any, theirs: Any) -> Name:
    """Compare one name."""
    if ours is ABSENT:
        return Name(place, name, "absent")
    if inspect.isclass(theirs) and issubclass(theirs, BaseException):
        return Name(place, name, "same" if issubclass(ours, Exception) else "differs")
    found = "; ".join(differences(ours, theirs))
    return Name(place, name, "differs" if found else "same", found)


def imported(name: str) -> Any:
    """Return a module, or what stands for one that isn't there."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def names() -> Iterator[Name]:
    """Yield every public name of zarr-python."""
    for place in MODULES:
        theirs = imported(f"zarr.{place}".rstrip("."))
        ours = imported(f"blazarr.{place}".rstrip("."))
        for name in public(theirs) if theirs is not None else ():
            yield compare(place, name, getattr(ours, name, ABSENT), getattr(theirs, name))
    zarr, blazarr = imported("zarr"), imported("blazarr")
    for cls in CLASSES:
        theirs, ours = getattr(zarr, cls), getattr(blazarr, cls)
        for name in members(theirs):
            yield compare(cls, name, getattr(ours, name, ABSENT), getattr(theirs, name))
    for name in members(type(zarr.config)):
        theirs = getattr(zarr.config, name)
        yield compare("Config", name, getattr(blazarr.config, name, ABSENT), theirs)
    for key in config_keys(zarr.config.defaults):
        status = "same" if blazarr.config.get(key, ABSENT) is not ABSENT else "absent"
        yield Name("config", key, status)


def config_keys(defaults: Any, prefix: str = "") -> Iterator[str]:
    """Yield the dotted keys of zarr-python's settings."""
    for layer in defaults if isinstance(defaults, list) else [defaults]:
        for key, value in layer.items():
            if isinstance(value, dict) and value:
                yield from config_keys(value, f"{prefix}{key}.")
            else:
                yield f"{prefix}{key}"


def page(found: list[Name], version: str) -> str:
    """Return the page that lists all of them."""
    count = Counter(name.status for name in found)
    sums = ", ".join(f"{count[status]} {status}" for status in ("same", "differs", "absent"))
    lines = [
        "# Public names of zarr-python, and blazarr's",
        "",
        f"zarr-python {version}, {len(found)} names: {sums}. Written by `make parity`.",
        "",
    ]
    for place in dict.fromkeys(name.place for name in found):
        here = [name for name in found if name.place == place]
        same = [f"`{name.name}`" for name in here if name.status == "same"]
        lines += [f"## `{'.'.join(filter(None, ('zarr', place)))}`", ""]
        lines += [f"Same: {', '.join(same)}.", ""] if same else []
        others = [name for name in here if name.status != "same"]
        if others:
            lines += ["| name | | why |", "|---|---|---|", *map(row, others), ""]
    return "\n".join(lines)


def row(name: Name) -> str:
    """Return a line of the table of one module."""
    status = f"differs: {name.detail}" if name.detail else name.status
    return f"| `{name.name}` | {status.replace('|', chr(92) + '|')} | {name.reason or '**no reason**'} |"


def main() -> int:
    """Compare and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    if imported("zarr") is None:
        print("skipped: zarr-python is not installed")
        return 0
    found = list(names())
    if not arguments.check:
        REPORT.write_text(page(found, imported("zarr").__version__), encoding="utf-8")
    for name in found:
        if not name.fine:
            print(f"{name.full}: {name.status} {name.detail}")
    fine = sum(name.fine for name in found)
    print(
        f"{fine} of {len(found)} names are the same or have a reason: {fine / len(found):.1%}; "
        f"{sum(name.status == 'same' for name in found)} the same"
    )
    return fine != len(found)


if __name__ == "__main__":
    sys.exit(main())
