"""From what users pass to a store, and from a store to what the engine uses."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any, Final

from blazarr import _core
from blazarr.errors import BlazarrError, ReadOnlyError, UnsupportedError
from blazarr.stores.base import Store
from blazarr.stores.keyed import KeyedStore
from blazarr.stores.local import LocalStore
from blazarr.stores.memory import MemoryStore
from blazarr.stores.wrappers import ReadOnlyStore

MODES: Final = ("r", "r+", "a", "w", "w-")


def store_from(
    store: Any, mode: str | None = None, storage_options: Mapping[str, Any] | None = None
) -> tuple[Store, str]:
    """Return the store that an argument means, and the path in it.

    Parameters
    ----------
    store
        A path of a folder or zip archive, a URL (``file``, ``s3``, ``gs``, ``az``, ``http``,
        ``https`` and what fsspec knows), a dict or other mutable mapping, a `Store`, a store of
        zarr-python, obstore or fsspec, or None for new memory.
    mode
        ``"r"`` gives a store that refuses changes; ``"r+"``, ``"a"``, ``"w"`` and ``"w-"`` need
        one that does not; None takes the store as it is.
    storage_options
        Options of `LocalStore` or `ZipStore` where `store` is a path, of the object store or file
        system where it is a URL.
    """
    if mode is not None and mode not in MODES:
        raise BlazarrError(f"mode is one of {MODES}, not {mode!r}", argument="mode")
    made, path = _make(store, dict(storage_options or {}), read_only=mode == "r")
    if mode == "r":
        return made.with_read_only(), path
    if mode is not None and made.read_only:
        raise ReadOnlyError(f"{made} is read-only, which mode={mode!r} does not allow")
    return made, path


def native(store: Store) -> _core.Store:
    """Return what the engine uses for a store.

    Parameters
    ----------
    store
        Any store; those that Rust implements are used without Python.
    """
    if isinstance(store, ReadOnlyStore):
        return native(store.store).as_read_only()
    values = store.values if isinstance(store, KeyedStore) else None
    found = values if isinstance(values, _core.KeyStore) else _core.PyStore(store)
    return found.as_read_only() if store.read_only else found


def _make(store: Any, options: dict[str, Any], *, read_only: bool) -> tuple[Store, str]:
    if isinstance(store, str | Path):
        return _from_path(os.fspath(store), options, read_only=read_only), ""
    if options:
        raise BlazarrError(
            f"storage_options go with a path or URL, not with {type(store).__name__}",
            argument="storage_options",
        )
    if isinstance(store, Store):
        return store, ""
    if store is None or type(store) is dict:
        return MemoryStore(store, read_only=read_only), ""
    return _from_other(store, read_only=read_only)


def _from_other(store: Any, *, read_only: bool) -> tuple[Store, str]:
    from blazarr.stores.urls import from_object

    found = from_object(store, read_only=read_only)
    if found is not None:
        return found
    if isinstance(store, MutableMapping):
        return MemoryStore(store, read_only=read_only), ""
    if isinstance(store, os.PathLike):
        return _from_path(os.fspath(store), {}, read_only=read_only), ""
    raise UnsupportedError(
        f"a {type(store).__module__}.{type(store).__qualname__} is not a store; pass a path, a "
        f"URL, a dict, a blazarr.stores.Store, or a store of zarr-python, obstore or fsspec",
        argument="store",
    )


def _from_path(text: str, options: dict[str, Any], *, read_only: bool) -> Store:
    scheme = text.partition("://")[0] if "://" in text else ""
    if scheme not in {"", "file"}:
        from blazarr.stores.urls import from_url

        return from_url(text, options, read_only=read_only)
    path = _path_of_url(text) if scheme else text
    if path.endswith(".zip") and not os.path.isdir(path):  # noqa: PTH112 - on the way of every open
        from blazarr.stores.zip import ZipStore

        return ZipStore(path, mode="r" if read_only else "a", **options)
    if os.path.isfile(path):  # noqa: PTH113 - likewise
        raise UnsupportedError(
            f"{path!r} is a file, not a folder; the names of zip archives end in .zip",
            argument="store",
        )
    return LocalStore(path, read_only=read_only, **options)


def _path_of_url(url: str) -> str:
    """Return the path of a ``file://`` URL.

    Names are percent-encoded in URLs, but people write them as they are, with ``#`` and ``?``
    too. So everything after the host is the path, and it is decoded unless the text as it is
    names something that exists.
    """
    from urllib.parse import unquote

    host, slash, rest = url.split("://", 1)[1].partition("/")
    if host not in {"", "localhost"}:
        # Strictly a host, but what people mean by "file://data/x.zarr" is a relative path.
        return host + slash + rest
    literal = slash + rest
    return literal if os.path.exists(literal) else unquote(literal)  # noqa: PTH110
