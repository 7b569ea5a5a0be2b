"""Stands in for zarrs-python while its tests run: the pipeline under test, by the name that they use."""

from __future__ import annotations

import importlib
import os
from typing import Any

from zarr.registry import register_pipeline

_module, _, _name = os.environ["COMPAT_PIPELINE"].rpartition(".")
_under_test: Any = getattr(importlib.import_module(_module), _name)


class ZarrsCodecPipeline(_under_test):
    """The pipeline under test."""


register_pipeline(ZarrsCodecPipeline)
