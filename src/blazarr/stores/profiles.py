"""Profiles of Amazon's command line in ``~/.aws``, as far as they hold keys."""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blazarr.errors import BlazarrError, UnsupportedError

# What a profile calls otherwise than object_store.
NAMES = {
    "aws_access_key_id": "access_key_id",
    "aws_secret_access_key": "secret_access_key",
    "aws_session_token": "session_token",
    "region": "region",
    "endpoint_url": "endpoint",
}
# Signs of keys that have to be fetched somewhere.
ELSEWHERE = ("role_arn", "sso_session", "sso_start_url", "credential_process", "login_session")
KEYS = {"access_key_id", "key", "anonymous", "anon", "skip_signature", "credential_provider"}


def profile_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that the profile holds which a user names, or the default one.

    Parameters
    ----------
    options
        What the user says: ``profile``, and what a profile would say otherwise.
    """
    named = options.get("profile") or os.environ.get("AWS_PROFILE")
    if not named and (KEYS & options.keys() or os.environ.get("AWS_ACCESS_KEY_ID")):
        return {}
    profile = _profile(named or "default")
    if named and not profile:
        raise BlazarrError(
            f"there is no profile {named!r} in {_file('credentials')} or {_file('config')}",
            argument="storage_options",
        )
    found = {NAMES[name]: value for name, value in profile.items() if name in NAMES}
    if "access_key_id" in found or KEYS & options.keys():
        return found if not KEYS & options.keys() else _without_keys(found)
    if named and any(name in profile for name in ELSEWHERE):
        raise UnsupportedError(
            f"the keys of the profile {named!r} have to be fetched: pass "
            f"credential_provider=obstore.auth.boto3.Boto3CredentialProvider(session)",
            argument="storage_options",
        )
    return found


def _without_keys(found: dict[str, Any]) -> dict[str, Any]:
    keys = ("access_key_id", "secret_access_key", "session_token")
    return {name: value for name, value in found.items() if name not in keys}


def _profile(name: str) -> dict[str, str]:
    section = name if name == "default" else f"profile {name}"
    return _section("config", section) | _section("credentials", name)


def _section(file: str, name: str) -> dict[str, str]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read(_file(file), encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError) as error:
        raise BlazarrError(f"{_file(file)}: {error}", argument="storage_options") from error
    return dict(parser[name]) if parser.has_section(name) else {}


def _file(name: str) -> Path:
    variable = {"credentials": "AWS_SHARED_CREDENTIALS_FILE", "config": "AWS_CONFIG_FILE"}[name]
    return Path(os.environ.get(variable) or Path.home() / ".aws" / name)
