"""From URLs, and from other libraries' objects, to stores."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from blazarr.errors import BlazarrError, UnsupportedError
from blazarr.stores.base import Store
from blazarr.stores.fsspec import FsspecStore, without_user
from blazarr.stores.local import LocalStore
from blazarr.stores.memory import MemoryStore
from blazarr.stores.object_store import ObjectStore
from blazarr.stores.obstore import ObstoreMapping
from blazarr.stores.references import ReferenceStore
from blazarr.stores.zarr_python import ZarrPythonStore
from blazarr.stores.zip import ZipStore

OBJECT_STORES: Final = {"s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "http", "https"}


def from_url(url: str, options: Mapping[str, Any], *, read_only: bool) -> Store:
    """Return the store for a URL: an object store or web server, else what fsspec knows.

    Parameters
    ----------
    url
        The URL.
    options
        Options of the store.
    read_only
        Refuse every change.
    """
    scheme = url.partition("://")[0].lower()
    if scheme == "reference":
        return _references(url, dict(options))
    if scheme not in OBJECT_STORES or "::" in url:
        _require("fsspec", url)
        return _from_fsspec(url, options, read_only=read_only)
    if urlsplit(url).path.endswith(".zip"):
        folder, _, name = url.partition("?")[0].rpartition("/")
        return ZipStore(
            (ObjectStore(folder, read_only=True, storage_options=options), unquote(name))
        )
    return ObjectStore(url, read_only=read_only, storage_options=options)


def from_object(store: Any, *, read_only: bool) -> tuple[Store, str] | None:
    """Return the store for an object of another library, and the path in it; None for others.

    Parameters
    ----------
    store
        The object: a store or ``StorePath`` of zarr-python, a store of obstore, a mapper of fsspec,
        or a ``UPath``.
    read_only
        Refuse every change, where this is said when a store is made.
    """
    # Who has such an object has the library imported.
    zarr = sys.modules.get("zarr.abc.store")
    if zarr is not None and isinstance(store, zarr.Store):
        return _from_zarr(store), ""
    if type(store).__name__ == "StorePath" and type(store).__module__.startswith("zarr."):
        return _from_zarr(store.store), store.path
    if type(store).__module__.startswith("obstore."):
        return _from_obstore(store, read_only=read_only), ""
    mapping = sys.modules.get("fsspec.mapping")
    if mapping is not None and isinstance(store, mapping.FSMap):
        return FsspecStore(store.fs, store.root, read_only=read_only), ""
    if hasattr(store, "fs") and hasattr(store, "storage_options") and hasattr(store, "protocol"):
        if store.protocol in {"", "file", "local"}:
            return LocalStore(store.path, read_only=read_only), ""
        return FsspecStore(store.fs, store.path, read_only=read_only), ""
    return None


def _from_zarr(store: Any) -> Store:
    """Return our own store where it is one of ours as well: it is faster and compares."""
    from zarr.storage import LocalStore as ZarrLocalStore

    if type(store) is ZarrLocalStore:
        return LocalStore(store.root, read_only=store.read_only)
    return ZarrPythonStore(store)


def _references(url: str, options: dict[str, Any]) -> Store:
    """Return the store of references, with fsspec's names for its options."""
    references = options.pop("fo", None) or url.partition("://")[2]
    remote = options.pop("remote_options", None)
    allow = options.pop("allow", ())
    if options:
        raise BlazarrError(
            f"{sorted(options)} mean nothing for {url!r}; options of the files that are referred to "
            f"go into remote_options",
            argument="storage_options",
        )
    return ReferenceStore(references, allow=allow, remote_options=remote)


def _from_obstore(store: Any, *, read_only: bool) -> Store:
    if type(store).__name__ == "LocalStore" and store.prefix is not None:
        return LocalStore(store.prefix, read_only=read_only)
    if type(store).__name__ in {"LocalStore", "MemoryStore"}:
        return MemoryStore(ObstoreMapping(store), read_only=read_only)
    return ObjectStore(store, read_only=read_only)


def _from_fsspec(url: str, options: Mapping[str, Any], *, read_only: bool) -> Store:
    try:
        return FsspecStore.from_url(url, options, read_only=read_only)
    except (ValueError, ImportError) as error:
        raise UnsupportedError(f"{without_user(url)!r}: {error}", argument="store") from error


def _require(package: str, url: str) -> None:
    try:
        importlib.import_module(package)
    except ImportError as error:
        raise UnsupportedError(
            f"{without_user(url)!r} needs the package {package}: pip install {package}",
            argument="store",
            package=package,
        ) from error
