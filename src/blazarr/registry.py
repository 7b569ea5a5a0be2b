"""zarr-python's names, and arguments, for what adds codecs and data types."""

from __future__ import annotations

from blazarr import codecs
from blazarr.dtypes import register_data_type

__all__ = ["get_codec_class", "register_codec", "register_data_type"]


def register_codec(key: str, codec_cls: type[codecs.Codec], *, qualname: str | None = None) -> None:
    """Make a codec known; see `blazarr.codecs.register_codec`.

    Parameters
    ----------
    key
        The codec's name in documents.
    codec_cls
        Its class.
    qualname
        Accepted for zarr-python's sake.
    """
    codecs.register_codec(codec_cls, key)


def get_codec_class(key: str, reload_config: bool = False) -> type[codecs.Codec]:
    """Return the class of a codec; see `blazarr.codecs.codec_class`.

    Parameters
    ----------
    key
        The codec's name in documents.
    reload_config
        Accepted for zarr-python's sake.
    """
    return codecs.codec_class(key)
