"""How far a long call is: said as events, so that nothing here knows how they are shown."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a long call is.

    Attributes
    ----------
    what
        What is being done, such as ``"convert"`` or ``"verify"``.
    done, total
        Bytes of elements that are done, and that there are.
    kept
        How many of `done` an earlier run did.
    seconds
        Time since the call began.
    finished
        Whether this is the last event: the call is over, well or not.
    """

    what: str
    done: int
    total: int
    kept: int = 0
    seconds: float = 0.0
    finished: bool = False

    @property
    def rate(self) -> float | None:
        """Bytes a second in this run; None before anything is done."""
        made = self.done - self.kept
        return made / self.seconds if made > 0 and self.seconds > 0 else None

    @property
    def remaining(self) -> float | None:
        """Seconds that are left at this rate; None where there is no rate."""
        rate = self.rate
        return None if rate is None else max(0, self.total - self.done) / rate


Listener = Callable[[Progress], object]


@dataclass(slots=True)
class Meter:
    """Counts what is done and tells a listener, if there is one.

    Parameters
    ----------
    listener
        Called with each `Progress`, in the thread that made the call.
    what, total, kept
        As in `Progress`.
    """

    listener: Listener | None
    what: str
    total: int
    kept: int = 0
    done: int = field(init=False)
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.done = self.kept
        self.began = time.monotonic()

    def add(self, nbytes: int) -> None:
        """Count bytes that were done."""
        self.done += nbytes
        self._tell(finished=False)

    def finish(self) -> None:
        """Say that the call is over."""
        self._tell(finished=True)

    def _tell(self, *, finished: bool) -> None:
        if self.listener is not None:
            seconds = time.monotonic() - self.began
            event = Progress(self.what, self.done, self.total, self.kept, seconds, finished)
            self.listener(event)
