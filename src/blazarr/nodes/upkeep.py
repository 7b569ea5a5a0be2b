"""What is done to the documents of a whole hierarchy: looked through, repaired, brought to format 3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from blazarr.errors import BlazarrError, MetadataError, UnsupportedError
from blazarr.metadata.document import JSON, decode, encode
from blazarr.metadata.rewriting import changed_paths, rewritten
from blazarr.metadata.validation import Problem, problems_in
from blazarr.nodes.documents import Documents
from blazarr.nodes.location import StorePath

NAMES = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Repair:
    """A document that was stored wrongly, and what it should have been.

    Attributes
    ----------
    key
        The document's key in the store.
    paths
        The places in it that change.
    before, after
        The document as it is stored, and its valid form.
    """

    key: str
    paths: tuple[str, ...]
    before: bytes
    after: bytes

    def __str__(self) -> str:
        return f"{self.key}: {', '.join(self.paths)}"


def walk(place: StorePath) -> Iterator[tuple[StorePath, Documents]]:
    """Yield every node at and below a place with its documents, whatever they say, parents first.

    Unlike `members.walk` it parses nothing, so that documents which can't be parsed are found as well.
    """
    waiting = [place]
    while waiting:
        here = waiting.pop()
        found = here.read(NAMES)
        if found:
            yield here, found
        if (found or here == place) and not _is_array(found):
            waiting += [here.child(name) for name in reversed(here.child_names())]


def _is_array(found: Documents) -> bool:
    """Whether nothing below can be a node: an array, or what can't be read, whose folders may be chunks."""
    try:
        return (
            ".zarray" in found or (_decoded(found, "zarr.json") or {}).get("node_type") == "array"
        )
    except BlazarrError:
        return True


def problems(place: StorePath, *, strict: bool) -> Iterator[Problem]:
    """Yield the problems of every document at and below a place."""
    for here, found in walk(place):
        documents = {name: document for name, (document, _) in found.items()}
        yield from problems_in(documents, strict=strict, folder=here.prefix)


def repairs(place: StorePath, *, apply: bool) -> Iterator[Repair]:
    """Yield the documents at and below a place that are stored wrongly; write their valid forms, where asked to."""
    if apply:
        place.require_writable()
    for here, found in walk(place):
        for name, (before, generation) in found.items():
            repair = _repair(here.prefix + name, name, before, found)
            if repair is None:
                continue
            if apply:
                here.put(name, repair.after, if_generation=generation)
            yield repair


def _repair(key: str, name: str, before: bytes, found: Documents) -> Repair | None:
    try:
        document = decode(before)
        valid = rewritten(name, document, _decoded(found, ".zattrs"))
    except (MetadataError, UnsupportedError):
        # It can't be read at all, so nobody knows what it should be; `validate` says what is wrong.
        return None
    if valid is document and not before.startswith(_BYTE_ORDER_MARK):
        return None
    return Repair(key, changed_paths(document, valid) or ("",), before, encode(valid))


def _decoded(found: Documents, name: str) -> dict[str, JSON] | None:
    return decode(found[name][0]) if name in found else None
