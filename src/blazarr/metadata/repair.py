"""Reading of invalid documents that earlier releases and other writers stored.

Each repair maps a decoded document to a valid one; a valid document passes as it is, the same
object. Nothing else in this room is lenient, and what is written back is the valid form.
"""

from __future__ import annotations

from typing import Any

from blazarr.metadata.document import JSON

_ONE_BYTE = frozenset(["bool", "int8", "uint8", "int2", "int4", "uint2", "uint4"])
_ONE_BYTE_FLOATS = ("float8_", "float6_", "float4_")


def repair_v2(document: dict[str, Any]) -> dict[str, Any]:
    """Repair a ``.zarray``."""
    chunks, shape = document.get("chunks"), document.get("shape")
    repaired = _repair_chunk_shape(chunks, shape, None)
    return document if repaired is chunks else {**document, "chunks": repaired}


def repair_v3(document: dict[str, Any]) -> dict[str, Any]:
    """Repair an array's ``zarr.json``."""
    codecs, grid, shape = (document.get(name) for name in ("codecs", "chunk_grid", "shape"))
    rank = len(shape) if isinstance(shape, list) else 0
    new_codecs = _repair_codecs(codecs, rank, _has_byte_order(document.get("data_type")))
    new_grid = _repair_grid(grid, shape, new_codecs)
    if new_codecs is codecs and new_grid is grid:
        return document
    return {**document, "codecs": new_codecs, "chunk_grid": new_grid}


def _has_byte_order(data_type: JSON) -> bool:
    if not isinstance(data_type, str) or data_type.startswith(_ONE_BYTE_FLOATS):
        return False
    return data_type not in _ONE_BYTE and data_type[:1] in "iufcb"


# Codecs.


def _repair_codecs(codecs: JSON, rank: int, ordered: bool) -> JSON:
    if not isinstance(codecs, list):
        return codecs
    repaired = [_repair_codec(codec, rank, ordered) for codec in codecs]
    unchanged = all(new is old for new, old in zip(repaired, codecs, strict=True))
    return codecs if unchanged else repaired


def _repair_codec(codec: JSON, rank: int, ordered: bool) -> JSON:
    """Repair one codec; `ordered` says whether items have a byte order."""
    name = codec.get("name") if isinstance(codec, dict) else codec
    configuration = codec.get("configuration") if isinstance(codec, dict) else None
    if not isinstance(name, str) or not isinstance(configuration, dict | None):
        return codec
    if name in {"endian", "bytes"}:
        return _repair_bytes(codec, configuration or {}, ordered)
    if name == "transpose" and configuration:
        return _repair_transpose(codec, configuration, rank)
    if name == "sharding_indexed" and configuration:
        return _repair_shard(codec, configuration, rank, ordered)
    return codec


def _repair_bytes(codec: JSON, configuration: dict[str, Any], ordered: bool) -> JSON:
    """Read ``endian``, as the codec was first called, and an order left unsaid as little."""
    if ordered and "endian" not in configuration:
        configuration = {"endian": "little", **configuration}
    elif isinstance(codec, str) or codec["name"] == "bytes":
        return codec
    return {"name": "bytes", "configuration": configuration}


def _repair_transpose(codec: JSON, configuration: dict[str, Any], rank: int) -> JSON:
    """Read the orders ``"C"`` and ``"F"``, which early writers stored, as permutations."""
    orders = {"C": list(range(rank)), "F": list(range(rank))[::-1]}
    order = configuration.get("order")
    if not isinstance(order, str) or order not in orders:
        return codec
    return {**codec, "configuration": {**configuration, "order": orders[order]}}


def _repair_shard(codec: JSON, configuration: dict[str, Any], rank: int, ordered: bool) -> JSON:
    """Repair the inner chunk shape and the chains of a shard, whose index has a byte order."""
    repaired = {
        "chunk_shape": _true_as_one(configuration.get("chunk_shape")),
        "codecs": _repair_codecs(configuration.get("codecs"), rank, ordered),
        "index_codecs": _repair_codecs(configuration.get("index_codecs"), rank + 1, True),
    }
    changes = {name: new for name, new in repaired.items() if new is not configuration.get(name)}
    return {**codec, "configuration": {**configuration, **changes}} if changes else codec


