"""Chunks that somebody else has planned, read to a device."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from blazarr import _core
from blazarr.cuda.device import Device, Event
from blazarr.cuda.options import Options
from blazarr.cuda.program import program_of
from blazarr.cuda.rows import Rows
from blazarr.cuda.wave import Target
from blazarr.cuda.waves import WaveRead


class PieceEngine:
    """Decodes the chunks of one array on a device.

    Parameters
    ----------
    device
        Where results are.
    options
        Memory, and what is left to the CPU.
    spec
        The description of the array that the core's `ChunkEngine` has.
    """

    def __init__(self, device: Device, options: Options, spec: bytes) -> None:
        document: dict[str, Any] = json.loads(spec)
        self.device = device
        self.options = options
        self.program = program_of(document["chain"], device.formats)
        self._item = int(document["item"])
        self._fill = bytes.fromhex(document["fill"])
        self._sharded = "shard" in document["chain"]

    def read(
        self, core: _core.WaveRows, address: int, strides: tuple[int, ...], after: Event
    ) -> bytes:
        """Read rows; everything was checked when this returns.

        Parameters
        ----------
        core
            The rows.
        address, strides
            Where the result is, in bytes.
        after
            An event that the first work waits for.

        Returns
        -------
        bytes
            For each key 1 where it was there, 0 where it was filled.
        """
        target = Target(address, strides, self._item, self._fill)
        read = WaveRead(self.device, self.program, self.options, target)
        rows = Rows.of(core)
        read.issue([rows] if len(rows) else [], after)
        read.finish()
        missing = np.frombuffer(core.missing(), np.uint8).copy()
        if not self._sharded and read.absent:
            missing[rows.key[np.concatenate(read.absent)]] = 1
        return (1 - missing).tobytes()
