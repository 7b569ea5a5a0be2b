"""`AsyncArray` and `AsyncGroup`: the same nodes for ``async`` code.

There is one implementation, the synchronous one. A facade runs its methods in a thread, so the
event loop stays free. Reads of an array do without: where the store is a server, no thread waits
for its answers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import wraps
from types import GenericAlias
from typing import TYPE_CHECKING, Any

from blazarr.indexing import Selection, parse_getitem, pop_fields
from blazarr.indexing.fields import Fields
from blazarr.nodes.accessors import Accessor
from blazarr.nodes.reading import Reading
from blazarr.nodes.selectable import Selectable

if TYPE_CHECKING:
    from blazarr.nodes.array import Array


class _Facade:
    """A node, or its accessor, whose brackets are awaited."""

    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = node

    def __repr__(self) -> str:
        return f"<Async{repr(self.node)[1:]}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Facade) and bool(self.node == other.node)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.node,)

    async def setitem(self, selection: Any, value: Any, prototype: Any = None) -> None:
        """Write what an assignment to brackets would write."""
        await in_thread(self.node.__setitem__, selection, value)


class _Reads(Selectable):
    """An array whose reads are coroutines."""

    __slots__ = ("_state",)

    def __init__(self, array: Array) -> None:
        self._state = array._state  # noqa: SLF001 - a part of the array

    async def _get(
        self, selection: Selection, fields: Fields | None = None, out: Any = None
    ) -> Any:
        reading = Reading(self._state, selection, fields, out)
        await self._state.engine.read_async(selection, reading.into)
        return reading.result()

    async def read(self, selection: Any, out: Any = None) -> Any:
        fields, key = pop_fields(selection)
        return await self._get(parse_getitem(key, self._state.shape), fields, out)


class _Brackets(_Facade):
    """An accessor of an array."""

    __slots__ = ()

    async def getitem(self, selection: Any, *, prototype: Any = None) -> Any:
        """Read what brackets would read."""
        return await Accessor(_Reads(self.node.array), self.node.parse)[selection]


class AsyncNode(_Facade):
    """A node whose methods are awaited; its properties are the node's own."""

    __slots__ = ()

    # What is iterated with `async for`.
    iterators: frozenset[str] = frozenset()
    # Properties of the node that read the store, so they are methods here.
    reading: frozenset[str] = frozenset()
    # Methods that read chunks.
    overlapped: frozenset[str] = frozenset()
    # What reads and writes nothing, so it isn't awaited.
    immediate: frozenset[str] = frozenset({"from_dict", "with_config"})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @classmethod
    def stand_for(cls, node: type) -> None:
        """Take over each public member of a node's class that isn't here yet."""
        for base in node.__mro__:
            for name, member in vars(base).items():
                if not name.startswith("_") and not hasattr(cls, name):
                    setattr(cls, name, cls._member(name, member, node))

    @classmethod
    def _member(cls, name: str, member: Any, node: type) -> Any:
        if isinstance(member, classmethod):
            function = member.__get__(None, node)
            return staticmethod(at_once(function) if name in cls.immediate else awaited(function))
        if name in cls.immediate:
            return _of_node(at_once(member))
        if name in cls.overlapped:
            return _overlapped(name, member)
        if name in cls.reading:
            return _of_node(awaited(member.fget))
        if not callable(member):
            return property(lambda facade: getattr(facade.node, name), doc=member.__doc__)
        return _of_node(iterated(member) if name in cls.iterators else awaited(member))


def _of_node(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a node as a method of its facade."""

    @wraps(function)
    def call(facade: _Facade, *args: Any, **kwargs: Any) -> Any:
        return function(facade.node, *args, **kwargs)

    return call


def _overlapped(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of `_Reads` as one of the facade."""

    @wraps(method)
    async def call(facade: _Facade, *args: Any, **kwargs: Any) -> Any:
        return await getattr(_Reads(facade.node), name)(*args, **kwargs)

    return call


class AsyncArray(AsyncNode):
    """An `Array` whose methods are awaited."""

    __slots__ = ()
    reading = frozenset({"nchunks_initialized"})
    __class_getitem__: Any = classmethod(GenericAlias)

    overlapped = frozenset(name for name in vars(Selectable) if name.startswith("get_"))

    async def getitem(self, selection: Any, *, prototype: Any = None) -> Any:
        """Read what brackets would read."""
        return await _Reads(self.node).read(selection)

    async def read(
        self,
        selection: Any = ...,
        *,
        device: str | None = None,
        out: Any = None,
        stream: Any = None,
    ) -> Any:
        """Return a selection, on the CPU or on a GPU; see `Array.read`."""
        if device is None:
            return await _Reads(self.node).read(selection, out)
        return await in_thread(self.node.read, selection, device=device, out=out, stream=stream)

    @property
    def oindex(self) -> _Brackets:
        """Orthogonal selection: ``await array.oindex.getitem(key)``."""
        return _Brackets(self.node.oindex)

    @property
    def vindex(self) -> _Brackets:
        """Points and masks: ``await array.vindex.getitem(key)``."""
        return _Brackets(self.node.vindex)

    @property
    def blocks(self) -> _Brackets:
        """Whole chunks: ``await array.blocks.getitem(key)``."""
        return _Brackets(self.node.blocks)


class AsyncGroup(AsyncNode):
    """A `Group` whose methods are awaited; its members are iterated with ``async for``."""

    __slots__ = ()
    iterators = frozenset(
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

    async def getitem(self, key: str) -> Any:
        """Return a member."""
        return await in_thread(self.node.__getitem__, key)

    async def setitem(self, key: str, value: Any) -> None:  # type: ignore[override]
        """Store an array under a name."""
        await in_thread(self.node.__setitem__, key, value)

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


def at_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose nodes come back as their facades."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return as_facade(function(*args, **kwargs))

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
