"""What is done already, kept beside the target so that a killed conversion goes on where it was.

The journal is a document in the target's folder, replaced as a whole about once a second. What was done
after it was written last is done again, which changes nothing: boxes are whole stored objects. The
target's own metadata is written last, so that nothing half can be opened; the journal goes after that.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Final

from blazarr.errors import ExistsError
from blazarr.nodes import StorePath

# Not a name that a node may have in format 3.
FOLDER: Final = "__blazarr__"
NAME: Final = "journal.json"
EVERY: Final = 1.0


@dataclass
class Journal:
    """The boxes that are done.

    Attributes
    ----------
    place
        The target.
    identity
        Of the plan.
    enabled
        Whether it is stored.
    """

    place: StorePath
    identity: str
    enabled: bool = True
    _done: dict[str, tuple[str, bytearray]] = field(default_factory=dict)
    _written: float = 0.0

    @property
    def folder(self) -> StorePath:
        """Where the journal and intermediate arrays are."""
        return self.place / FOLDER

    def load(self) -> bool:
        """Read what an earlier run left; return whether there was one.

        Raises
        ------
        ExistsError
            It was another conversion.
        """
        found = self.folder.read([NAME]).get(NAME)
        if found is None:
            return False
        identity, done = _parsed(found[0])
        if identity not in {None, self.identity}:
            raise ExistsError(
                f"{self.place} holds another conversion that did not finish; run that again as it "
                "was, or start anew with overwrite=True",
                key=self.place.path,
            )
        self._done = done
        return True

    def done(self, name: str, layout: str, count: int) -> bytearray:
        """Return a bit for each box of a pass: whether it is done.

        Parameters
        ----------
        name
            Of the pass.
        layout
            What its boxes are; with others than before it begins anew.
        count
            Number of boxes.
        """
        size = (count + 7) // 8
        known, bits = self._done.get(name, ("", bytearray()))
        if known != layout or len(bits) != size:
            bits = bytearray(size)
            self._done[name] = (layout, bits)
        return bits

    def mark(self, bits: bytearray, number: int) -> None:
        """Say that a box is done."""
        bits[number // 8] |= 1 << number % 8
        if time.monotonic() - self._written >= EVERY:
            self.save()

    def save(self) -> None:
        """Store the journal."""
        if not self.enabled:
            return
        done = {name: (layout, bits.hex()) for name, (layout, bits) in self._done.items()}
        document = {"version": 1, "identity": self.identity, "done": done}
        self.folder.put(NAME, json.dumps(document).encode())
        self._written = time.monotonic()

    def remove(self) -> None:
        """Delete the journal and the intermediate arrays."""
        if self.enabled:
            self.folder.delete_all()


def is_done(bits: bytearray, number: int) -> bool:
    """Return whether a box is done."""
    return bool(bits[number // 8] >> number % 8 & 1)


def _parsed(document: bytes) -> tuple[str | None, dict[str, tuple[str, bytearray]]]:
    """Return whose journal it is and what it says is done.

    A store that replaces documents in place may have been killed in the middle: of what makes no
    sense nothing is believed.
    """
    try:
        found = json.loads(document)
        done = {
            str(name): (str(layout), bytearray.fromhex(bits))
            for name, (layout, bits) in found["done"].items()
        }
        return str(found["identity"]), done
    except (ValueError, TypeError, KeyError, AttributeError):
        return None, {}
