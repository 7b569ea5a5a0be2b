"""From an array's metadata to a chain that runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from blazarr.codecs.registry import parse_codecs, registered
from blazarr.metadata import ArrayV2Metadata

if TYPE_CHECKING:
    from collections.abc import Hashable

    from blazarr.codecs.base import Codec
    from blazarr.codecs.chain import CompiledChain
    from blazarr.dtypes import DataType
    from blazarr.metadata import ArrayMetadata

# Arrays of one hierarchy mostly share their codecs.
KEPT: Final = 256


def compile_chain(metadata: ArrayMetadata) -> CompiledChain:
    """Compile the codecs of an array.

    Parameters
    ----------
    metadata : ArrayMetadata
        Of either format.

    Returns
    -------
    CompiledChain
        Shared between arrays that are encoded alike.

    Raises
    ------
    MetadataError
        If a codec's configuration is wrong, or codecs follow each other in the wrong order.
    UnsupportedError
        If a codec is not known, or can't stand where it stands.
    """
    shape = tuple(axis.size if axis.is_regular else None for axis in metadata.grid.axes)
    if isinstance(metadata, ArrayV2Metadata):
        stored: Any = (metadata.filters, metadata.compressor)
        key, layout = _frozen(stored), metadata.order
    else:
        stored, layout = metadata.codecs, None
        key = _frozen([(codec.name, codec.configuration) for codec in stored])
    return _compiled(_Request(metadata.data_type, shape, layout, key, registered(), stored))


@dataclass(frozen=True, slots=True)
class _Request:
    """What a chain depends on, and the codecs as they are stored."""

    data_type: DataType
    shape: tuple[int | None, ...]
    layout: str | None
    key: Hashable
    registered: frozenset[tuple[str, type[Codec]]]
    stored: Any = field(compare=False)


@lru_cache(maxsize=KEPT)
def _compiled(request: _Request) -> CompiledChain:
    if request.layout is not None:
        from blazarr.codecs.v2 import compile_v2, parse_v2

        codecs = parse_v2(*request.stored)
        return compile_v2(codecs, request.data_type, request.shape, request.layout)
    from blazarr.codecs.v3 import compile_v3

    return compile_v3(parse_codecs(request.stored, "codecs"), request.data_type, request.shape)


def _frozen(value: Any) -> Hashable:
    """A document as something to look up; 1, 1.0 and true are not the same there."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return tuple([(key, _frozen(item)) for key, item in value.items()])
    if isinstance(value, (list, tuple)):
        return tuple([_frozen(item) for item in value])
    return type(value), value
