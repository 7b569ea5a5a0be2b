"""What an array's handle knows at one moment."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from blazarr.engine.array_config import ArrayConfig
from blazarr.engine.run import Engine, engine_of
from blazarr.metadata import ArrayMetadata
from blazarr.nodes.location import StorePath


class ArrayState:
    """Metadata and the engine made of it: replaced as one, so that threads never see a mix.

    The engine is made on first use: an array whose codecs are not there can still be described.
    """

    def __init__(self, metadata: ArrayMetadata, store_path: StorePath, config: ArrayConfig) -> None:
        self.metadata = metadata
        self.shape = metadata.shape
        self.dtype = metadata.data_type.numpy
        self.native = metadata.data_type.native
        order = metadata.order if metadata.zarr_format == 2 else config.order
        self.order: Literal["C", "F"] = "F" if order == "F" else "C"
        self._store_path = store_path
        self._config = config

    @cached_property
    def engine(self) -> Engine:
        """What reads and writes the chunks."""
        place = self._store_path
        return engine_of(self.metadata, place.store, place.path, self._config)
