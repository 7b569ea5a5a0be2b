"""From the name of a codec to its class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Final

from blazarr.codecs.base import JSON, Codec
from blazarr.codecs.packages import package_of
from blazarr.errors import MetadataError, UnknownCodecError

ENTRY_POINTS: Final = "blazarr.codecs"

# Modules load on use: an array needs two or three of them.
_BUILT_IN: Final = {
    "bitround": "bitround:BitRoundCodec",
    "blazarr.ans": "blocks:ANSCodec",
    "blazarr.bitcomp": "blocks:BitcompCodec",
    "blazarr.cascaded": "blocks:CascadedCodec",
    "blazarr.deflate": "blocks:DeflateCodec",
    "blazarr.gdeflate": "blocks:GDeflateCodec",
    "blazarr.snappy": "blocks:SnappyCodec",
    "blosc": "blosc:BloscCodec",
    "bytes": "bytes:BytesCodec",
    "cast_value": "cast_value:CastValue",
    "crc32c": "crc32c:Crc32cCodec",
    "czarr.ans": "czarr:CzarrANS",
    "czarr.bitcomp": "czarr:CzarrBitcomp",
    "czarr.cascaded": "czarr:CzarrCascaded",
    "czarr.deflate": "czarr:CzarrDeflate",
    "czarr.gdeflate": "czarr:CzarrGDeflate",
    "czarr.snappy": "czarr:CzarrSnappy",
    "gzip": "gzip:GzipCodec",
    "n5_default": "n5:N5DefaultCodec",
    "optional": "optional:OptionalCodec",
    "packbits": "packbits:PackBitsCodec",
    "reshape": "reshape:ReshapeCodec",
    "scale_offset": "scale_offset:ScaleOffset",
    "sharding_indexed": "sharding:ShardingCodec",
    "transpose": "transpose:TransposeCodec",
    "vlen-bytes": "vlen:VLenBytesCodec",
    "vlen-utf8": "vlen:VLenUTF8Codec",
    "zarrs.gdeflate": "gdeflate:PagedGDeflateCodec",
    "zarrs.squeeze": "reshape:SqueezeCodec",
    "zarrs.vlen": "zarrs_vlen:VLenCodec",
    "zfp": "zfp:ZfpCodec",
    "zstd": "zstd:ZstdCodec",
}

# Spellings of other writers.
_ALIASES: Final = {
    "endian": "bytes",
    "gdeflate": "zarrs.gdeflate",
    "numcodecs.vlen-bytes": "vlen-bytes",
    "numcodecs.vlen-utf8": "vlen-utf8",
    "sharding": "sharding_indexed",
    "squeeze": "zarrs.squeeze",
    "vlen": "zarrs.vlen",
    "vlen_bytes": "vlen-bytes",
    "vlen_utf8": "vlen-utf8",
    "zarrs.optional": "optional",
    "zarrs.zfp": "zfp",
}
NUMCODECS: Final = "numcodecs."
_BARE_NUMCODECS: Final = frozenset(
    ["adler32", "astype", "bz2", "crc32", "delta", "fixedscaleoffset", "fletcher32",
     "jenkins_lookup3", "lz4", "lzma", "pcodec", "quantize", "shuffle", "zfpy", "zlib"]
)  # fmt: skip
_ZARRS: Final = "https://codec.zarrs.dev/"

_registered: dict[str, type[Codec]] = {}


def register_codec(codec: type[Codec], name: str | None = None) -> type[Codec]:
    """Make a codec of format 3 known; usable as a decorator.

    Packages do the same with an entry point in the group ``blazarr.codecs``.

    Parameters
    ----------
    codec : type
        A subclass of `ArrayArrayCodec`, `ArrayBytesCodec` or `BytesBytesCodec`.
    name : str, optional
        Another name than the codec's own.

    Returns
    -------
    type
        The codec.
    """
    _registered[name or codec.name] = codec
    return codec


def registered() -> frozenset[tuple[str, type[Codec]]]:
    """Return what users have registered so far."""
    return frozenset(_registered.items())


def codec_class(name: str) -> type[Codec]:
    """Return the class of a codec of format 3.

    Raises
    ------
    UnknownCodecError
        If there is none; it names the package that has one, where that is known.
    """
    if name in _registered:
        return _registered[name]
    known = _canonical(name)
    if known in _BUILT_IN:
        found: type[Codec] = _load(_BUILT_IN[known])
        return found
    if known.startswith(NUMCODECS):
        wrapped: type[Codec] | None = _load("numcodecs:codec_class")(known.removeprefix(NUMCODECS))
        if wrapped is not None:
            return wrapped
    return _from_package(name)


def is_known(name: str) -> bool:
    """Tell whether a name of format 3 has a class."""
    try:
        codec_class(name)
    except UnknownCodecError:
        return False
    return True


def _from_package(name: str) -> type[Codec]:
    from importlib.metadata import entry_points

    for entry_point in entry_points(group=ENTRY_POINTS, name=name):
        found: type[Codec] = entry_point.load()
        return register_codec(found, name)
    adapted: type[Codec] | None = _load("zarr_python:adapted_class")(name)
    if adapted is None:
        raise unknown_codec(name, 3)
    return adapted


def unknown_codec(name: str, zarr_format: int) -> UnknownCodecError:
    """Return the error for a codec that is not here."""
    package = package_of(name, zarr_format)
    what = f"codec {name!r} is not known here"
    hint = f"; the package {package!r} has it" if package else ""
    return UnknownCodecError(
        f"{what}{hint} (blazarr.codecs.register_codec adds codecs)", codec=name, package=package
    )


def parse_codec(entry: Any, path: str) -> Codec:
    """Return the codec for a codec itself, its form in a document, or its name.

    Parameters
    ----------
    entry : Codec, mapping or str
    path : str
        Where it stands, for errors.
    """
    if isinstance(entry, Codec):
        return entry
    name, configuration = _named(entry, path)
    try:
        return codec_class(name).from_configuration(configuration)
    except MetadataError as error:
        raise _placed(error, path) from error
    except UnknownCodecError as error:
        raise UnknownCodecError(
            f"{path}: {error.message}", codec=error.codec, package=error.package, path=path
        ) from None


def parse_codecs(entries: Iterable[Any], path: str) -> tuple[Codec, ...]:
    """Return the codecs for a list of them."""
    if isinstance(entries, (str, Mapping)) or not isinstance(entries, Iterable):
        raise MetadataError(f"{path}: expected a list of codecs, not {entries!r}", path=path)
    return tuple(parse_codec(entry, f"{path}[{i}]") for i, entry in enumerate(entries))


def _named(entry: Any, path: str) -> tuple[str, Mapping[str, JSON]]:
    if isinstance(entry, str):
        return entry, {}
    name = entry.get("name") if isinstance(entry, Mapping) else getattr(entry, "name", None)
    if not isinstance(name, str):
        raise MetadataError(f"{path}: expected a codec with a name, not {entry!r}", path=path)
    configuration = (
        entry.get("configuration")
        if isinstance(entry, Mapping)
        else getattr(entry, "configuration", None)
    )
    if configuration is None:
        return name, {}
    if not isinstance(configuration, Mapping):
        raise MetadataError(
            f"{path}: the configuration of codec {name!r} must be an object",
            path=f"{path}.configuration",
            codec=name,
        )
    return name, configuration


def _placed(error: MetadataError, path: str) -> MetadataError:
    inner = error.path or ""
    joined = inner if inner.startswith(path) else ".".join(filter(None, (path, inner)))
    return MetadataError(f"{path}: {error.message}", **{**error.fields, "path": joined})


def _canonical(name: str) -> str:
    if name.startswith(_ZARRS):
        name = name.rpartition("/")[2]
    if name in _BUILT_IN:
        return name
    if name in _ALIASES:
        return _ALIASES[name]
    # zarrs and others also write them without the prefix.
    return f"{NUMCODECS}{name}" if name in _BARE_NUMCODECS else name


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f"blazarr.codecs.{module}"), name)
