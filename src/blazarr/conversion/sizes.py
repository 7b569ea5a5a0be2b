"""Numbers of bytes as people write them."""

from __future__ import annotations

import math
import re
from typing import Final

from blazarr.errors import BlazarrError

_UNITS: Final = {"": 1, "b": 1}
_UNITS.update({f"{letter}b": 1000**power for power, letter in enumerate("kmgtp", 1)})
_UNITS.update({f"{letter}ib": 1024**power for power, letter in enumerate("kmgtp", 1)})
_UNITS.update({letter: 1024**power for power, letter in enumerate("kmgtp", 1)})
_SIZE: Final = re.compile(r"\s*(\d+(?:\.\d+)?(?:e\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)


def parse_size(given: int | str, argument: str) -> int:
    """Return a number of bytes.

    Parameters
    ----------
    given
        A number of bytes, or text such as ``"512MiB"``, ``"2 GB"`` or ``"1e9"``; ``"1G"`` is 1 GiB.
    argument
        Name for errors.
    """
    if isinstance(given, int) and not isinstance(given, bool):
        size = given
    else:
        found = _SIZE.fullmatch(given) if isinstance(given, str) else None
        unit = None if found is None else _UNITS.get(found[2].lower())
        if found is None or unit is None or not math.isfinite(float(found[1])):
            raise _wrong(given, argument)
        size = int(float(found[1]) * unit)
    if size < 1:
        raise _wrong(given, argument)
    return size


def _wrong(given: object, argument: str) -> BlazarrError:
    return BlazarrError(
        f"{argument}: expected a number of bytes such as 500000000 or '512MiB', found {given!r}",
        argument=argument,
    )
