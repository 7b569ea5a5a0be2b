"""Measure what a store of a million keys costs to list: the peak of memory of a new process, and its time.

    python benchmarks/listing.py [PLACE ...]

The store is a group with one array of 1,000 x 1,000 chunks, a folder for each row. It lies in a local folder and in an archive, made by
processes of their own. Listed are all keys, `nchunks_initialized`, the group's members and its tree; then a group of 20,000 arrays.
"""

import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import blazarr
from blazarr.stores import LocalStore, MemoryStore, Store, ZipStore

ROWS = COLUMNS = 1000
ARRAYS = 20_000


def make_folder(path: Path) -> None:
    """Write a million files of one byte, and the documents."""
    array = blazarr.create_group(path).create_array(
        "a", shape=(ROWS, COLUMNS), chunks=(1, 1), dtype="u1"
    )
    document = (path / "a" / "zarr.json").read_bytes()
    assert array.nchunks == ROWS * COLUMNS
    for row in range(ROWS):
        folder = path / "a" / "c" / str(row)
        folder.mkdir(parents=True)
        for column in range(COLUMNS):
            (folder / str(column)).write_bytes(b"x")
    many = path.with_name(f"{path.name}.many")
    blazarr.create_group(many)
    for number in range(ARRAYS):
        (many / f"{number:05}").mkdir()
        (many / f"{number:05}" / "zarr.json").write_bytes(document)


def make_archive(folder: Path, path: Path) -> None:
    """Put what is in a folder into an archive."""
    with zipfile.ZipFile(path, "w") as archive:
        for page in LocalStore(folder).list():
            for key, _ in page:
                archive.writestr(key, (folder / key).read_bytes())


def local(folder: Path) -> Store:
    return LocalStore(folder)


def archive(folder: Path) -> Store:
    return ZipStore(folder.with_name(f"{folder.name}.zip"))


def fsspec(folder: Path) -> Store:
    import fsspec

    from blazarr.stores.fsspec import FsspecStore

    return FsspecStore(fsspec.filesystem("file"), str(folder))


def zarr_python(folder: Path) -> Store:
    import zarr

    from blazarr.stores.zarr_python import ZarrPythonStore

    return ZarrPythonStore(zarr.storage.LocalStore(folder))


def memory(folder: Path) -> Store:
    """Return a copy in memory, which is part of the peak."""
    store = MemoryStore()
    for page in LocalStore(folder).list():
        for key, _ in page:
            store.put(key, (folder / key).read_bytes())
    return store


def mapping(folder: Path) -> Store:
    values: dict[str, bytes] = {}
    for page in LocalStore(folder).list():
        values.update((key, (folder / key).read_bytes()) for key, _ in page)
    return MemoryStore(values)


PLACES = {made.__name__: made for made in (local, archive, fsspec, zarr_python, memory, mapping)}
OPERATIONS: dict[str, Callable[[Store], Any]] = {
    "nothing": lambda store: store.exists("zarr.json"),
    "keys": lambda store: sum(len(page) for page in store.list()),
    "nchunks_initialized": lambda store: (
        blazarr.open_array(store, path="a", mode="r").nchunks_initialized
    ),
    "members": lambda store: sum(1 for _ in blazarr.open_group(store, mode="r").members()),
    "tree": lambda store: len(str(blazarr.open_group(store, mode="r").tree())),
}


def measure(place: str, folder: str, operation: str) -> None:
    """Print the result, seconds, and the peak of memory in MiB."""
    store = PLACES[place](Path(folder))
    start = time.perf_counter()
    found = OPERATIONS[operation](store)
    seconds = time.perf_counter() - start
    # Not ru_maxrss, which a new process has from the one that started it.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
    print(f"| {place} | {operation} | {found} | {seconds:.1f} | {peak:.0f} |", flush=True)


def run(*arguments: str) -> None:
    subprocess.run([sys.executable, __file__, *arguments], check=True)


def main(places: list[str]) -> None:
    print("| place | operation | result | s | peak, MiB |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "million")
        many = folder.with_name("million.many")
        make_folder(folder)
        if "archive" in places:
            make_archive(folder, Path(f"{folder}.zip"))
            make_archive(many, Path(f"{many}.zip"))
        for place in places:
            for operation in OPERATIONS:
                run("measure", place, str(folder), operation)
            for operation in ("members", "tree"):
                run("measure", place, str(many), operation)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(*sys.argv[2:])
    else:
        main(sys.argv[1:] or list(PLACES))
