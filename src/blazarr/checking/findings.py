"""What a check finds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from blazarr.drawing import shown_size

# Findings that lose nothing: what could be removed, and what nobody reads.
UNTIDY: Final = frozenset(["leftover", "unfinished", "orphan"])


@dataclass(frozen=True, order=True)
class Finding:
    """Something that is wrong or superfluous.

    Attributes
    ----------
    key
        The key in the store.
    kind
        ``"leftover"``: of a killed writer or conversion, of no use to anybody. ``"unfinished"``: of a
        conversion that can go on. ``"orphan"``: belongs to no node, or lies outside of its array.
        ``"missing"``: a chunk that is not there, where all were wanted. ``"stale"``: consolidated
        metadata that differs from the members' own. Else the kind of the error that reading
        raised, such as ``"checksum"``, ``"corrupt"`` or ``"metadata"``.
    message
        What it is about.
    """

    key: str
    kind: str
    message: str

    @property
    def is_damage(self) -> bool:
        """Whether something can't be read as it was written."""
        return self.kind not in UNTIDY


@dataclass(frozen=True)
class ArrayReport:
    """What was found out about an array.

    Attributes
    ----------
    path
        Its path.
    objects, stored
        Number of objects that its grid has, and that are stored (None where the store can't tell).
    nbytes_stored
        Their size.
    checksums
        Whether its codecs include a checksum, so that damage is noticed for certain.
    """

    path: str
    objects: int
    stored: int | None
    nbytes_stored: int | None
    checksums: bool


@dataclass(frozen=True, repr=False)
class Report:
    """The result of a check.

    Attributes
    ----------
    store
        What was checked.
    groups
        Number of groups.
    arrays
        What was found out about each array.
    findings
        What is wrong or superfluous, by key.
    removed
        Keys of leftovers that were removed.
    """

    store: str
    groups: int
    arrays: tuple[ArrayReport, ...]
    findings: tuple[Finding, ...]
    removed: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is no damage; leftovers and orphans are none."""
        return not any(finding.is_damage for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return the report as numbers, text, lists and dictionaries."""
        return {"ok": self.ok, **asdict(self)}

    def __repr__(self) -> str:
        damaged = sum(finding.is_damage for finding in self.findings)
        others = len(self.findings) - damaged
        counts = f"{self.groups} groups, {len(self.arrays)} arrays"
        lines = [f"{self.store}: {counts}; {damaged} damaged, {others} superfluous"]
        lines += [f"  {_line(array)}" for array in self.arrays]
        lines += [f"  {found.kind}: {found.key}: {found.message}" for found in self.findings]
        lines += [f"  removed: {key}" for key in self.removed]
        return "\n".join(lines)


def _line(array: ArrayReport) -> str:
    name = array.path or "/"
    if array.stored is None or array.nbytes_stored is None:
        return f"{name}: {array.objects} objects"
    sums = "" if array.checksums else ", no checksums"
    size = shown_size(array.nbytes_stored)
    return f"{name}: {array.stored} of {array.objects} objects are stored, {size}{sums}"
