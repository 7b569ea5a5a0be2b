"""What xarray calls when ``engine="blazarr"`` is asked for."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable
from typing import Any, ClassVar

import xarray as xr
from xarray.backends import BackendEntrypoint, StoreBackendEntrypoint

from blazarr.api import open_group
from blazarr.compat.xarray.groups import GroupDataStore, hierarchy
from blazarr.nodes import Group


class BlazarrBackendEntrypoint(BackendEntrypoint):
    """Zarr stores of format 2 and 3 as datasets and trees of datasets, for reading.

    Values are read when they are asked for. Decoding of times, missing values, scales and strings
    is xarray's, as for its own engine.
    """

    description: ClassVar[str] = "Open Zarr stores, formats 2 and 3, with blazarr"
    url: ClassVar[str] = "https://github.com/blazarr/blazarr"
    supports_groups: ClassVar[bool] = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether this engine offers itself where none is named.

        It does for names that end in ``.zarr`` on machines that have no zarr-python; elsewhere
        these stay with xarray's own engine.
        """
        if not isinstance(filename_or_obj, str | os.PathLike):
            return False
        name = os.fspath(filename_or_obj).rstrip("/")
        return name.endswith(".zarr") and importlib.util.find_spec("zarr") is None

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        consolidated: bool | None = None,
        storage_options: dict[str, Any] | None = None,
        zarr_format: Any = None,
        use_zarr_fill_value_as_mask: bool | None = None,
    ) -> xr.Dataset:
        """Open the arrays of one group as a dataset.

        Parameters
        ----------
        filename_or_obj
            A folder, zip archive, URL, mapping or store: whatever `blazarr.open_group` takes.
        mask_and_scale, decode_times, concat_characters, decode_coords, use_cftime, decode_timedelta
            What xarray decodes; see `xarray.open_dataset`.
        drop_variables
            Arrays to leave out. What is wrong with them does no harm.
        group
            Path of the group.
        consolidated
            Whether to take metadata from consolidated metadata: None where it is there, True
            insists, False reads each array's own.
        storage_options, zarr_format
            As for `blazarr.open_group`.
        use_zarr_fill_value_as_mask
            Whether the arrays' fill value stands for missing values; by default in format 2 only.
        """
        source = _open(filename_or_obj, group, consolidated, storage_options, zarr_format)
        store = GroupDataStore.of(
            source,
            drop=_names(drop_variables),
            fill_value_is_mask=use_zarr_fill_value_as_mask,
            closes=not _is_open_store(filename_or_obj),
        )
        return StoreBackendEntrypoint().open_dataset(
            store,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        group: str | None = None,
        consolidated: bool | None = None,
        storage_options: dict[str, Any] | None = None,
        zarr_format: Any = None,
        use_zarr_fill_value_as_mask: bool | None = None,
        **decoders: Any,
    ) -> dict[str, xr.Dataset]:
        """Open a group and the groups below it; keys are paths that begin with a slash.

        Parameters are those of `open_dataset`.
        """
        root = _open(filename_or_obj, group, consolidated, storage_options, zarr_format)
        stores = hierarchy(
            root,
            drop=_names(drop_variables),
            fill_value_is_mask=use_zarr_fill_value_as_mask,
            closes=not _is_open_store(filename_or_obj),
        )
        entrypoint = StoreBackendEntrypoint()
        return {path: entrypoint.open_dataset(store, **decoders) for path, store in stores.items()}

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> xr.DataTree:
        """Open a group and the groups below it as a tree.

        Parameters are those of `open_dataset`.
        """
        datasets = self.open_groups_as_dict(filename_or_obj, **options)
        tree = xr.DataTree.from_dict(datasets)
        tree.set_close(datasets["/"].close)
        return tree


def _open(
    place: Any,
    group: str | None,
    consolidated: bool | None,
    storage_options: dict[str, Any] | None,
    zarr_format: Any,
) -> Group:
    # The root's consolidated metadata serves the groups below it.
    root = open_group(
        place,
        mode="r",
        storage_options=storage_options,
        zarr_format=zarr_format,
        use_consolidated=consolidated,
    )
    path = (group or "").strip("/")
    return root.get_group(path) if path else root


def _is_open_store(place: Any) -> bool:
    return not isinstance(place, str | os.PathLike)


def _names(drop_variables: str | Iterable[str] | None) -> frozenset[str]:
    if isinstance(drop_variables, str):
        return frozenset([drop_variables])
    return frozenset(drop_variables or ())
