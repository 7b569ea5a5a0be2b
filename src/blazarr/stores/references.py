"""References into other files, as kerchunk and VirtualiZarr write them."""

from __future__ import annotations

import base64
import binascii
import json
import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from blazarr._core import parse_key
from blazarr.errors import BlazarrError, CorruptError, ReadOnlyError, StoreError, UnsupportedError
from blazarr.stores.base import (
    ANY,
    PAGE,
    Capabilities,
    Data,
    Expect,
    Generation,
    Page,
    Store,
    bounds,
)

INLINE: Final = "base64:"

# A key's value itself, or where it is: the place, and a part of it where it is not all.
Reference = bytes | tuple[str, slice | None]


class ReferenceStore(Store):
    """Values that lie in other files, for reading.

    Parameters
    ----------
    references
        The references as kerchunk has them in JSON (version 0 or 1), or the path of such a file.
    allow
        Folders and URLs below which references may point. Whatever points elsewhere is refused
        when it is read; without any only values within the references themselves are.
    remote_options
        ``storage_options`` of the stores that these URLs are.
    """

    def __init__(
        self,
        references: Mapping[str, Any] | str | os.PathLike[str],
        *,
        allow: Sequence[str | os.PathLike[str]] = (),
        remote_options: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(allow, str | os.PathLike):
            raise TypeError("allow is a list of folders and URLs")
        self._given = references
        self._references = _parsed(references)
        self._allow = tuple(_root(place) for place in allow)
        self._options = dict(remote_options or {})

    @property
    def capabilities(self) -> Capabilities:
        """What this store can do."""
        return Capabilities(read_only=True, ranges=True)

    def get(self, key: str, range: slice | None = None) -> tuple[Data, Generation] | None:
        """Return what is under a key; see `Store.get`."""
        return self.get_many([key], [range])[0]

    def get_many(
        self, keys: Sequence[str], ranges: Sequence[slice | None] | None = None
    ) -> list[tuple[Data, Generation] | None]:
        """Return what is under many keys; see `Store.get_many`."""
        wanted = [self._references.get(parse_key(key)) for key in keys]
        found: list[tuple[Data, Generation] | None] = [None] * len(keys)
        elsewhere: dict[int, list[tuple[int, str, slice | None]]] = {}
        for n, (reference, part) in enumerate(
            zip(wanted, ranges or [None] * len(keys), strict=True)
        ):
            if isinstance(reference, bytes):
                start, stop = bounds(part)
                found[n] = memoryview(reference)[start:stop], reference
            elif reference is not None:
                root, place = self._find(keys[n], reference[0])
                elsewhere.setdefault(root, []).append((n, place, _within(reference[1], part)))
        for root, asked in elsewhere.items():
            answers = self._stores[root].get_many(
                [place for _, place, _ in asked], [part for _, _, part in asked]
            )
            for (n, place, part), answer in zip(asked, answers, strict=True):
                found[n] = self._checked(keys[n], place, part, answer)
        return found

    def _checked(
        self, key: str, place: str, part: slice | None, answer: tuple[Data, Generation] | None
    ) -> tuple[Data, Generation]:
        # A file that is gone is no missing chunk.
        if answer is None:
            raise StoreError(f"{key!r} refers to {place!r}, which is not there", key=key)
        if part is not None and part.stop is not None and len(answer[0]) != part.stop - part.start:
            raise CorruptError(f"{key!r} refers to bytes behind the end of {place!r}", key=key)
        return answer

    @cached_property
    def _stores(self) -> Sequence[Store]:
        from blazarr.stores.resolve import store_from

        return [
            store_from(root, "r", self._options if "://" in root else None)[0]
            for root in self._allow
        ]

    def _find(self, key: str, place: str) -> tuple[int, str]:
        """Return which of the allowed roots a place lies in, and its key there."""
        full = place if "://" in place else str(Path(place).absolute())
        full = full.removeprefix("file://")
        for number, root in enumerate(self._allow):
            if full.startswith(f"{root}/"):
                inner = full[len(root) + 1 :]
                return number, parse_key(unquote(inner) if "://" in root else inner)
        raise BlazarrError(
            f"{key!r} refers to {place!r}, where it may not; allow={[*self._allow]}",
            kind="reference",
            key=key,
        )

    def size(self, key: str) -> int | None:
        """Return the size of a value; None where the key does not exist."""
        reference = self._references.get(parse_key(key))
        if reference is None or isinstance(reference, bytes):
            return None if reference is None else len(reference)
        part = reference[1]
        if part is not None and part.stop is not None:
            return int(part.stop - part.start)
        root, place = self._find(key, reference[0])
        return self._stores[root].size(place)

    def list(self, prefix: str = "", start_after: str = "") -> Iterator[Page]:
        """Yield keys and sizes by pages; see `Store.list`."""
        keys = self._keys
        first = (
            bisect_left(keys, prefix) if prefix > start_after else bisect_right(keys, start_after)
        )
        while first < len(keys):
            page = [key for key in keys[first : first + PAGE] if key.startswith(prefix)]
            if not page:
                return
            yield [(key, self.size(key) or 0) for key in page]
            first += PAGE

    @cached_property
    def _keys(self) -> Sequence[str]:
        return sorted(self._references)

    def put(self, key: str, data: Data, if_generation: Generation | Expect = ANY) -> Generation:
        """Raise `ReadOnlyError`."""
        raise ReadOnlyError(f"{self} is read-only; {key!r} was not changed", key=key)

    def delete(self, key: str, if_generation: Generation | Expect = ANY) -> bool:
        """Raise `ReadOnlyError`."""
        raise ReadOnlyError(f"{self} is read-only; {key!r} was not changed", key=key)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._given, self._allow, self._options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReferenceStore) and (
            self._references,
            self._allow,
            self._options,
        ) == (other._references, other._allow, other._options)

    def __hash__(self) -> int:
        return hash((len(self._references), self._allow))

    def __str__(self) -> str:
        name = self._given if isinstance(self._given, str | os.PathLike) else ""
        return f"reference://{name}"


