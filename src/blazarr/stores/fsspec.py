"""A folder of an fsspec file system."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from blazarr.errors import StoreError
from blazarr.stores.base import PAGE, Capabilities, Children, Data, Page, file_location
from blazarr.stores.unversioned import WRITES, Bounds, UnversionedStore

MISSING = (FileNotFoundError, IsADirectoryError, NotADirectoryError)
# Names that lead out of a folder, should a listing have them.
OUTSIDE = {"", ".", ".."}


class FsspecStore(UnversionedStore):
    """A folder of an fsspec file system.

    Only a file that is not there is a missing key; every other failure is an error.

    Parameters
    ----------
    fs
        The file system.
    path
        The folder.
    read_only
        Refuse every change.
    """

    def __init__(self, fs: Any, path: str = "", *, read_only: bool = False) -> None:
        if getattr(fs, "asynchronous", False):
            # Such a file system belongs to a loop of its user's; its twin runs on fsspec's own.
            import fsspec

            scheme = fs.protocol if isinstance(fs.protocol, str) else fs.protocol[0]
            fs = fsspec.filesystem(scheme, **fs.storage_options | {"asynchronous": False})
        self.fs = fs
        self.path = path.rstrip("/")
        self._read_only = read_only

    @classmethod
    def from_url(
        cls, url: str, storage_options: Mapping[str, Any] | None = None, *, read_only: bool = False
    ) -> FsspecStore:
        """Return the store for a URL.

        Parameters
        ----------
        url
            Any that fsspec knows.
        storage_options
            Options of the file system.
        read_only
            Refuse every change.
        """
        from fsspec.core import url_to_fs

        fs, path = url_to_fs(url, **dict(storage_options or {}))
        return cls(fs, path, read_only=read_only)

    @property
    def capabilities(self) -> Capabilities:
        """What this store can do."""
        return Capabilities(read_only=self._read_only, ranges=True, writes=WRITES)

    def location(self, folder: str = "") -> str:
        """Return the URL of a folder; see `Store.location`."""
        schemes = {self.fs.protocol} if isinstance(self.fs.protocol, str) else {*self.fs.protocol}
        if schemes & {"file", "local"}:
            return file_location(self.path, folder)
        return f"{id(self.fs)}:{self.path}/{folder}".rstrip("/")

    def fetch(self, parts: Sequence[tuple[str, Bounds]]) -> list[Data | None]:
        """Return parts of values; see `UnversionedStore.fetch`."""
        if len(parts) == 1:
            return [self._get(*parts[0])]
        try:
            found = self.fs.cat_ranges(
                [self._full(key) for key, _ in parts],
                [start or None for _, (start, _) in parts],
                [stop for _, (_, stop) in parts],
                on_error="return",
            )
        except NotImplementedError:
            return [self._get(key, part) for key, part in parts]
        return [
            # What failed is asked again by itself: ends beyond a file's are refused by some.
            self._get(key, part) if isinstance(data, Exception) else _cut(data, part)
            for (key, part), data in zip(parts, found, strict=True)
        ]

    def _get(self, key: str, part: Bounds) -> Data | None:
        start, stop = part
        try:
            if part != (0, None):
                length = self._length(key)
                # Not every file system counts from the end.
                start = max(0, length + start) if start < 0 else start
                if start == stop or start >= length:
                    return b""
            data = self.fs.cat_file(self._full(key), start=start or None, end=stop)
            return _cut(data, (start, stop))
        except MISSING:
            return None
        except Exception as error:
            raise self._failed(key, error) from error

    def _length(self, key: str) -> int:
        found: int = self.fs.info(self._full(key))["size"]
        return found

    def _failed(self, key: str, error: Exception, verb: str = "read") -> StoreError:
        what = f"{type(error).__name__}: {error}"
        return StoreError(f"{self}: {key!r} could not be {verb}: {what}", store=str(self), key=key)

    def write(self, key: str, data: Data) -> None:
        """Replace a value."""
        path = self._full(key)
        try:
            self.fs.makedirs(path.rpartition("/")[0], exist_ok=True)
            self.fs.pipe_file(path, bytes(data))
        except Exception as error:
            raise self._failed(key, error, "written") from error

    def remove(self, key: str) -> None:
        """Delete a value that is there."""
        try:
            self.fs.rm_file(self._full(key))
        except Exception as error:
            raise self._failed(key, error, "deleted") from error
        self.fs.invalidate_cache()

    def size(self, key: str) -> int | None:
        """Return the size of a value; None where the key does not exist."""
        try:
            info = self.fs.info(self._full(key))
        except MISSING:
            return None
        except Exception as error:
            raise self._failed(key, error) from error
        return info["size"] if info["type"] == "file" else None

    def list(self, prefix: str = "", start_after: str = "") -> Iterator[Page]:
        """Yield keys and sizes by pages; see `Store.list`."""
        self.fs.invalidate_cache()
        entries = self._walk(prefix, start_after)
        while page := [*itertools.islice(entries, PAGE)]:
            yield page

    def _walk(self, prefix: str, start_after: str) -> Iterator[tuple[str, int]]:
        """Yield keys and sizes in order, a folder at a time: fsspec has no pages."""
        open_folders = [self._wanted(prefix.rpartition("/")[0], prefix, start_after)]
        while open_folders:
            key, size = next(open_folders[-1], (None, 0))
            if key is None:
                open_folders.pop()
            elif key.endswith("/"):
                open_folders.append(self._wanted(key[:-1], prefix, start_after))
            else:
                yield key, size

    def _wanted(self, folder: str, prefix: str, start_after: str) -> Iterator[tuple[str, int]]:
        """Yield of a folder what may have keys that are wanted; names of folders end in a slash."""
        start = f"{folder}/" if folder else ""
        # With its slash a folder has the place in the order that the keys in it have.
        entries = ((f"{start}{name}", size) for name, size in sorted(self._entries(folder).items()))
        for key, size in entries:
            after = key > start_after or (key[-1] == "/" and start_after.startswith(key))
            if after and key.startswith(prefix):
                yield key, size

    def children(self, folder: str = "") -> Children:
        """Return the names of what is directly in a folder."""
        self.fs.invalidate_cache()
        names = sorted(self._entries(folder.rstrip("/"), follow=True))
        keys = [name for name in names if name[-1] != "/"]
        return Children(keys, sorted(name[:-1] for name in names if name[-1] == "/"))

    def _entries(self, folder: str, *, follow: bool = False) -> dict[str, int]:
        """Return the sizes of what is in a folder, by name; those of folders end in a slash.

        Links to folders are folders where they shall be followed.
        """
        path = self._full(folder).rstrip("/")
        try:
            found = self.fs.ls(path, detail=True)
        except MISSING:
            return {}
        except Exception as error:
            raise self._failed(folder, error, "listed") from error
        entries = {}
        for info in found:
            above, _, name = info["name"].rstrip("/").rpartition("/")
            # Some name a folder, or what is a file, as what is in it.
            if f"{above}/{name}".strip("/") == path.strip("/") or name in OUTSIDE:
                continue
            kind = info["type"]
            linked = follow and kind not in {"file", "directory"} and self.fs.isdir(info["name"])
            if linked or kind == "directory":
                entries[f"{name}/"] = 0
            else:
                entries[name] = info["size"]
        # Of a walk through many folders no listing is kept.
        self.fs.invalidate_cache(path)
        return entries

    def _full(self, key: str) -> str:
        return f"{self.path}/{key}" if self.path else key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FsspecStore) and (self.fs, self.path, self._read_only) == (
            other.fs,
            other.path,
            other._read_only,
        )

    def __hash__(self) -> int:
        return hash((self.path, self._read_only))

    def __str__(self) -> str:
        return without_user(str(self.fs.unstrip_protocol(self.path)))

    def __repr__(self) -> str:
        return f"FsspecStore({str(self)!r}{', read_only=True' if self._read_only else ''})"


def without_user(url: str) -> str:
    """Return a URL, or a chain of them, as it may be shown: without user and password."""
    return re.sub(r"://[^/?#]*@", "://", url)


def _cut(data: bytes, part: Bounds) -> bytes:
    start, stop = part
    return data if stop is None else data[: stop - start]
