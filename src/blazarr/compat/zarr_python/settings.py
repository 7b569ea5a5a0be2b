"""What zarr-python's configuration says about how to work."""

from __future__ import annotations

from typing import Any

from zarr.core.config import config


def threads() -> int | None:
    """Threads of one call; None for as many as the process may use."""
    pipeline = _pipeline()
    wanted = [config.get("threading.max_workers"), pipeline.get("chunk_concurrent_maximum")]
    least = pipeline.get("chunk_concurrent_minimum")
    given = [int(n) for n in wanted if n is not None]
    if not given:
        return None
    return max(1, *([int(least)] if least else []), min(given))


def strict() -> bool:
    """Whether what blazarr can't do is an error."""
    return bool(_pipeline().get("strict"))


def validate_checksums() -> bool:
    """Whether checksums of chunks are verified."""
    return _pipeline().get("validate_checksums") is not False


def gpu() -> dict[str, Any] | None:
    """Options of reads to a GPU; None where `configure_gpu` was not called."""
    section: dict[str, Any] | None = config.get("codec_pipeline").get("gpu")
    return section


def _pipeline() -> dict[str, int | bool | None]:
    section: dict[str, int | bool | None] = config.get("codec_pipeline")
    return section
