"""From URLs, and from other libraries' objects, to stores."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from blazarr.errors import BlazarrError, UnsupportedError
from blazarr.stores.base import Store
from blazarr.stores.fsspec import FsspecStore
from blazarr.stores.local import LocalStore
from blazarr.stores.object_store import DEADLINE, ObjectStore
from blazarr.stores.zarr_python import ZarrPythonStore
from blazarr.stores.zip import ZipStore

OBJECT_STORES: Final = {"s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "http", "https"}
HTTP: Final = {"http", "https"}

# Names that people know from fsspec and botocore, for what obstore calls otherwise.
NAMES: Final = {
    "endpoint_url": "endpoint",
    "anonymous": "skip_signature",
    "anon": "skip_signature",
    "key": "access_key_id",
    "secret": "secret_access_key",
    "token": "session_token",
    "region_name": "region",
}
CREDENTIALS: Final = {"access_key_id", "skip_signature", "credential_provider"}
ENVIRONMENT: Final = (
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
CLIENT: Final = {"allow_http": True, "connect_timeout": "5s", "read_timeout": "10s"}


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
    if scheme not in OBJECT_STORES or "::" in url:
        _require("fsspec", url)
        return _from_fsspec(url, options, read_only=read_only)
    _require("obstore", url)
    path = urlsplit(url).path
    if path.endswith(".zip"):
        folder, _, name = url.partition("?")[0].rpartition("/")
        return ZipStore((_object_store(folder, dict(options), read_only=True), unquote(name)))
    return _object_store(url, dict(options), read_only=read_only)


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
        return ObjectStore(store, read_only=read_only), ""
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


def _from_fsspec(url: str, options: Mapping[str, Any], *, read_only: bool) -> Store:
    try:
        return FsspecStore.from_url(url, options, read_only=read_only)
    except (ValueError, ImportError) as error:
        raise UnsupportedError(f"{url!r}: {error}", argument="store") from error


def _object_store(url: str, options: dict[str, Any], *, read_only: bool) -> Store:
    from obstore.exceptions import BaseError
    from obstore.store import from_url as obstore_from_url

    own = {name: options.pop(name) for name in ("requests", "deadline") if name in options}
    client = CLIENT | options.pop("client_options", {})
    deadline = own.get("deadline", DEADLINE)
    retry = {"max_retries": 5, "retry_timeout": timedelta(seconds=deadline)} | options.pop(
        "retry_config", {}
    )
    config = {NAMES.get(name, name): value for name, value in options.items()}
    scheme = url.partition("://")[0].lower()
    if scheme in HTTP:
        if config:
            raise BlazarrError(
                f"{sorted(options)} mean nothing for {url!r}; headers and the like go into "
                f"client_options",
                argument="storage_options",
            )
        client["allow_http"] = scheme == "http"
    elif scheme in {"s3", "s3a"} and "endpoint" in config:
        config = {"region": os.environ.get("AWS_REGION", "us-east-1")} | config
        # Where nothing says otherwise there is no use in asking a machine of Amazon's for keys.
        if not CREDENTIALS & config.keys() and not any(map(os.environ.get, ENVIRONMENT)):
            config["skip_signature"] = True
    try:
        made = obstore_from_url(url, client_options=client, retry_config=retry, **config)
    except (BaseError, TypeError, ValueError) as error:
        what = str(error).partition("\n\nDebug source")[0]
        raise BlazarrError(f"{url!r}: {what}", argument="storage_options") from error
    return ObjectStore(made, read_only=read_only, **own)


def _require(package: str, url: str) -> None:
    try:
        importlib.import_module(package)
    except ImportError as error:
        raise UnsupportedError(
            f"{url!r} needs the package {package}: pip install {package}",
            argument="store",
            package=package,
        ) from error
