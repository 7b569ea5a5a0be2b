"""What users hold: arrays and groups."""

from blazarr.nodes.array import Array
from blazarr.nodes.asynchronous import AsyncArray, AsyncGroup
from blazarr.nodes.attributes import Attributes
from blazarr.nodes.group import Group
from blazarr.nodes.location import StorePath

__all__ = ["Array", "AsyncArray", "AsyncGroup", "Attributes", "Group", "StorePath"]