def _restore(references: Any, allow: Any, options: Any) -> ReferenceStore:
    return ReferenceStore(references, allow=allow, remote_options=options)


def _parsed(references: Mapping[str, Any] | str | os.PathLike[str]) -> dict[str, Reference]:
    if not isinstance(references, Mapping):
        path = Path(references)
        if path.is_dir():
            raise UnsupportedError(
                f"{path} is a folder; references in Parquet are not read, write them as JSON",
                argument="references",
            )
        try:
            references = json.loads(path.read_bytes())
        except ValueError as error:
            raise CorruptError(f"{path} is no JSON: {error}") from error
    if not isinstance(references, Mapping):
        raise CorruptError("references are an object of keys, not a list or a value")
    if "gen" in references:
        raise UnsupportedError("references that are generated ('gen') are not read")
    templates = references.get("templates", {})
    entries = references.get("refs", references)
    return {parse_key(key): _reference(key, value, templates) for key, value in entries.items()}


def _reference(key: str, value: Any, templates: Mapping[str, str]) -> Reference:
    match value:
        case bytes():
            return value
        case str() if value.startswith(INLINE):
            try:
                return base64.b64decode(value.removeprefix(INLINE), validate=True)
            except (binascii.Error, ValueError) as error:
                raise CorruptError(f"{key!r} is no base64: {error}", key=key) from error
        case str():
            return value.encode()
        case dict():
            return json.dumps(value).encode()
        case [str(place)]:
            return _filled(place, templates), None
        case [str(place), int(offset), int(length)] if offset >= 0 and length >= 0:
            return _filled(place, templates), slice(offset, offset + length)
        case _:
            raise CorruptError(
                f"{key!r} is {value!r}; a reference is a text, [place] or [place, offset, length]",
                key=key,
            )


def _filled(place: str, templates: Mapping[str, str]) -> str:
    for name, text in templates.items():
        place = place.replace("{{" + name + "}}", text)
    return place


def _root(place: str | os.PathLike[str]) -> str:
    text = os.fspath(place).removeprefix("file://")
    return text.rstrip("/") if "://" in text else str(Path(text).absolute()).rstrip("/")


def _within(whole: slice | None, part: slice | None) -> slice | None:
    """Return the part of a part."""
    if whole is None or part is None:
        return whole if part is None else part
    length = whole.stop - whole.start
    first, last, _ = slice(*bounds(part)).indices(length)
    return slice(whole.start + first, whole.start + max(first, last))
