"""Chunks that somebody else has planned, read to a device and written from it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from blazarr import _core
from blazarr.cuda.base import unless_changed
from blazarr.cuda.device import Device, Event
from blazarr.cuda.encode_waves import WaveWrite
from blazarr.cuda.encoding import encode_program_of
from blazarr.cuda.files import is_direct
from blazarr.cuda.options import Options
from blazarr.cuda.program import program_of
from blazarr.cuda.rows import Rows
from blazarr.cuda.wave import Target
from blazarr.cuda.waves import WaveRead


class PieceEngine:
    """Decodes and encodes the chunks of one array on a device.

    Parameters
    ----------
    device
        Where results and values are.
    options
        Memory, and what is left to the CPU.
    spec
        The description of the array that the core's `ChunkEngine` has.
    folder
        Where the chunks' files are; None where they are none.
    """

    def __init__(
        self,
        device: Device,
        options: Options,
        spec: bytes,
        folder: os.PathLike[str] | None = None,
    ) -> None:
        document: dict[str, Any] = json.loads(spec)
        self.device = device
        self.options = options
        self.program = program_of(document["chain"], device.formats)
        self.encode_program = encode_program_of(document["chain"], device.encodes)
        self._item = int(document["item"])
        self._fill = bytes.fromhex(document["fill"])
        self._sharded = "shard" in document["chain"]
        self._direct = is_direct(device, options, folder)

    def read(
        self,
        rows: Callable[[], _core.WaveRows],
        address: int,
        strides: tuple[int, ...],
        after: Event,
    ) -> bytes:
        """Read rows; everything was checked when this returns.

        Parameters
        ----------
        rows
            Looks where the chunks are.
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
        return unless_changed(lambda: self._read(rows(), target, after))

    def _read(self, core: _core.WaveRows, target: Target, after: Event) -> bytes:
        read = WaveRead(self.device, self.program, self.options, target, direct=self._direct)
        rows = Rows.of(core)
        read.issue([rows] if len(rows) else [], after)
        read.finish()
        missing = np.frombuffer(core.missing(), np.uint8).copy()
        if not self._sharded and read.absent:
            missing[rows.key[np.concatenate(read.absent)]] = 1
        return (1 - missing).tobytes()

    def write(
        self,
        core: _core.WaveChunks,
        address: int,
        strides: tuple[int, ...],
        after: Event,
        *,
        elide: bool,
    ) -> None:
        """Write chunks; everything is stored when this returns.

        Parameters
        ----------
        core
            The chunks.
        address, strides
            Where the value is, in bytes.
        after
            An event that the first work waits for.
        elide
            Whether chunks of nothing but the fill value are not stored.
        """
        source = Target(address, strides, self._item, self._fill)
        write = WaveWrite(
            self.device,
            self.encode_program,
            self.program,
            self.options,
            source,
            elide=elide,
            direct=self._direct,
        )
        write.run([Rows.of(core)] if len(core) else [], after)
