"""Copying arrays and hierarchies to other chunks, codecs, formats and stores."""

from blazarr.conversion.executors import Executor, Here
from blazarr.conversion.functions import convert, rechunk
from blazarr.conversion.plan import Plan

__all__ = ["Executor", "Here", "Plan", "convert", "rechunk"]
