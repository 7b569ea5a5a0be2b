"""What stores and codecs exchange: anything with the buffer protocol, and numpy arrays."""

from blazarr.codecs.base import Buffer

__all__ = ["Buffer"]
