"""Chains of format 2: filters, a compressor, and the order of the elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from blazarr.codecs.base import ArrayArrayCodec, ArrayBytesCodec, Codec
from blazarr.codecs.chain import CompiledChain, Externals, Steps
from blazarr.codecs.numcodecs import ObjectCodec, codec_class, plugin_class
from blazarr.codecs.objects import ObjectStep
from blazarr.codecs.stage import Stage, swap_unit
from blazarr.codecs.vlen import VLenBytesCodec, VLenUTF8Codec
from blazarr.errors import MetadataError, UnsupportedError

if TYPE_CHECKING:
    from blazarr.codecs.base import JSON
    from blazarr.dtypes import DataType

_OBJECT_CODECS: dict[str, type[Codec]] = {
    "vlen-bytes": VLenBytesCodec,
    "vlen-utf8": VLenUTF8Codec,
}


# Filters that make bytes of Python objects.
OBJECT_CODECS = frozenset(
    ["vlen-utf8", "vlen-bytes", "vlen-array", "json2", "msgpack2", "pickle", "categorize"]
)


def compile_v2(
    codecs: list[Codec], data_type: DataType, shape: tuple[int | None, ...], layout: str
) -> CompiledChain:
    """Compile codecs of format 2 for chunks of a type, a shape and a layout (C or F)."""
    order = tuple(range(len(shape)))
    if layout == "F":
        order = order[::-1]
    stored = tuple(shape[axis] for axis in order)
    steps = Steps(Stage.of(data_type.numpy, stored), Externals())
    if data_type.variable:
        first, codecs = _object_codec(codecs)
        steps.stage = steps.stage.as_bytes()
        objects = ObjectStep(first, order)
    else:
        objects = None
        if not data_type.numpy.isnative and data_type.numpy.names is None:
            steps.extend([{"id": "swap", "size": swap_unit(data_type.numpy)}])
    for codec in codecs:
        steps.add(codec)
    # The step in Python puts the axes of objects in order itself.
    native = steps.finished(None if objects else order)
    return CompiledChain(native, tuple(steps.externals.steps), objects)


def parse_v2(filters: JSON, compressor: JSON) -> list[Codec]:
    """Return the codecs of a document of format 2, in the order of encoding."""
    codecs = [parse_v2_codec(entry, f"filters[{i}]") for i, entry in enumerate(filters or ())]
    if compressor is not None:
        codecs.append(parse_v2_codec(compressor, "compressor"))
    return codecs


def parse_v2_codec(entry: JSON, path: str) -> Codec:
    """Return the codec for its form in format 2."""
    codec_id = entry.get("id") if isinstance(entry, Mapping) else None
    if not isinstance(codec_id, str):
        raise MetadataError(f"{path}: expected a codec with an id, not {entry!r}", path=path)
    options = {member: value for member, value in entry.items() if member != "id"}
    found = _OBJECT_CODECS.get(codec_id) or codec_class(codec_id) or plugin_class(codec_id)
    try:
        return found.from_configuration(options)
    except MetadataError as error:
        raise MetadataError(
            f"{path}: {error.message}", **{**error.fields, "path": path, "codec": codec_id}
        ) from error


def _object_codec(codecs: list[Codec]) -> tuple[ArrayBytesCodec | ArrayArrayCodec, list[Codec]]:
    """Take the codec that makes bytes of objects, which must be the first."""
    if codecs and isinstance(codecs[0], (ObjectCodec, VLenUTF8Codec, VLenBytesCodec)):
        return codecs[0], codecs[1:]
    if codecs and isinstance(codecs[0], ArrayArrayCodec) and codecs[0].name.endswith("categorize"):
        return codecs[0], codecs[1:]
    first = codecs[0].v2_id if codecs else None
    raise UnsupportedError(
        "an array of objects needs a filter that makes bytes of them as its first "
        f"('vlen-utf8', 'vlen-bytes', 'json2' ...), not {first!r}",
        path="filters",
        codec=first,
    )
