"""Where an object store is and how it is asked, from what users and other libraries say."""

from __future__ import annotations

import asyncio
import os
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from inspect import isawaitable
from typing import Any, Final
from urllib.parse import unquote

from blazarr.errors import BlazarrError, UnsupportedError
from blazarr.stores.profiles import profile_options

# What other spellings of a scheme mean.
SCHEMES: Final = {"gcs": "gs", "s3a": "s3"}
HTTP: Final = {"http", "https"}

# Names that people know from fsspec and botocore, for what object_store calls otherwise.
NAMES: Final = {
    "endpoint_url": "endpoint",
    "anonymous": "skip_signature",
    "anon": "skip_signature",
}
S3_NAMES: Final = {
    "key": "access_key_id",
    "secret": "secret_access_key",
    "token": "session_token",
    "region_name": "region",
}
CREDENTIALS: Final = {"access_key_id", "skip_signature"}
ENVIRONMENT: Final = (
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
OWN: Final = {"requests", "deadline", "retries", "conditional"}
TIMEOUTS: Final = {"connect_timeout": 5, "read_timeout": 10}

Options = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Server:
    """A server and the folder in it, and how requests are made.

    Attributes
    ----------
    url
        The bucket or container, or the folder of a web server.
    prefix
        The folder in the bucket.
    options
        Options of the kind of server; some are secrets.
    client
        Options of the HTTP client.
    headers
        What is sent with each request.
    credential_provider
        A function that returns credentials, as obstore has them.
    requests
        How many requests are under way at a time.
    deadline
        Seconds for one value, with all repetitions.
    retries
        How often a request is made again.
    first_pause, longest_pause
        Seconds before the first repetition, and at most before a later one.
    patience
        Seconds after which no request is repeated; None is the deadline.
    conditional
        Whether the server compares and writes in one step.
    """

    url: str
    prefix: str = ""
    options: Options = field(default=(), repr=False)
    client: Options = field(default=(), repr=False)
    headers: Options = field(default=(), repr=False)
    credential_provider: Any = None
    requests: int = 64
    deadline: float = 60.0
    retries: int = 5
    first_pause: float = 0.1
    longest_pause: float = 10.0
    patience: float | None = None
    conditional: bool = True

    @property
    def is_web(self) -> bool:
        """Whether it is a plain web server."""
        return self.url.partition("://")[0] in HTTP

    def settings(self) -> dict[str, Any]:
        """Return what the core is told."""
        return {
            "options": list(self.options),
            "client": list(self.client),
            "headers": list(self.headers),
            "requests": self.requests,
            "deadline": self.deadline,
            "retries": self.retries,
            "first_pause": self.first_pause,
            "longest_pause": self.longest_pause,
            "patience": self.deadline if self.patience is None else self.patience,
            "conditional": self.conditional,
        }

    def credentials(self) -> Callable[[], tuple[dict[str, str], float | None]] | None:
        """Return a function that finds credentials and when they run out; None for none."""
        provider = self.credential_provider
        return None if provider is None else lambda: _found(provider())

    def __str__(self) -> str:
        return f"{self.url}/{self.prefix}" if self.prefix else self.url


def server_at(url: str, options: Mapping[str, Any]) -> Server:
    """Return the server for a URL.

    Parameters
    ----------
    url
        The URL.
    options
        Options of the server and of requests.
    """
    scheme, _, rest = url.partition("://")
    scheme = SCHEMES.get(scheme.lower(), scheme.lower())
    if scheme in HTTP:
        return _with_options(_web_server(f"{scheme}://{rest.rstrip('/')}"), dict(options))
    bucket, _, prefix = rest.partition("/")
    server = Server(f"{scheme}://{bucket}", unquote(prefix).strip("/"))
    given = dict(options)
    if scheme == "s3":
        given = profile_options(given) | given
    given.pop("profile", None)
    return _with_options(server, given)


def server_of(store: Any, options: Mapping[str, Any]) -> Server:
    """Return the server that a store of obstore asks, with what it was configured with.

    Parameters
    ----------
    store
        The store.
    options
        Further options.
    """
    kind = type(store).__name__
    if kind == "HTTPStore":
        server, config = _web_server(store.url.rstrip("/")), {}
    elif kind in _BUCKETS:
        scheme, name = _BUCKETS[kind]
        config = dict(store.config)
        server = Server(f"{scheme}://{config.pop(name)}")
    else:
        raise UnsupportedError(f"a {kind} is not a store of a server", argument="store")
    given = config | {
        "client_options": store.client_options or {},
        "retry_config": store.retry_config or {},
        "credential_provider": getattr(store, "credential_provider", None),
    }
    prefix = (getattr(store, "prefix", None) or "").strip("/")
    return _with_options(replace(server, prefix=prefix), given | dict(options))


def _web_server(url: str) -> Server:
    """Return the server for a URL, whose user and password go into a header: errors name the URL."""
    scheme, _, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    if not at:
        return Server(url)
    name, _, password = user.partition(":")
    token = b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode()
    return Server(f"{scheme}://{host}{slash}{path}", headers=(("Authorization", f"Basic {token}"),))


_BUCKETS: Final = {
    "S3Store": ("s3", "bucket"),
    "GCSStore": ("gs", "bucket"),
    "AzureStore": ("az", "container_name"),
}


def _with_options(server: Server, options: dict[str, Any]) -> Server:
    own = {name: options.pop(name) for name in OWN if name in options}
    provider = options.pop("credential_provider", None)
    client = {name: options.pop(name, default) for name, default in TIMEOUTS.items()}
    client |= {"allow_http": True} | dict(options.pop("client_options", {}))
    headers = dict(server.headers) | dict(client.pop("default_headers", {}))
    own |= _pauses(dict(options.pop("retry_config", {})))
    names = NAMES | S3_NAMES if server.url.startswith("s3://") else NAMES
    config = {names.get(name, name): value for name, value in options.items()}
    if server.url.startswith("s3://") and "endpoint" in config:
        config = {"region": os.environ.get("AWS_REGION", "us-east-1")} | config
        # Where nothing says otherwise there is no use in asking a machine of Amazon's for keys.
        known = CREDENTIALS & config.keys() or any(map(os.environ.get, ENVIRONMENT))
        if not known and provider is None:
            config["skip_signature"] = True
    return replace(
        server,
        options=_strings(config),
        client=_strings(client),
        headers=_strings(headers),
        credential_provider=provider,
        **own,
    )


def _pauses(retry: dict[str, Any]) -> dict[str, Any]:
    """Return what obstore's ``retry_config`` says; pauses double here, whatever its base."""
    backoff = dict(retry.pop("backoff", {}))
    backoff.pop("base", None)
    names = {"max_retries": "retries", "retry_timeout": "patience"}
    found = {names[name]: retry.pop(name) for name in names if name in retry}
    names = {"init_backoff": "first_pause", "max_backoff": "longest_pause"}
    found |= {names[name]: backoff.pop(name) for name in names if name in backoff}
    if unknown := sorted(retry | backoff):
        raise BlazarrError(f"retry_config has no {unknown}", argument="storage_options")
    return {
        name: value.total_seconds() if isinstance(value, timedelta) else value
        for name, value in found.items()
    }


def _strings(options: Mapping[str, Any]) -> Options:
    return tuple(
        (
            name,
            _string(value, is_time=name.endswith(("_timeout", "_interval")) or name == "timeout"),
        )
        for name, value in sorted(options.items())
        if value is not None
    )


def _string(value: Any, *, is_time: bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, timedelta):
        value, is_time = value.total_seconds(), True
    if is_time and isinstance(value, int | float):
        return f"{round(value * 1000)}ms"
    return value.decode() if isinstance(value, bytes) else str(value)


def _found(answer: Any) -> tuple[dict[str, str], float | None]:
    """Return the fields of what a credential provider of obstore gives, and when they run out."""
    if isawaitable(answer):
        answer = asyncio.run(_awaited(answer))
    fields = dict(answer)
    until = fields.pop("expires_at", None)
    if isinstance(token := fields.get("sas_token"), list):
        fields["sas_token"] = "&".join(f"{name}={value}" for name, value in token)
    found = {name: str(value) for name, value in fields.items() if value is not None}
    return found, until.timestamp() if isinstance(until, datetime) else None


async def _awaited(answer: Any) -> Any:
    return await answer
