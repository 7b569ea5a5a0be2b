"""blazarr's stores with the awaited methods of zarr-python's, which its tests call to look inside."""

from __future__ import annotations

from typing import Any

import pytest

import blazarr.stores


class Done(int):
    """A result that may be awaited, as zarr-python's tests do, or used at once, as blazarr does."""

    def __await__(self) -> Any:
        yield from ()
        return self


class Awaited:
    """zarr-python's methods, told from blazarr's of the same name by their arguments."""

    supports_writes = supports_deletes = supports_listing = True
    supports_partial_writes = supports_consolidated_metadata = True

    @classmethod
    async def open(cls, *args: Any, **kwargs: Any) -> Any:
        return cls(*args, **kwargs)

    def get(self, key: str, *args: Any, **kwargs: Any) -> Any:
        if "prototype" in kwargs or (args and hasattr(args[0], "buffer")):
            return self._get_buffer(key, *args, **kwargs)
        return super().get(key, *args, **kwargs)  # type: ignore[misc]

    async def _get_buffer(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        found = super().get(key)  # type: ignore[misc]
        return None if found is None else prototype.buffer.from_bytes(bytes(found[0]))

    async def set(self, key: str, value: Any) -> None:
        self.put(key, value.to_bytes())  # type: ignore[attr-defined]

    async def set_if_not_exists(self, key: str, value: Any) -> None:
        if super().get(key) is None:  # type: ignore[misc]
            self.put(key, value.to_bytes())  # type: ignore[attr-defined]

    async def exists(self, key: str) -> bool:
        return super().get(key) is not None  # type: ignore[misc]

    def delete(self, *args: Any, **kwargs: Any) -> Done:
        return Done(super().delete(*args, **kwargs))  # type: ignore[misc]

    async def delete_dir(self, folder: str) -> None:
        self.delete_folder(folder)  # type: ignore[attr-defined]

    async def clear(self) -> None:
        self.delete_folder("")  # type: ignore[attr-defined]

    async def is_empty(self, prefix: str) -> bool:
        return next(self.keys(prefix.lstrip("/")), None) is None  # type: ignore[attr-defined]

    def list(self, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs:
            return super().list(*args, **kwargs)  # type: ignore[misc]
        return self.list_prefix("")

    async def list_prefix(self, prefix: str) -> Any:
        for key in list(self.keys(prefix)):  # type: ignore[attr-defined]
            yield key

    async def list_dir(self, prefix: str) -> Any:
        children = self.children(prefix.rstrip("/"))  # type: ignore[attr-defined]
        for name in (*children.keys, *children.folders):
            yield name

    async def getsize(self, key: str) -> int:
        return self.size(key)  # type: ignore[attr-defined,no-any-return]


class MemoryStore(Awaited, blazarr.stores.MemoryStore):
    """A store in memory, over a dict that the tests look into."""

    def __init__(self, store_dict: Any = None, **options: Any) -> None:
        self._store_dict = {} if store_dict is None else store_dict
        super().__init__(self._store_dict, **options)


class LocalStore(Awaited, blazarr.stores.LocalStore):
    """A folder."""


class ZipStore(Awaited, blazarr.stores.ZipStore):
    """A zip file."""


class Absent:
    """A store that blazarr hasn't got yet: tests that want it are skipped."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pytest.skip(f"blazarr has no {type(self).__name__} yet")

    @classmethod
    async def open(cls, *args: Any, **kwargs: Any) -> Any:
        return cls()

    @classmethod
    async def from_url(cls, *args: Any, **kwargs: Any) -> Any:
        return cls()


def absent(name: str) -> type[Absent]:
    return type(name, (Absent,), {})
