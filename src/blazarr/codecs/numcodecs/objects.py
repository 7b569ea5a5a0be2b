"""Codecs of numcodecs that make bytes of Python objects, in format 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from blazarr.codecs.numcodecs.base import NumcodecsArrayBytes
from blazarr.config import config
from blazarr.errors import PickleCodecDisabledError

if TYPE_CHECKING:
    import numpy.typing as npt

    from blazarr.codecs.base import Buffer
    from blazarr.codecs.stage import Stage


class ObjectCodec(NumcodecsArrayBytes):
    """A codec of Python objects."""

    def decode(self, data: Buffer, stage: Stage) -> npt.NDArray[Any]:
        """Decode objects."""
        del stage
        decoded = self.implementation().decode(bytes(data))
        return np.asarray(decoded, dtype=object).reshape(-1)


class VLenArray(ObjectCodec, codec_id="vlen-array"):
    """Arrays of one type and any length."""


class Json2(ObjectCodec, codec_id="json2"):
    """Objects as JSON."""


class MsgPack2(ObjectCodec, codec_id="msgpack2"):
    """Objects as MessagePack."""


class Pickle(ObjectCodec, codec_id="pickle"):
    """Pickled objects, which are read only where that is asked for."""

    def decode(self, data: Buffer, stage: Stage) -> npt.NDArray[Any]:
        """Unpickle objects, where that is allowed."""
        if config.get("array.allow_unsafe_pickle_decode") is not True:
            raise PickleCodecDisabledError(
                "the array is pickled, and unpickling runs code from the store; if you trust it, "
                "set blazarr.config.set({'array.allow_unsafe_pickle_decode': True}) "
                "and numcodecs.pickles.ALLOW_UNSAFE_PICKLE_DECODE = True",
                codec="pickle",
            )
        return super().decode(data, stage)
