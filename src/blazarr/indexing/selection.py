"""The normal form of a selection: what every parser makes and the planner takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

IndexArray: TypeAlias = npt.NDArray[np.int64]


# Terms are named tuples because the planner takes them as they are, as plain tuples. Two fields
# hide tuple methods that nobody calls.
class Const(NamedTuple):
    """One index of one array axis; it leaves no axis in the result."""

    axis: int
    index: int  # type: ignore[assignment]


class Strided(NamedTuple):
    """``count`` indices of one array axis from ``start`` on, ``step`` (of any sign) apart."""

    axis: int
    start: int
    step: int
    count: int  # type: ignore[assignment]

    def points(self) -> tuple[tuple[int, IndexArray], ...]:
        """The indices in full, as pairs of an array axis and its indices."""
        return ((self.axis, self.start + self.step * np.arange(self.count, dtype=np.int64)),)

    def at(self, position: int) -> tuple[Const, ...]:
        """What the term selects at one position of its result axis."""
        return (Const(self.axis, self.start + self.step * position),)

    def every(self, start: int, step: int, count: int) -> Term:
        """The part of the term that a strided selection of its result axis leaves."""
        return Strided(self.axis, self.start + self.step * start, self.step * step, count)


class Indexed(NamedTuple):
    """Index arrays of one length: over one axis orthogonal, over several joint points."""

    axes: tuple[int, ...]
    indices: tuple[IndexArray, ...]

    @property
    def count(self) -> int:  # type: ignore[override]
        """Length of the result axis."""
        return len(self.indices[0])

    def points(self) -> tuple[tuple[int, IndexArray], ...]:
        """The indices in full, as pairs of an array axis and its indices."""
        return tuple(zip(self.axes, self.indices, strict=True))

    def at(self, position: int) -> tuple[Const, ...]:
        """What the term selects at one position of its result axis."""
        return tuple(Const(axis, int(values[position])) for axis, values in self.points())

    def every(self, start: int, step: int, count: int) -> Term:
        """The part of the term that a strided selection of its result axis leaves."""
        positions = start + step * np.arange(count, dtype=np.int64)
        return indexed(self.axes, tuple(values[positions] for values in self.indices))


Term: TypeAlias = Strided | Indexed


def indexed(axes: tuple[int, ...], indices: tuple[IndexArray, ...]) -> Term:
    """A term over index arrays; evenly spaced indices of one axis become `Strided`.

    The planner handles strides in blocks and indices one by one, so the check pays for itself.
    """
    if len(axes) == 1:
        (values,) = indices
        even = _as_strided(axes[0], values)
        if even is not None:
            return even
    return Indexed(axes, tuple(_frozen(values) for values in indices))


def _as_strided(axis: int, values: IndexArray) -> Strided | None:
    count = len(values)
    if count == 0:
        return Strided(axis, 0, 1, 0)
    first, last = int(values[0]), int(values[-1])
    if count == 1:
        return Strided(axis, first, 1, 1)
    step = int(values[1]) - first
    # Three reads refuse almost every array that is not even, before all of it is compared.
    if step == 0 or first + step * (count - 1) != last or not (np.diff(values) == step).all():
        return None
    return Strided(axis, first, step, count)


def _frozen(values: IndexArray) -> IndexArray:
    values = np.ascontiguousarray(values)
    values.flags.writeable = False
    return values


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """A part of an array.

    Attributes
    ----------
    shape : tuple of int
        Shape of the array it selects from.
    consts : tuple of Const
        The array axes that are fixed.
    axes : tuple of Strided or Indexed
        One term for each axis of the flat result, in its order.
    result_shape : tuple of int
        Shape that the user sees. It is the flat shape, except that the points of a coordinate
        selection (then the only axis) are unfolded to the shape of the coordinates.
    scalar : bool
        Whether the user gets a scalar instead of an array without axes.
    """

    shape: tuple[int, ...]
    consts: tuple[Const, ...]
    axes: tuple[Term, ...]
    result_shape: tuple[int, ...]
    scalar: bool = False

    @property
    def flat_shape(self) -> tuple[int, ...]:
        """Shape with one axis for each term; a plain reshape makes it `result_shape`."""
        return tuple(term.count for term in self.axes)

    def core(self) -> tuple[tuple[Const, ...], tuple[Term, ...]]:
        """What the planner takes."""
        return self.consts, self.axes

    def numpy_index(self) -> tuple[IndexArray | int, ...]:
        """The numpy advanced index that gives the flat result."""
        index: list[IndexArray | int] = [0] * len(self.shape)
        for const in self.consts:
            index[const.axis] = const.index
        for position, term in enumerate(self.axes):
            along = [1] * len(self.axes)
            along[position] = -1
            for axis, values in term.points():
                index[axis] = values.reshape(along)
        return tuple(index)

    def compose(self, view_selection: Selection) -> Selection:
        """The selection that takes from the array what another takes from this one's result.

        Parameters
        ----------
        view_selection : Selection
            A selection from an array of this selection's `result_shape`.

        Returns
        -------
        Selection
        """
        if self.result_shape != self.flat_shape:
            return self._compose_unfolded(view_selection)
        consts = [
            c for const in view_selection.consts for c in self.axes[const.axis].at(const.index)
        ]
        return Selection(
            self.shape,
            self.consts + tuple(consts),
            tuple(self._through(term) for term in view_selection.axes),
            view_selection.result_shape,
            view_selection.scalar,
        )

    def transpose(self, order: tuple[int, ...]) -> Selection:
        """The selection whose result has its axes in another order.

        Parameters
        ----------
        order : tuple of int
            For each axis of the new result, one of this one's.
        """
        shape = tuple(self.result_shape[axis] for axis in order)
        if self.result_shape == self.flat_shape:
            axes = tuple(self.axes[axis] for axis in order)
        else:
            points = np.arange(self.axes[0].count, dtype=np.int64).reshape(self.result_shape)
            axes = (self._through(Indexed((0,), (points.transpose(order).reshape(-1),))),)
        return Selection(self.shape, self.consts, axes, shape, self.scalar)

    def _through(self, term: Term) -> Term:
        """A term over this selection's result as one over the array."""
        if isinstance(term, Strided):
            return self.axes[term.axis].every(term.start, term.step, term.count)
        picked = [pair for axis, at in term.points() for pair in _pick(self.axes[axis], at)]
        return indexed(tuple(axis for axis, _ in picked), tuple(values for _, values in picked))

    def _compose_unfolded(self, view_selection: Selection) -> Selection:
        """`compose` where the points of the only axis are seen in several dimensions."""
        (points,) = self.axes
        grid = np.arange(points.count, dtype=np.int64).reshape(self.result_shape)
        positions = np.asarray(grid[view_selection.numpy_index()])
        consts, axes = self.consts, self.axes
        if view_selection.axes:
            axes = (self._through(Indexed((0,), (positions.reshape(-1),))),)
        else:
            consts, axes = consts + points.at(int(positions)), ()
        return Selection(
            self.shape, consts, axes, view_selection.result_shape, view_selection.scalar
        )


def _pick(term: Term, positions: IndexArray) -> tuple[tuple[int, IndexArray], ...]:
    if isinstance(term, Strided):
        return ((term.axis, term.start + term.step * positions),)
    return tuple((axis, values[positions]) for axis, values in term.points())