# Chunk shapes.


def _true_as_one(sizes: JSON) -> JSON:
    # By class, since ``True in sizes`` would find a 1.
    if not isinstance(sizes, list) or bool not in map(type, sizes):
        return sizes
    return [1 if size is True else size for size in sizes]


def _repair_chunk_shape(sizes: JSON, shape: JSON, units: list[int] | None) -> JSON:
    """Read ``true`` as 1, and 0 or ``false`` on an empty axis as the least size it can have.

    zarr-python wrote these for ``chunks=True``, ``chunks=False`` and ``chunks=-1``. A size of 0
    on an axis that holds something is no chunk size at all, and stays for the parser to refuse.
    """
    sizes = _true_as_one(sizes)
    if not (isinstance(sizes, list) and isinstance(shape, list) and len(sizes) == len(shape)):
        return sizes
    if 0 not in shape or 0 not in sizes:
        return sizes
    steps = units or [1] * len(sizes)
    return [
        step if size == 0 and extent == 0 else size
        for size, extent, step in zip(sizes, shape, steps, strict=True)
    ]


def _repair_grid(grid: JSON, shape: JSON, codecs: JSON) -> JSON:
    configuration = grid.get("configuration") if isinstance(grid, dict) else None
    if not isinstance(configuration, dict):
        return grid
    if grid.get("name") == "regular":
        return _repair_regular(grid, configuration, shape, codecs)
    if grid.get("name") == "rectilinear":
        return _repair_rectilinear(grid, configuration)
    return grid


def _repair_regular(grid: JSON, configuration: dict[str, Any], shape: JSON, codecs: JSON) -> JSON:
    sizes = configuration.get("chunk_shape")
    repaired = _repair_chunk_shape(sizes, shape, _inner_chunk_shape(codecs, shape))
    if isinstance(repaired, list) and list in map(type, repaired) and int in map(type, repaired):
        # zarr-python 3.2 stored rectilinear grids so when only some axes had lists of lengths.
        shapes = [_repair_lengths(entry) for entry in repaired]
        return {
            "name": "rectilinear",
            "configuration": {"kind": "inline", "chunk_shapes": shapes},
        }
    if repaired is sizes:
        return grid
    return {**grid, "configuration": {**configuration, "chunk_shape": repaired}}


def _inner_chunk_shape(codecs: JSON, shape: JSON) -> list[int] | None:
    """Find the inner chunk shape of a shard, which its own shape has to be a multiple of."""
    for codec in codecs if isinstance(codecs, list) else ():
        if isinstance(codec, dict) and codec.get("name") == "sharding_indexed":
            configuration = codec.get("configuration")
            inner = configuration.get("chunk_shape") if isinstance(configuration, dict) else None
            if isinstance(inner, list) and isinstance(shape, list) and len(inner) == len(shape):
                return inner
    return None


def _repair_rectilinear(grid: JSON, configuration: dict[str, Any]) -> JSON:
    """Read chunk lengths that were stored as ``true`` or as integral floats."""
    shapes = configuration.get("chunk_shapes")
    if not isinstance(shapes, list):
        return grid
    repaired = [_repair_lengths(axis) for axis in shapes]
    if all(new is old for new, old in zip(repaired, shapes, strict=True)):
        return grid
    return {**grid, "configuration": {**configuration, "chunk_shapes": repaired}}


def _repair_lengths(axis: JSON) -> JSON:
    if not isinstance(axis, list) or not any(_is_respelled(entry) for entry in axis):
        return axis
    return [
        [_as_integer(entry[0]), *entry[1:]] if isinstance(entry, list) else _as_integer(entry)
        for entry in axis
    ]


def _is_respelled(entry: JSON) -> bool:
    length = entry[0] if isinstance(entry, list) and entry else entry
    return length is True or isinstance(length, float)


def _as_integer(length: JSON) -> JSON:
    if length is True or (isinstance(length, float) and length.is_integer()):
        return int(length)
    return length
