"""zarr-python's names for what adds codecs and data types."""

from blazarr.codecs import codec_class as get_codec_class
from blazarr.codecs import register_codec
from blazarr.dtypes import register_data_type

__all__ = ["get_codec_class", "register_codec", "register_data_type"]
