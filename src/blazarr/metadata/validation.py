"""Everything that is wrong with a node's documents, at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from blazarr.dtypes import DataType
from blazarr.errors import BlazarrError
from blazarr.grids import parse_chunk_shape, parse_grid
from blazarr.metadata.array import parse_attributes, parse_shape, require
from blazarr.metadata.array_v2 import array_v2_from_json
from blazarr.metadata.array_v3 import (
    MEMBERS,
    array_v3_from_json,
    check_header,
    parse_codec,
    parse_extra,
)
from blazarr.metadata.consolidated import parse_inline, parse_zmetadata
from blazarr.metadata.document import JSON, decode, wrong
from blazarr.metadata.group import group_v2_from_json, group_v3_from_json
from blazarr.metadata.keys import parse_dimension_separator, parse_key_encoding
from blazarr.metadata.models import theirs
from blazarr.metadata.repair import repair_v2, repair_v3

Document: TypeAlias = dict[str, JSON]
Check: TypeAlias = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a document.

    Attributes
    ----------
    key
        The document's key in the store.
    path
        The place in it, such as ``codecs[0].configuration.level``; empty for all of it.
    message
        What is wrong.
    kind
        The `kind` of blazarr's error, or zarr-metadata's kind of problem.
    """

    key: str
    path: str
    message: str
    kind: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message}"


def problems_in(
    documents: Mapping[str, bytes | Mapping[str, JSON]], *, strict: bool = False, folder: str = ""
) -> tuple[Problem, ...]:
    """Return every problem of one node's documents.

    Parameters
    ----------
    documents
        A document's bytes, or what they decode to, by the name of its key: ``zarr.json``, ``.zarray``, ``.zgroup``,
        ``.zattrs``, ``.zmetadata``.
    strict
        Report everything that the specifications forbid, as zarr-metadata reads them; otherwise what keeps blazarr from
        reading the node.
    folder
        What the problems' keys begin with.

    Returns
    -------
    tuple of Problem

    Raises
    ------
    UnsupportedError
        If `strict` and zarr-metadata is not installed.
    """
    found: list[Problem] = []
    decoded: dict[str, Document] = {}
    for name, document in documents.items():
        try:
            decoded[name] = decode(document) if isinstance(document, bytes) else dict(document)
        except BlazarrError as error:
            found.append(_problem(folder + name, error))
    for name, document in decoded.items():
        found += _own(name, document, decoded, folder)
    if strict:
        theirs_too = _strict(decoded, folder)
        found += [problem for problem in theirs_too if not _is_known(problem, found)]
    return tuple(found)


def _is_known(problem: Problem, found: list[Problem]) -> bool:
    """Whether something is reported there already, or more closely."""
    same = (other for other in found if other.key == problem.key)
    return any(_is_within(other.path, problem.path) for other in same)


def _is_within(path: str, other: str) -> bool:
    return path == other or (path.startswith(other) and path[len(other)] in ".[")


def _own(
    name: str, document: Document, documents: Mapping[str, Document], folder: str
) -> list[Problem]:
    """Find what keeps blazarr from reading a document: all members first, then the whole of it."""
    parts = [_problem(folder + name, error) for error in _failures(_checks(name, document))]
    if parts:
        return parts
    whole = _failures([lambda: _parse(name, document, documents)])
    return [_problem(folder + name, error) for error in whole]


def _failures(checks: Iterable[Check]) -> Iterator[BlazarrError]:
    for check in checks:
        try:
            check()
        except BlazarrError as error:
            yield error


def _problem(key: str, error: BlazarrError) -> Problem:
    return Problem(key, str(error.path or ""), error.message, error.kind)


def _checks(name: str, document: Document) -> Iterator[Check]:
    if name == "zarr.json" and document.get("node_type") == "array":
        return _checks_array_v3(document)
    if name == "zarr.json":
        return _checks_group_v3(document)
    if name == ".zarray":
        return _checks_array_v2(document)
    return iter(())


