"""Progress on standard error: bytes, rate and time left, on one line."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Final, TextIO

from blazarr.drawing import shown_size
from blazarr.engine.events import Listener, Progress

# Nothing is shown of what takes less than this many seconds.
PATIENCE: Final = 1.0
EVERY: Final = 0.1


def listener_of(progress: bool | Callable[[Progress], object]) -> Listener | None:
    """Return what is told of progress; None for nobody.

    Parameters
    ----------
    progress
        False for none, True for a line on standard error where somebody can see it, or a function.
    """
    if callable(progress):
        return progress
    return Line(sys.stderr) if progress and is_watched(sys.stderr) else None


def is_watched(stream: TextIO) -> bool:
    """Return whether a stream is a terminal, and not one of continuous integration."""
    return stream.isatty() and not os.environ.get("CI") and os.environ.get("TERM") != "dumb"


class Line:
    """A line that is written over again.

    Parameters
    ----------
    stream
        Where it is written.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = 0.0
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        """Show progress."""
        now = time.monotonic()
        if progress.finished:
            self._clear()
        elif progress.seconds >= PATIENCE and now - self._shown >= EVERY:
            self._shown = now
            text = line(progress)
            self._stream.write("\r" + text.ljust(self._width))
            self._stream.flush()
            self._width = len(text)

    def _clear(self) -> None:
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0


def line(progress: Progress) -> str:
    """Return progress as a line of text."""
    share = 100 * progress.done // progress.total if progress.total else 100
    parts = [
        f"{progress.what} {share:3d} %  {shown_size(progress.done)} of {shown_size(progress.total)}"
    ]
    if progress.rate is not None and progress.remaining is not None:
        parts.append(f"{shown_size(progress.rate)}/s  {_clock(progress.remaining)} left")
    return "  ".join(parts)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
