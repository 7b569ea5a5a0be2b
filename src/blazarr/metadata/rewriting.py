"""Valid documents for the invalid ones that earlier releases and other writers stored.

`repair.py` and the fill values' parsers read them; here is what they should have been. A member that is valid is left as it
is spelled, and so are members that blazarr does not know.
"""

from __future__ import annotations

import json
from typing import Any

from blazarr.metadata.array_v2 import array_v2_from_json
from blazarr.metadata.array_v3 import array_v3_from_json
from blazarr.metadata.consolidated import split_inline
from blazarr.metadata.document import JSON
from blazarr.metadata.repair import repair_v2, repair_v3

_NULLABLE_V3 = ("attributes", "consolidated_metadata", "dimension_names", "storage_transformers")
_REQUIRED_V2 = ("order", "filters", "compressor", "fill_value")


def rewritten(name: str, document: dict[str, JSON], attributes: JSON = None) -> dict[str, JSON]:
    """Return the valid form of a decoded document; the same object where it is valid.

    Parameters
    ----------
    name
        Name of its key.
    document
        What it decodes to.
    attributes
        The node's ``.zattrs``, for a ``.zarray``.

    Raises
    ------
    MetadataError, UnsupportedError
        If the document can't be read at all.
    """
    match name:
        case "zarr.json" if document.get("node_type") == "array":
            return _array_v3(document)
        case "zarr.json":
            return _group_v3(document)
        case ".zarray":
            return _array_v2(document, attributes)
        case ".zmetadata":
            return _zmetadata(document)
    return document


def _array_v3(document: dict[str, JSON]) -> dict[str, JSON]:
    metadata = array_v3_from_json(document)
    valid = _without_nulls(repair_v3(document))
    fill = metadata.data_type.fill_to_json(metadata.fill_value)
    return _with_fill(valid, fill)


def _group_v3(document: dict[str, JSON]) -> dict[str, JSON]:
    valid = _without_nulls(document)
    consolidated = valid.get("consolidated_metadata")
    members = consolidated.get("metadata") if isinstance(consolidated, dict) else None
    if not isinstance(consolidated, dict) or not isinstance(members, dict):
        return valid
    new = {path: _inline_member(path, stored) for path, stored in members.items()}
    if all(new[path] is members[path] for path in members):
        return valid
    return {**valid, "consolidated_metadata": {**consolidated, "metadata": new}}


def _inline_member(path: str, stored: JSON) -> JSON:
    documents = split_inline(stored, path)
    if "zarr.json" in documents:
        return rewritten("zarr.json", stored)
    if ".zarray" not in documents:
        return stored
    valid = rewritten(".zarray", documents[".zarray"], documents[".zattrs"])
    unchanged = valid is documents[".zarray"]
    return stored if unchanged else {**valid, "attributes": documents[".zattrs"]}


def _array_v2(document: dict[str, JSON], attributes: JSON) -> dict[str, JSON]:
    metadata = array_v2_from_json(document, attributes)
    canonical = metadata.documents()[".zarray"]
    valid = repair_v2(document)
    missing = {name: canonical[name] for name in _REQUIRED_V2 if name not in document}
    if missing:
        valid = {**valid, **missing}
    if canonical["dtype"] != valid["dtype"]:
        valid = {**valid, "dtype": canonical["dtype"]}
    return _with_fill(valid, canonical["fill_value"])


def _zmetadata(document: dict[str, JSON]) -> dict[str, JSON]:
    entries = document.get("metadata")
    if not isinstance(entries, dict):
        return document
    new = {}
    for key, stored in entries.items():
        folder, _, name = key.rpartition("/")
        attributes = entries.get(f"{folder}/.zattrs" if folder else ".zattrs")
        valid = rewritten(name, stored, attributes)
        if name == ".zgroup" and "consolidated_metadata" in valid:
            # zarr-python 3 wrote one into each group below the root.
            valid = {own: value for own, value in valid.items() if own != "consolidated_metadata"}
        new[key] = valid
    unchanged = all(new[key] is entries[key] for key in entries)
    return document if unchanged else {**document, "metadata": new}


def _without_nulls(document: dict[str, JSON]) -> dict[str, JSON]:
    nulls = {name for name in _NULLABLE_V3 if name in document and document[name] is None}
    if not nulls:
        return document
    return {name: value for name, value in document.items() if name not in nulls}


def _with_fill(document: dict[str, JSON], fill: JSON) -> dict[str, JSON]:
    stored = document.get("fill_value")
    if _is_valid_spelling(stored, fill, document["zarr_format"]):
        return document
    return {**document, "fill_value": fill}


def _is_valid_spelling(stored: JSON, canonical: JSON, zarr_format: int) -> bool:
    """Whether a fill value is spelled in a way that its data type allows; there may be several."""
    if isinstance(canonical, list) and isinstance(stored, list):
        pairs = zip(stored, canonical, strict=False)
        return len(stored) == len(canonical) and all(
            _is_valid_spelling(one, other, zarr_format) for one, other in pairs
        )
    if isinstance(stored, str) and not isinstance(canonical, str):
        # Bits, a missing time, or a record's bytes as base64.
        return stored.startswith("0x") or stored == "NaT" or isinstance(canonical, dict)
    if isinstance(stored, list) and isinstance(canonical, str):
        return zarr_format == 3
    whole_number = type(canonical) is float and type(stored) is int
    return whole_number or type(stored) is type(canonical)


def changed_paths(before: Any, after: Any, path: str = "") -> tuple[str, ...]:
    """Return the places where two documents differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        places: list[str] = []
        for name in {**before, **after}:
            where = f"{path}.{name}" if path else name
            if name not in before or name not in after:
                places.append(where)
            else:
                places += changed_paths(before[name], after[name], where)
        return tuple(places)
    # As JSON, where true is not 1 and NaN equals itself.
    return () if json.dumps(before) == json.dumps(after) else (path,)
