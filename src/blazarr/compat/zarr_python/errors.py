"""Errors that zarrs-python raises, for code that catches them. Nothing here raises them."""


class DiscontiguousArrayError(Exception):
    """A selection could not be described by slices."""


class CollapsedDimensionError(Exception):
    """A selection drops a dimension."""
