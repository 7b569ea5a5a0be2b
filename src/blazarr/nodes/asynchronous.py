"""`AsyncArray` and `AsyncGroup`: the same nodes for ``async`` code.

There is one implementation, the synchronous one. A facade runs its methods in a thread, so the
event loop stays free while chunks are fetched and decoded.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import wraps
from typing import Any


class _Facade:
    """A node (or its accessor) whose methods are awaited; its properties are the node's own."""

    __slots__ = ("node",)

    # What is iterated with `async for`.
    _iterators: frozenset[str] = frozenset()
    # Properties of the node that read the store, so they are methods here.
    _reading: frozenset[str] = frozenset()

    def __init__(self, node: Any) -> None:
        self.node = node

    def __repr__(self) -> str:
        return f"<Async{repr(self.node)[1:]}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Facade) and bool(self.node == other.node)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name in self._reading:
            return lambda: in_thread(getattr, self.node, name)
        value = getattr(self.node, name)
        if not callable(value):
            return value
        return iterated(value) if name in self._iterators else awaited(value)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.node,)

    async def getitem(self, key: Any) -> Any:
        """Read what brackets would read."""
        return await in_thread(self.node.__getitem__, key)

    async def setitem(self, key: Any, value: Any) -> None:
        """Write what an assignment to brackets would write."""
        await in_thread(self.node.__setitem__, key, value)


class AsyncArray(_Facade):
    """An `Array` whose methods are awaited."""

    __slots__ = ()
    _reading = frozenset({"nchunks_initialized"})

    @property
    def oindex(self) -> _Facade:
        """Orthogonal selection: ``await array.oindex.getitem(key)``."""
        return _Facade(self.node.oindex)

    @property
    def vindex(self) -> _Facade:
        """Points and masks: ``await array.vindex.getitem(key)``."""
        return _Facade(self.node.vindex)


class AsyncGroup(_Facade):
    """A `Group` whose methods are awaited; its members are iterated with ``async for``."""

    __slots__ = ()
    _iterators = frozenset(
        {
            "array_keys",
            "array_values",
            "arrays",
            "create_hierarchy",
            "group_keys",
            "group_values",
            "groups",
            "keys",
            "members",
        }
    )

    async def delitem(self, key: str) -> None:
        """Delete a member."""
        await in_thread(self.node.__delitem__, key)

    async def contains(self, member: str) -> bool:
        """Whether there is such a member."""
        return bool(await in_thread(self.node.__contains__, member))


async def in_thread(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function in a thread; a node that it returns comes back as its facade."""
    # Only who awaits pays for loading it.
    from asyncio import to_thread

    return as_facade(await to_thread(function, *args, **kwargs))


def awaited(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function as one that is awaited."""

    @wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await in_thread(function, *args, **kwargs)

    return call


def iterated(function: Callable[..., Any]) -> Callable[..., AsyncIterator[Any]]:
    """Return a function that gives an iterator as one whose result is iterated in ``async for``."""

    @wraps(function)
    async def call(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        items: Iterator[Any] = iter(await in_thread(function, *args, **kwargs))
        end = object()
        while (item := await in_thread(next, items, end)) is not end:
            yield item

    return call


def as_facade(result: Any) -> Any:
    """Return nodes, also those in tuples, as their facades; anything else as it is."""
    if isinstance(result, tuple):
        return tuple(as_facade(item) for item in result)
    return getattr(result, "aio", result)
