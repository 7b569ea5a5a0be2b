"""Settings of the process: zarr-python's keys that mean something here, and blazarr's own.

``config.set`` changes a setting for the whole process, as zarr-python's does; used as a
context manager it puts the old values back. Environment variables ``BLAZARR_A__B_C=value``
set ``a.b_c`` at import. Keys that are not in `DEFAULTS` are kept but not looked at, so that
code written for zarr-python runs.
"""

from __future__ import annotations

import ast
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from types import TracebackType
from typing import Any, Final

from blazarr.errors import BlazarrError
from blazarr.limits import Limits

DEFAULTS: Final[dict[str, Any]] = {
    "default_zarr_format": 3,
    "array.order": "C",
    "array.write_empty_chunks": False,
    "array.read_missing_chunks": True,
    "array.checksum": True,
    "array.target_shard_size_bytes": None,
    # zarr-python needs this switched on; blazarr reads and writes rectilinear grids always.
    "array.rectilinear_chunks": True,
    "array.sharding_coalesce_max_gap_bytes": 1 << 20,
    "array.sharding_coalesce_max_bytes": 16 << 20,
    "array.allow_unsafe_pickle_decode": False,
    "async.concurrency": 10,
    "async.timeout": None,
    "threading.max_workers": None,
    "json_indent": 2,
    **{f"limits.{name}": value for name, value in asdict(Limits()).items()},
}

_MISSING: Final = object()


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_optional_count(value: object) -> bool:
    return value is None or _is_count(value)


def _is_optional_time(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and value >= 0)


def _is_optional_size(value: object) -> bool:
    return value is None or _is_size(value)


# Each setting's test, and what to say where it fails.
_CHECKS: Final[dict[str, tuple[Callable[[object], bool], str]]] = {
    "default_zarr_format": (lambda value: value in (2, 3), "2 or 3"),
    "array.order": (lambda value: value in ("C", "F"), "'C' or 'F'"),
    "array.write_empty_chunks": (_is_flag, "True or False"),
    "array.read_missing_chunks": (_is_flag, "True or False"),
    "array.checksum": (_is_flag, "True or False"),
    "array.target_shard_size_bytes": (_is_optional_count, "a positive integer or None"),
    "array.rectilinear_chunks": (_is_flag, "True or False"),
    "array.sharding_coalesce_max_gap_bytes": (_is_size, "an integer of at least 0"),
    "array.sharding_coalesce_max_bytes": (_is_size, "an integer of at least 0"),
    "array.allow_unsafe_pickle_decode": (_is_flag, "True or False"),
    "async.concurrency": (_is_optional_count, "a positive integer or None"),
    "async.timeout": (_is_optional_time, "a number of seconds or None"),
    "threading.max_workers": (_is_optional_count, "a positive integer or None"),
    "json_indent": (_is_optional_size, "an integer of at least 0 or None"),
    **{key: (_is_count, "a positive integer") for key in DEFAULTS if key.startswith("limits.")},
}


class Config:
    """Settings by dotted key; safe to use from many threads.

    Reading takes no lock: every change replaces the whole table.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._lock = threading.RLock()
        self._environment = environment
        self._values: dict[str, Any] = {}
        self._followers: list[tuple[str, Callable[[Any], object]]] = []
        self._limits = Limits()
        self.reset()

    def get(self, key: str, default: Any = _MISSING) -> Any:
        """Return the value of `key`; for a prefix such as ``"array"``, a nested dictionary.

        Parameters
        ----------
        key
            Dotted name, such as ``"array.order"``.
        default
            Returned where there is no such key; without it that is a KeyError.
        """
        values = self._values
        if key in values:
            return values[key]
        section = _section(values, key)
        if section:
            return section
        if default is _MISSING:
            raise KeyError(key)
        return default

    def set(self, arg: Mapping[str, Any] | None = None, **settings: Any) -> _Restore:
        """Change settings, for good or (with ``with``) for a while.

        Parameters
        ----------
        arg
            Dotted or nested keys and their new values.
        **settings
            The same, with ``__`` for the dot: ``config.set(array__order="F")``.
        """
        changes = dict(_flatten(arg or {}))
        changes |= dict(_flatten({k.replace("__", "."): v for k, v in settings.items()}))
        for key, value in changes.items():
            _check(key, value)
        with self._lock:
            before = {key: self._values.get(key, _MISSING) for key in changes}
            self._replace(changes)
        return _Restore(self, before)

    def reset(self) -> None:
        """Return to the defaults and the environment's settings."""
        environment = os.environ if self._environment is None else self._environment
        changes = dict(_from_environment(environment))
        for key, value in changes.items():
            _check(key, value)
        with self._lock:
            self._values = {}
            self._replace({**DEFAULTS, **changes})

    def refresh(self) -> None:
        """Return to the defaults and what the environment says now; another name of `reset`."""
        self.reset()

    def follow(self, key: str, tell: Callable[[Any], object]) -> None:
        """Tell the value of a setting, now and whenever it is set: for what is kept elsewhere.

        Parameters
        ----------
        key
            Dotted name.
        tell
            Called with the value.
        """
        with self._lock:
            self._followers.append((key, tell))
            tell(self.get(key))

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as nested dictionaries."""
        return _nested(self._values)

    def pprint(self) -> None:
        """Print all settings."""
        from pprint import pprint

        pprint(self.to_dict())  # noqa: T203

    @property
    def limits(self) -> Limits:
        """The current `Limits`."""
        return self._limits

    def _replace(self, changes: Mapping[str, Any]) -> None:
        with self._lock:
            merged = {**self._values, **changes}
            self._values = {k: v for k, v in merged.items() if v is not _MISSING}
            self._limits = Limits(**_section(self._values, "limits"))
            for key, tell in self._followers:
                if key in changes:
                    tell(self._values[key])

    def __repr__(self) -> str:
        return f"Config({self._values!r})"


class _Restore:
    """What `Config.set` returns: leaving the ``with`` block puts the old values back."""

    def __init__(self, config: Config, before: dict[str, Any]) -> None:
        self._config = config
        self._before = before

    def __enter__(self) -> Config:
        return self._config

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._config._replace(self._before)


def _section(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    start = f"{prefix}."
    return _nested({k.removeprefix(start): v for k, v in values.items() if k.startswith(start)})


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for key, value in values.items():
        *parents, name = key.split(".")
        place = nested
        for parent in parents:
            place = place.setdefault(parent, {})
        place[name] = value
    return nested


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for name, text in environment.items():
        if name.startswith("BLAZARR_"):
            key = name.removeprefix("BLAZARR_").lower().replace("__", ".")
            yield key, _literal(text)


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {"true": True, "false": False, "none": None}.get(text.lower(), text)


def _check(key: str, value: object) -> None:
    if key not in _CHECKS:
        return
    accepts, wanted = _CHECKS[key]
    if not accepts(value):
        raise BlazarrError(f"config {key!r} must be {wanted}, not {value!r}", argument=key)


config: Final = Config()
