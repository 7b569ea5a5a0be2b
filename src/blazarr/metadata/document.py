"""Metadata documents as JSON: decoding under limits, encoding as zarr-python does, errors' places.

The standard library's decoder is used: with the hook that finds duplicate keys it takes as long
as a faster decoder plus a second look at the text, and it reads what others refuse (NaN, big
integers, lone surrogates) as zarr-python does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from blazarr.config import config
from blazarr.errors import BlazarrError, LimitError, MetadataError

JSON = Any


def decode(
    document: bytes, checked: Callable[[dict[str, Any]], JSON] | None = None
) -> dict[str, Any]:
    """Decode a document, which must be an object.

    `checked` picks the part whose depth is checked, where whoever uses the rest calls `check_depth` on it.
    """
    limits = config.limits
    if len(document) > limits.document_bytes:
        raise LimitError(
            f"the document has {len(document)} bytes, more than {limits.document_bytes}; "
            "raise limits.document_bytes if it is to be trusted",
            size=len(document),
            limit=limits.document_bytes,
        )
    value = _loads(document)
    if not isinstance(value, dict):
        raise MetadataError(f"the document is not a JSON object but {type(value).__name__}")
    if document.count(b"{") + document.count(b"[") > limits.json_depth:
        check_depth(value if checked is None else checked(value))
    return value


def _loads(document: bytes) -> JSON:
    try:
        # A byte order mark is not allowed in JSON, but editors add it and zarr-python reads it.
        return _DECODER.decode(bytes(document).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        message = f"the document is not UTF-8 (byte {error.start})"
        raise MetadataError(message, offset=error.start) from None
    except json.JSONDecodeError as error:
        what = "is empty" if not document.strip() else f"is not JSON: {error}"
        raise MetadataError(f"the document {what}", offset=error.pos) from None
    except RecursionError:
        raise _too_deep(config.limits.json_depth) from None
    except BlazarrError:
        raise
    except ValueError as error:
        # An integer of more digits than Python converts.
        raise MetadataError(f"the document is not usable JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        repeated = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise MetadataError(
            f"key {repeated[:60]!r} appears twice in one object, so its value is unclear",
            path=repeated,
        )
    return members


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)


def check_depth(value: JSON) -> None:
    """Refuse a decoded value that nests deeper than ``limits.json_depth``."""
    limit = config.limits.json_depth
    level = [value]
    for _ in range(limit):
        level = [
            item
            for container in level
            for item in (container.values() if container.__class__ is dict else container)
            if item.__class__ is dict or item.__class__ is list
        ]
        if not level:
            return
    raise _too_deep(limit)


def _too_deep(limit: int) -> LimitError:
    return LimitError(
        f"the document nests deeper than {limit} levels; raise limits.json_depth if it is to be "
        "trusted",
        limit=limit,
    )


def encode(document: JSON) -> bytes:
    """Encode a document as zarr-python does, indented as config ``json_indent`` says."""
    try:
        return json.dumps(document, indent=config.get("json_indent")).encode()
    except TypeError as error:
        found = _foreign(document)
        if found is None:
            raise
        raise TypeError(f"{found}: {error}; .item() and .tolist() convert numpy's") from None


def encode_readable(
    document: JSON, checked: Callable[[dict[str, Any]], JSON] | None = None
) -> bytes:
    """Encode a document; one that `decode` would refuse (two keys that are one as text, say) is an error."""
    encoded = encode(document)
    decode(encoded, checked)
    return encoded


def _foreign(value: JSON, path: str = "") -> str | None:
    """Return the place of the first value that JSON doesn't have."""
    if value is None or isinstance(value, str | int | float):
        return None
    if isinstance(value, Mapping):
        below = ((f"{path}.{name}" if path else str(name), item) for name, item in value.items())
    elif isinstance(value, list | tuple):
        below = ((f"{path}[{place}]", item) for place, item in enumerate(value))
    else:
        return path
    found = (_foreign(item, place) for place, item in below)
    return next((place for place in found if place is not None), None)


class Naming:
    """Within the ``with`` block, errors come to name the document they are about."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, BlazarrError) and error.key is None:
            error.key = self._key
            error.message = f"{self._key}: {error.message}"
            error.args = (error.message,)


def shown(value: object) -> str:
    """Show a value from a document, cut short."""
    head = value[:40] if isinstance(value, str | list) else value
    text = "nothing" if value is None else repr(head)
    return text if len(text) <= 60 else f"{text[:57]}..."


def wrong(path: str, wanted: str, found: object) -> MetadataError:
    """Make the error for a member that is not what it should be."""
    return MetadataError(f"{path}: expected {wanted}, found {shown(found)}", path=path)
