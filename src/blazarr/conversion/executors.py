"""Who runs tasks: this process, or (in `blazarr.distributed`) others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from blazarr.conversion.tasks import Room, Task


class Executor(Protocol):
    """Runs tasks, in any order."""

    def run(self, tasks: Iterable[tuple[int, Task]]) -> Iterator[tuple[int, Any]]:
        """Run numbered tasks; yield the number and the result of each that is done.

        The first error ends it.
        """


class Here:
    """Runs one task after the other in this process; the engine's threads share each."""

    def run(self, tasks: Iterable[tuple[int, Task]]) -> Iterator[tuple[int, Any]]:
        """Run tasks; see `Executor.run`."""
        room = Room()
        for number, task in tasks:
            yield number, task.run(room)
