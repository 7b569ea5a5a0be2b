"""Metadata of format 3 for arrays of format 2: the same chunks, under the same keys, described in the other way."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from blazarr.codecs.base import ArrayArrayCodec, ArrayBytesCodec, Codec
from blazarr.codecs.bytes import BytesCodec
from blazarr.codecs.foreign import from_numcodecs
from blazarr.codecs.normalise import evolved
from blazarr.codecs.stage import Stage, has_orders
from blazarr.codecs.transpose import TransposeCodec
from blazarr.errors import UnsupportedError
from blazarr.metadata import ArrayV2Metadata, ArrayV3Metadata, CodecSpec, KeyEncoding

if TYPE_CHECKING:
    from blazarr.codecs.base import JSON

Order = Literal["little", "big"]

# The attribute in which xarray keeps the names of dimensions in format 2.
NAMES = "_ARRAY_DIMENSIONS"
_TYPES = ("dtype", "astype", "encode_dtype", "decode_dtype")


def to_v3(metadata: ArrayV2Metadata) -> ArrayV3Metadata:
    """Return metadata of format 3 that reads the chunks of an array of format 2.

    Parameters
    ----------
    metadata : ArrayV2Metadata

    Returns
    -------
    ArrayV3Metadata
        Its chunk keys are format 2's (`v2` chunk key encoding).

    Raises
    ------
    UnsupportedError
        If format 3 has no words for the array: Python objects, sub-arrays in records, fields of both byte orders.
    """
    codecs = _codecs(metadata)
    stage = Stage.of(metadata.data_type.native, metadata.grid.chunk_shape)
    filled = evolved(codecs, stage, metadata.data_type)
    return ArrayV3Metadata.create(
        shape=metadata.shape,
        data_type=metadata.data_type,
        grid=metadata.grid,
        codecs=[_spec(codec) for codec in filled],
        fill_value=metadata.fill_value,
        chunk_key_encoding=KeyEncoding("v2", metadata.chunk_key_encoding.separator),
        attributes=metadata.attributes,
        dimension_names=_dimension_names(metadata),
    )


def _codecs(metadata: ArrayV2Metadata) -> list[Codec]:
    chain: list[Codec] = []
    if metadata.order == "F" and len(metadata.shape) > 1:
        chain.append(TransposeCodec(order=tuple(range(len(metadata.shape)))[::-1]))
    stored = [(entry, f"filters[{i}]") for i, entry in enumerate(metadata.filters)]
    if metadata.compressor is not None:
        stored.append((metadata.compressor, "compressor"))
    last = _last_type(metadata)
    given = [from_numcodecs(_in_native_order(entry), where) for entry, where in stored]
    if not any(isinstance(codec, ArrayBytesCodec) for codec in given):
        # It comes after the filters, which see numbers in the machine's order in format 3.
        position = sum(isinstance(codec, ArrayArrayCodec) for codec in given)
        given.insert(position, BytesCodec(endian=_order_of(last)))
    return [*chain, *given]


def _in_native_order(entry: dict[str, JSON]) -> dict[str, JSON]:
    types = {name: np.dtype(entry[name]) for name in _TYPES if isinstance(entry.get(name), str)}
    return {**entry, **{name: dtype.newbyteorder("=").str for name, dtype in types.items()}}


def _last_type(metadata: ArrayV2Metadata) -> np.dtype[Any]:
    """Find the type, with its byte order, of what the last filter makes."""
    last = metadata.data_type.numpy
    for entry in metadata.filters:
        name = entry.get("encode_dtype") or entry.get("astype") or entry.get("dtype")
        if isinstance(name, str):
            last = np.dtype(name)
    return last


def _order_of(dtype: np.dtype[Any]) -> Order | None:
    if not has_orders(dtype):
        return None
    orders = {_plain_order(leaf) for leaf in _leaves(dtype) if has_orders(leaf)}
    if len(orders) > 1:
        raise UnsupportedError(
            f"the fields of {dtype} have both byte orders, which format 3 can't describe",
            path="dtype",
        )
    return orders.pop()


def _leaves(dtype: np.dtype[Any]) -> list[np.dtype[Any]]:
    if dtype.subdtype is not None:
        return _leaves(dtype.subdtype[0])
    if dtype.names is None:
        return [dtype]
    return [leaf for name in dtype.names for leaf in _leaves(dtype[name])]


def _plain_order(dtype: np.dtype[Any]) -> Order:
    order = dtype.byteorder
    return sys.byteorder if order == "=" else "little" if order == "<" else "big"


def _spec(codec: Codec) -> CodecSpec:
    document = codec.to_dict()
    return CodecSpec(document["name"], document.get("configuration", {}))


def _dimension_names(metadata: ArrayV2Metadata) -> list[str] | None:
    names = metadata.attributes.get(NAMES)
    if not isinstance(names, list) or len(names) != len(metadata.shape):
        return None
    return names if all(isinstance(name, str) for name in names) else None