def _checks_array_v3(stored: Document) -> Iterator[Check]:
    document = repair_v3(stored)
    yield lambda: check_header(document, "array")
    shape = _shape(document)
    if shape is None:
        yield lambda: parse_shape(require(document, "shape"))
    else:
        yield lambda: parse_grid(require(document, "chunk_grid"), shape)
    yield lambda: parse_key_encoding(require(document, "chunk_key_encoding"))
    yield from _checks_codecs(document.get("codecs"))
    yield lambda: _fill(document, DataType.from_v3(require(document, "data_type")), 3)
    yield lambda: parse_attributes(document.get("attributes"))
    for name, value in document.items():
        yield partial(parse_extra, {name: value}, MEMBERS)


def _checks_codecs(codecs: JSON) -> Iterator[Check]:
    for position, codec in enumerate(codecs if isinstance(codecs, list) else ()):
        yield partial(parse_codec, codec, f"codecs[{position}]")


def _checks_group_v3(document: Document) -> Iterator[Check]:
    yield lambda: check_header(document, "group")
    yield lambda: parse_attributes(document.get("attributes"))
    consolidated = document.get("consolidated_metadata")
    if consolidated is not None:
        yield lambda: parse_inline(consolidated)


def _checks_array_v2(stored: Document) -> Iterator[Check]:
    document = repair_v2(stored)
    shape = _shape(document)
    if shape is None:
        yield lambda: parse_shape(require(document, "shape"))
    else:
        yield lambda: parse_chunk_shape(require(document, "chunks"), shape, "chunks")
    filters = document.get("filters")
    codecs = [*(filters if isinstance(filters, list) else ()), document.get("compressor")]
    yield lambda: _fill(document, DataType.from_v2(require(document, "dtype"), codecs), 2)
    yield lambda: parse_dimension_separator(document.get("dimension_separator"))
    order = document.get("order", "C")
    if order not in ("C", "F"):
        yield lambda: _refuse("order", "'C' or 'F'", order)


def _refuse(path: str, wanted: str, found: JSON) -> None:
    raise wrong(path, wanted, found)


def _shape(document: Document) -> tuple[int, ...] | None:
    try:
        return parse_shape(document.get("shape"))
    except BlazarrError:
        return None


def _fill(document: Document, data_type: DataType, zarr_format: int) -> None:
    value = document.get("fill_value") if zarr_format == 2 else require(document, "fill_value")
    if value is not None:
        data_type.fill_from_json(value, zarr_format=zarr_format)


def _parse(name: str, document: Document, documents: Mapping[str, Document]) -> object:
    match name:
        case "zarr.json" if document.get("node_type") == "array":
            return array_v3_from_json(document)
        case "zarr.json":
            group = group_v3_from_json(document)
            return dict(group.consolidated_metadata or {})
        case ".zarray":
            return array_v2_from_json(document, documents.get(".zattrs"))
        case ".zgroup":
            return group_v2_from_json(document, documents.get(".zattrs"))
        case ".zmetadata":
            return dict(parse_zmetadata(document).consolidated_metadata or {})
    return document


def _strict(documents: Mapping[str, Document], folder: str) -> Iterator[Problem]:
    model = theirs("model")
    if "zarr.json" in documents:
        document = documents["zarr.json"]
        yield from _translated(model.read_node_metadata_v3(document), f"{folder}zarr.json")
        consolidated = document.get("consolidated_metadata")
        if isinstance(consolidated, dict):
            reading = model.read_consolidated_metadata_v3(consolidated)
            yield from _translated(reading, f"{folder}zarr.json", "consolidated_metadata")
    v2 = {name: documents[name] for name in (".zarray", ".zgroup", ".zattrs") if name in documents}
    if v2.keys() & {".zarray", ".zgroup"}:
        main = ".zarray" if ".zarray" in v2 else ".zgroup"
        yield from _translated(model.read_node_metadata_v2(v2), folder + main)
    if ".zmetadata" in documents:
        reading = model.read_consolidated_metadata_v2(documents[".zmetadata"])
        yield from _translated(reading, f"{folder}.zmetadata")


def _translated(reading: Any, key: str, *above: str) -> Iterator[Problem]:
    for problem in reading.problems:
        path = json_path((*above, *problem.loc))
        yield Problem(
            key, path, f"{path}: {problem.message}" if path else problem.message, problem.kind
        )


def json_path(parts: Iterable[str | int]) -> str:
    """Write a place in a document as blazarr's errors do: ``codecs[0].configuration.level``."""
    path = ""
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path
