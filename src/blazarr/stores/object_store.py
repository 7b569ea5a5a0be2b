"""Object stores and HTTP through obstore."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from blazarr._core import parse_folder, parse_key
from blazarr.errors import BlazarrError, ConflictError, StoreError, UnsupportedError
from blazarr.stores.base import (
    ABSENT,
    ANY,
    PAGE,
    Capabilities,
    Children,
    Data,
    Expect,
    Generation,
    Page,
    Store,
    bounds,
)
from blazarr.stores.loop import gather, run

# Seconds for one request, with all its repetitions.
DEADLINE: Final = 60.0
# How often a body is asked for that was cut short.
TRIES: Final = 3
# obstore takes this answer of a web server for a missing object.
NOT_ALLOWED: Final = "status code: 405"
# Those that compare and write in one step.
CONDITIONAL: Final = {"S3Store", "GCSStore", "AzureStore", "MemoryStore"}

# Where obstore was used first.
_process: int | None = None


class ObjectStore(Store):
    """A bucket, a container or a web server, as a store of obstore.

    A key that is refused is an error and never a missing chunk. Plain web servers are read, not
    written or listed.

    Parameters
    ----------
    store
        The store of obstore.
    read_only
        Refuse every change.
    requests
        How many requests wait at a time.
    deadline
        Seconds for one request, with all its repetitions.
    """

    def __init__(
        self,
        store: Any,
        *,
        read_only: bool = False,
        requests: int = 64,
        deadline: float = DEADLINE,
    ) -> None:
        self.store = store
        self.requests = requests
        self.deadline = deadline
        self._is_http = type(store).__name__ == "HTTPStore"
        self._read_only = read_only or self._is_http

    @property
    def capabilities(self) -> Capabilities:
        """What this store can do."""
        return Capabilities(
            read_only=self._read_only,
            conditional=type(self.store).__name__ in CONDITIONAL,
            ranges=True,
            atomic=True,
            batch=self.requests * 4,
        )

    def get(self, key: str, range: slice | None = None) -> tuple[Data, Generation] | None:
        """Return what is under a key; see `Store.get`."""
        return self.get_many([key], [range])[0]

    def get_many(
        self, keys: Sequence[str], ranges: Sequence[slice | None] | None = None
    ) -> list[tuple[Data, Generation] | None]:
        """Return what is under many keys; see `Store.get_many`."""
        parts = [bounds(part) for part in ranges or [None] * len(keys)]
        calls = [
            partial(self._get, parse_key(key), *part) for key, part in zip(keys, parts, strict=True)
        ]
        return run(gather(calls, self.requests))

    async def _get(self, key: str, start: int, stop: int | None) -> tuple[Data, Generation] | None:
        try:
            async with asyncio.timeout(self.deadline):
                return await self._part(key, start, stop)
        except FileNotFoundError as error:
            if NOT_ALLOWED in str(error):
                raise self._failed(key, error) from error
            return None
        except TimeoutError as error:
            raise StoreError(
                f"{self}: {key!r} did not arrive within {self.deadline:g} s",
                store=str(self),
                key=key,
                deadline=self.deadline,
            ) from error
        except Exception as error:
            raise self._failed(key, error) from error

    async def _part(self, key: str, start: int, stop: int | None) -> tuple[Data, Generation]:
        try:
            if start != stop:
                return await self._request(key, _range(start, stop))
        except FileNotFoundError:
            raise
        except Exception as error:
            if (start, stop) == (0, None) or _is_refusal(error):
                raise
            whole = await self._without_range(key, error)
            if whole is not None:
                return memoryview(whole[0])[start:stop], whole[1]
        return await self._clipped(key, start, stop)

    async def _request(self, key: str, part: Any) -> tuple[Data, Generation]:
        obstore = _library()

        options: Any = {} if part is None else {"range": part}
        for attempt in reversed(range(TRIES)):
            answer = await obstore.get_async(self.store, key, options=options)
            first, last = answer.range
            try:
                data = memoryview(await answer.bytes_async())
            except Exception:
                if not attempt:
                    raise
                continue
            if len(data) == last - first:
                return data, _generation(answer.meta)
        raise StoreError(
            f"{self}: {key!r} was cut short {TRIES} times",
            store=str(self),
            key=key,
            attempts=TRIES,
        )

    async def _without_range(self, key: str, error: Exception) -> tuple[Data, Generation] | None:
        """Return the whole value where the server gives no parts."""
        if not _gives_no_parts(error):
            return None
        warnings.warn(
            f"{self} has no range requests: values are fetched whole, {key!r} among them",
            stacklevel=2,
        )
        return await self._request(key, None)

    async def _clipped(self, key: str, start: int, stop: int | None) -> tuple[Data, Generation]:
        """Return a part after having asked for the size: it lies beyond the end, or is a suffix."""
        obstore = _library()

        meta = await obstore.head_async(self.store, key)
        first, last, _ = slice(start, stop).indices(meta["size"])
        if first >= last:
            return b"", _generation(meta)
        return await self._request(key, (first, last))

    def put(self, key: str, data: Data, if_generation: Generation | Expect = ANY) -> Generation:
        """Replace what is under a key; see `Store.put`."""
        obstore = _library()
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        self.require_writable(key)
        mode: Any = _mode(if_generation) if self.capabilities.conditional else "overwrite"
        try:
            return _generation(obstore.put(self.store, parse_key(key), bytes(data), mode=mode))
        except (AlreadyExistsError, PreconditionError, FileNotFoundError) as error:
            raise self._conflict(key) from error
        except Exception as error:
            raise self._failed(key, error) from error

    def delete(self, key: str, if_generation: Generation | Expect = ANY) -> bool:
        """Delete a key; see `Store.delete`. The condition is checked before, not at the same time."""
        obstore = _library()

        self.require_writable(key)
        meta = self._head(key)
        if if_generation is not ANY:
            present = ABSENT if meta is None else _generation(meta)
            if present != if_generation:
                raise self._conflict(key)
        if meta is not None:
            obstore.delete(self.store, key)
        return meta is not None

    def list(self, prefix: str = "", start_after: str = "") -> Iterator[Page]:
        """Yield keys and sizes by pages; see `Store.list`."""
        obstore = _library()

        self._require_listing()
        folder = prefix.rpartition("/")[0]
        if folder:
            parse_key(folder)
        found = obstore.list(
            self.store, prefix=folder or None, offset=start_after or None, chunk_size=PAGE
        )
        for page in found:
            kept = [
                (meta["path"], meta["size"])
                for meta in page
                if meta["path"].startswith(prefix) and meta["path"] > start_after
            ]
            if kept:
                yield kept

    def children(self, folder: str = "") -> Children:
        """Return the names of what is directly in a folder."""
        obstore = _library()

        self._require_listing()
        prefix = parse_folder(folder)
        found = obstore.list_with_delimiter(self.store, prefix=prefix.rstrip("/") or None)
        keys = [meta["path"][len(prefix) :] for meta in found["objects"]]
        folders = [path.rstrip("/")[len(prefix) :] for path in found["common_prefixes"]]
        return Children(sorted(keys), sorted(folders))

    def size(self, key: str) -> int | None:
        """Return the size of a value; None where the key does not exist."""
        meta = self._head(key)
        return None if meta is None else meta["size"]

    def delete_folder(self, folder: str = "") -> None:
        """Delete every key in a folder and below."""
        obstore = _library()

        self.require_writable(folder)
        for page in self.list(parse_folder(folder)):
            obstore.delete(self.store, [key for key, _ in page])

    def _head(self, key: str) -> Any:
        obstore = _library()

        try:
            return obstore.head(self.store, parse_key(key))
        except FileNotFoundError:
            return None
        except BlazarrError:
            raise
        except Exception as error:
            raise self._failed(key, error) from error

    def _require_listing(self) -> None:
        if self._is_http:
            raise UnsupportedError(
                f"{self}: web servers have no listings; open arrays by their path, or groups with "
                f"consolidated metadata",
                store=str(self),
            )

    def _failed(self, key: str, error: Exception) -> Exception:
        if isinstance(error, BlazarrError):
            return error
        what = str(error).partition("\n\nDebug source")[0]
        kind = "permission" if _is_refusal(error) else None
        return StoreError(f"{self}: {key!r}: {what}", kind=kind, store=str(self), key=key)

    def _conflict(self, key: str) -> ConflictError:
        return ConflictError(f"{key!r} was changed by another writer", store=str(self), key=key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectStore) and (self.store, self._read_only) == (
            other.store,
            other._read_only,
        )

    def __hash__(self) -> int:
        return hash((str(self), self._read_only))

    def __str__(self) -> str:
        return str(self.store)

    def __repr__(self) -> str:
        return f"ObjectStore({self.store!r}{', read_only=True' if self._read_only else ''})"


def _library() -> Any:
    """Return obstore; its threads do not live on in a forked child, where a call would wait."""
    global _process  # noqa: PLW0603 - one for the process
    import obstore

    if _process is None:
        _process = os.getpid()
    if _process != os.getpid():
        raise StoreError(
            "object stores cannot be used in a forked process where its parent used them; start "
            "processes by 'spawn' or 'forkserver'",
            kind="fork",
        )
    return obstore


def _range(start: int, stop: int | None) -> Any:
    if start < 0:
        return {"suffix": -start}
    if stop is not None:
        return start, stop
    return {"offset": start} if start else None


def _generation(meta: Any) -> Generation:
    found = meta["e_tag"], meta["version"]
    return found if any(found) else object()


def _mode(if_generation: Any) -> Any:
    if if_generation is ANY:
        return "overwrite"
    if if_generation is ABSENT:
        return "create"
    try:
        tag, version = if_generation
    except (TypeError, ValueError):
        raise BlazarrError(
            f"{if_generation!r} is not a generation of this store", argument="if_generation"
        ) from None
    given = {"e_tag": tag, "version": version}
    return {name: value for name, value in given.items() if value is not None}


def _is_refusal(error: Exception) -> bool:
    from obstore.exceptions import PermissionDeniedError, UnauthenticatedError

    return isinstance(error, PermissionDeniedError | UnauthenticatedError)


def _gives_no_parts(error: Exception) -> bool:
    text = str(error)
    return "non-partial response" in text or "Range request not supported" in text
