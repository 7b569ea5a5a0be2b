"""Groups as what xarray calls data stores: variables and attributes, not yet decoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xarray as xr
from xarray.backends import AbstractDataStore

from blazarr.compat.xarray.variables import variable
from blazarr.nodes import Array, Group


class GroupDataStore(AbstractDataStore):
    """The arrays directly in a group.

    Parameters
    ----------
    group
        The group.
    arrays
        Its arrays by name.
    fill_value_is_mask
        Whether fill values stand for missing values; None means in format 2.
    closes
        Whether closing a dataset closes the store.
    """

    __slots__ = ("_arrays", "_closes", "_fill_value_is_mask", "_group")

    def __init__(
        self,
        group: Group,
        arrays: Mapping[str, Array],
        *,
        fill_value_is_mask: bool | None,
        closes: bool,
    ) -> None:
        self._group = group
        self._arrays = arrays
        self._closes = closes
        self._fill_value_is_mask = (
            group.metadata.zarr_format == 2 if fill_value_is_mask is None else fill_value_is_mask
        )

    @classmethod
    def of(cls, group: Group, *, drop: frozenset[str], **options: Any) -> GroupDataStore:
        """Make the data store of a group, without the arrays named in `drop`."""
        arrays = {name: array for name, array in group.arrays() if name not in drop}
        return cls(group, arrays, **options)

    def get_variables(self) -> dict[str, xr.Variable]:
        """Return the variables, none of them read."""
        return {
            name: variable(array, fill_value_is_mask=self._fill_value_is_mask)
            for name, array in self._arrays.items()
        }

    def get_attrs(self) -> dict[str, Any]:
        """Return the group's attributes, without those of NetCDF's library."""
        return {
            name: value
            for name, value in self._group.attrs.items()
            if not name.lower().startswith("_nc")
        }

    def close(self) -> None:
        """Let go of the store, unless somebody else opened it."""
        if self._closes:
            self._group.store.close()


def hierarchy(root: Group, *, drop: frozenset[str], **options: Any) -> dict[str, GroupDataStore]:
    """Return the data stores of a group and of all groups below, by path, parents first.

    The store is walked once, however many groups there are.

    Parameters
    ----------
    root
        The group.
    drop
        Names of arrays to leave out, in every group.
    **options
        As for `GroupDataStore`.
    """
    groups = {"/": root}
    arrays: dict[str, dict[str, Array]] = {"/": {}}
    for path, node in root.members(None):
        parent, _, name = f"/{path}".rpartition("/")
        if isinstance(node, Group):
            groups[f"/{path}"] = node
            arrays[f"/{path}"] = {}
        elif name not in drop:
            arrays[parent or "/"][name] = node
    return {path: GroupDataStore(group, arrays[path], **options) for path, group in groups.items()}
