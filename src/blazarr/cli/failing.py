"""Errors as one line with a hint, and as exit codes."""

from __future__ import annotations

import json
from typing import Any, Final

from blazarr.errors import BlazarrError

DONE: Final = 0
DAMAGED: Final = 1
USAGE: Final = 2
STOPPED: Final = 130
INTERNAL: Final = 70

# Exit codes by the kind of error; what is not here is a wrong argument.
CODES: Final = {
    "not-found": 3,
    "exists": 4,
    "corrupt": 5,
    "checksum": 5,
    "verify": 5,
    "chunk-missing": 5,
    "metadata": 5,
    "unsupported": 6,
    "store": 7,
    "read-only": 7,
    "limit": 8,
    "conflict": 9,
    "internal": INTERNAL,
}

HINTS: Final = {
    "not-found": "blazarr ls PARENT shows what is there",
    "exists": "--overwrite replaces it; an unfinished one goes on with the same command",
    "corrupt": "blazarr check PATH finds all that is damaged",
    "checksum": "blazarr check PATH finds all that is damaged",
    "verify": "filters that round change values; otherwise run it again",
    "metadata": "blazarr check PATH finds all that is wrong",
    "read-only": "choose another target",
    "limit": "raise --max-memory, or choose smaller chunks or shards",
    "store": "blazarr goes on where it was when you run the same command again",
    "internal": "please report it; BLAZARR_TRACEBACK=1 shows where it happened",
}


def code_of(error: BaseException) -> int:
    """Return the exit code for an error."""
    if isinstance(error, BlazarrError):
        if error.kind == "metadata" and error.argument is not None:
            return USAGE
        return CODES.get(error.kind, USAGE)
    return CODES["store"] if isinstance(error, OSError) else INTERNAL


def described(error: BaseException) -> dict[str, Any]:
    """Return an error as JSON has it: kind, message, hint, and the fields that say something."""
    if isinstance(error, BlazarrError):
        kind, fields = error.kind, error.fields
        message = error.message
        package = error.package
        hint = f"pip install {package}" if package else HINTS.get(kind, "")
    else:
        kind = "store" if isinstance(error, OSError) else "internal"
        fields, hint = {}, HINTS[kind] if kind == "internal" else ""
        message = f"{type(error).__name__}: {error}" if kind == "internal" else str(error)
    shown = {name: json.loads(json.dumps(value, default=str)) for name, value in fields.items()}
    # What to write instead in Python is no help here; the hint has it.
    one_line = " ".join(message.replace("; use overwrite=True to replace it", "").split())
    return {"kind": kind, "message": one_line, "hint": hint, "code": code_of(error), **shown}


def line(error: BaseException) -> str:
    """Return an error as the line that people see."""
    found = described(error)
    hint = f" Hint: {found['hint']}" if found["hint"] else ""
    return f"blazarr: {found['message'].rstrip('.')}.{hint}"
