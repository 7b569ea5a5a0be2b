"""``transpose``: axes in another order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from blazarr.codecs.base import JSON, ArrayArrayCodec
from blazarr.codecs.checks import check_integers, wrong

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from blazarr.codecs.stage import Stage


@dataclass(frozen=True, kw_only=True)
class TransposeCodec(ArrayArrayCodec):
    """Axes in another order.

    Parameters
    ----------
    order : iterable of int
        Axis ``k`` of the encoded chunk is axis ``order[k]`` of the array.
    """

    name: ClassVar[str] = "transpose"

    order: Iterable[int]

    def __post_init__(self) -> None:
        order = check_integers(self.name, "order", self.order, 0)
        if sorted(order) != list(range(len(order))):
            raise wrong(self.name, "order", list(order), "each axis once")
        object.__setattr__(self, "order", order)

    @property
    def axes(self) -> tuple[int, ...]:
        """The order, checked."""
        return tuple(self.order)

    def configuration(self) -> dict[str, JSON]:
        """Return the order."""
        return {"order": self.axes}

    def permute(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what belongs to the array's axes in the order of the encoded ones."""
        if len(items) != len(self.axes):
            raise wrong(self.name, "order", list(self.axes), f"the order of {len(items)} axes")
        return tuple(items[axis] for axis in self.axes)

    def after(self, stage: Stage) -> Stage:
        """Return the data with its axes moved."""
        return replace(stage, shape=None if stage.shape is None else self.permute(stage.shape))

    def encode(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Move the axes."""
        return array.transpose(self.axes)

    def decode(self, array: npt.NDArray[Any], stage: Stage) -> npt.NDArray[Any]:
        """Move the axes back."""
        del stage
        return array.transpose(np.argsort(self.axes))
