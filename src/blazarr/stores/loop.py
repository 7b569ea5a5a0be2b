"""One event loop in a thread of its own, for stores that can only be asked asynchronously."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result; an interrupt cancels it.

    Parameters
    ----------
    work
        The coroutine.
    """
    future = asyncio.run_coroutine_threadsafe(work, _running())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def gather(work: Iterable[Callable[[], Awaitable[T]]], most: int) -> list[T]:
    """Return the results of many calls, of which at most so many wait at a time.

    Parameters
    ----------
    work
        The calls.
    most
        How many wait at a time.
    """
    free = asyncio.Semaphore(most)

    async def one(call: Callable[[], Awaitable[T]]) -> T:
        async with free:
            return await call()

    tasks = [asyncio.ensure_future(one(call)) for call in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def _running() -> asyncio.AbstractEventLoop:
    global _loop  # noqa: PLW0603 - one for the process
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="blazarr-io", daemon=True).start()
        return _loop


def _forget() -> None:
    global _loop, _lock
    _loop, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
