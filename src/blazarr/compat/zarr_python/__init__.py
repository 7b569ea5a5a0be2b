"""A codec pipeline for zarr-python: its arrays, at blazarr's speed.

Chosen by ``blazarr.enable()``, by ``zarr.config``'s ``codec_pipeline.path``, or by the environment variable
``ZARR_CODEC_PIPELINE__PATH``, each set to ``blazarr.compat.zarr_python.BlazarrCodecPipeline``.
"""

from zarr.registry import register_pipeline

from blazarr.compat.zarr_python.activation import enable
from blazarr.compat.zarr_python.errors import CollapsedDimensionError, DiscontiguousArrayError
from blazarr.compat.zarr_python.pipeline import BlazarrCodecPipeline

__all__ = [
    "BlazarrCodecPipeline",
    "CollapsedDimensionError",
    "DiscontiguousArrayError",
    "enable",
]

# An installed package is found by its entry point; this is for one that is not.
register_pipeline(BlazarrCodecPipeline)
