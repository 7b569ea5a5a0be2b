"""Make THIRD_PARTY_NOTICES.md: the licence texts of everything that the wheel links.

    python tools/notices.py           rewrites the file
    python tools/notices.py --check   fails where it is out of date

Linked are the crates that `cargo metadata` reaches from the border crate over normal dependencies (no build
tools, no procedural macros, every platform), and the C libraries that some of them carry in a folder of their own.
"""

import argparse
import dataclasses
import hashlib
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
NOTICES = REPOSITORY / "THIRD_PARTY_NOTICES.md"
ROOT_CRATE = "blazarr-py"
LICENCE_FILE = re.compile(r"^(un)?(licen[cs]e|copying|notice|copyright)", re.IGNORECASE)
# Texts that a choice of licences leaves out: crates under "MIT OR ..." are used under MIT, zstd under BSD, not GPL.
OTHER_CHOICE = re.compile(r"apache|unlicense|zlib|boost", re.IGNORECASE)
GPL = re.compile(r"\s*GNU GENERAL PUBLIC LICENSE")
# A crate's own tests and examples are not linked, and neither are their licences wanted.
NOT_LINKED = {
    "tests",
    "test",
    "examples",
    "benches",
    "doc",
    "docs",
    "contrib",
    "programs",
    "fuzz",
    "target",
}

HEADER = """\
# Third-party notices

blazarr itself is under the MIT licence (LICENSE). Its compiled core links the Rust standard library
(MIT or Apache-2.0, the Rust project contributors) and the packages below. Where a package offers a choice of
licences, blazarr uses it under MIT where that is offered. Made by `make notices`.
"""


@dataclasses.dataclass(frozen=True)
class Notice:
    """One package and the licence texts found in its sources."""

    name: str
    version: str
    expression: str
    authors: tuple[str, ...]
    texts: tuple[tuple[str, str], ...]  # where in the package, the text


def cargo_metadata() -> dict:
    """Cargo's own description of the workspace and all that it depends on."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    done = subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def linked_packages(metadata: dict) -> list[dict]:
    """Packages reached from the border crate over normal dependencies, procedural macros left out."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    todo = [key for key, package in packages.items() if package["name"] == ROOT_CRATE]
    seen = set(todo)
    while todo:
        for dependency in nodes[todo.pop()]["deps"]:
            key = dependency["pkg"]
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if normal and key not in seen and not is_macro(packages[key]):
                seen.add(key)
                todo.append(key)
    outside = (packages[key] for key in seen if packages[key]["source"] is not None)
    return sorted(outside, key=lambda package: (package["name"], package["version"]))


def is_macro(package: dict) -> bool:
    """Whether the package runs in the compiler and is not linked."""
    return any("proc-macro" in target["kind"] for target in package["targets"])


def licence_texts(folder: Path, *, chosen_mit: bool) -> Iterator[tuple[str, str]]:
    """Licence files of a package, those of C libraries inside it included."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if not NOT_LINKED.isdisjoint(inside.parts[:-1]) or not is_licence(path):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if not (chosen_mit and OTHER_CHOICE.search(path.name)) and not GPL.match(text):
            yield inside.as_posix(), "\n".join(map(str.rstrip, text.splitlines())).strip("\n")


def is_licence(path: Path) -> bool:
    """Whether a path is a licence text and not source code or a folder."""
    code = path.suffix in {".rs", ".c", ".h", ".py", ".sh"}
    return bool(LICENCE_FILE.match(path.name)) and not code and path.is_file()


def notice(package: dict) -> Notice:
    """What has to be said about one package."""
    expression = package["license"] or "see the text"
    chosen_mit = "MIT" in re.split(r" OR |/", expression)
    texts = tuple(licence_texts(Path(package["manifest_path"]).parent, chosen_mit=chosen_mit))
    return Notice(package["name"], package["version"], expression, tuple(package["authors"]), texts)


def render(notices: list[Notice]) -> str:
    """Return the whole document; a text shared by several packages stands in it once."""
    users = defaultdict(list)
    bodies = {}
    for item in notices:
        for where, text in item.texts:
            digest = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()
            bodies.setdefault(digest, text)
            users[digest].append(f"{item.name} ({where})")
    parts = [HEADER, "## Packages\n", *map(listing, notices), "\n## Licence texts\n"]
    for digest, text in bodies.items():
        parts.append(f"### {', '.join(users[digest])}\n\n````text\n{text}\n````\n")
    return "\n".join(parts)


def listing(item: Notice) -> str:
    """One line of the list of packages; authors only where no licence text names them."""
    authors = "" if item.texts or not item.authors else f", by {', '.join(item.authors)}"
    return f"- {item.name} {item.version}: {item.expression}{authors}"


def main() -> int:
    """Write the file, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail where the file is out of date")
    wanted = render([notice(package) for package in linked_packages(cargo_metadata())])
    if not parser.parse_args().check:
        NOTICES.write_text(wanted, encoding="utf-8")
        return 0
    if NOTICES.is_file() and NOTICES.read_text(encoding="utf-8") == wanted:
        return 0
    print("THIRD_PARTY_NOTICES.md is out of date; run `make notices`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
