"""What could not be opened again is never stored, and what was there stays."""

from functools import reduce

import numpy as np
import pytest

import blazarr
from blazarr.errors import BlazarrError

DEEP = reduce(lambda inner, _: {"a": inner}, range(100), {})
UNREADABLE = {"deep": {"x": DEEP}, "large": {"x": "a" * 2000}, "two keys": {1: 2, "1": 3}}

pytestmark = pytest.mark.parametrize("zarr_format", [2, 3])


@pytest.fixture(autouse=True)
def small_documents():
    """Refuse documents of more than 1,500 bytes."""
    with blazarr.config.set({"limits.document_bytes": 1500}):
        yield


@pytest.mark.parametrize("attributes", UNREADABLE.values(), ids=UNREADABLE)
def test_attributes(zarr_format, attributes):
    for make in (
        lambda **more: blazarr.create_array({}, shape=2, dtype="i4", **more),
        lambda **more: blazarr.create_group({}, **more),
    ):
        node = make(zarr_format=zarr_format, attributes={"kept": 1})
        with pytest.raises(BlazarrError):
            node.attrs.update(attributes)
        assert blazarr.open(node.store).attrs == {"kept": 1}
        with pytest.raises(BlazarrError):
            make(zarr_format=zarr_format, attributes=attributes)


def test_shapes(zarr_format):
    array = blazarr.create_array({}, data=np.ones((4, 4)), zarr_format=zarr_format)
    for shape in [(2**40, 2**40), (2**63, 1), (2**70, 1)]:
        with pytest.raises(BlazarrError, match="items"):
            array.resize(shape)
        with pytest.raises(BlazarrError, match="items"):
            blazarr.create_array(
                {}, shape=shape, chunks=(2, 2), dtype="i4", zarr_format=zarr_format
            )
    assert blazarr.open_array(array.store).shape == array.shape == (4, 4)


def test_items(zarr_format):
    with pytest.raises(BlazarrError, match=r"limits\.item_bytes"):
        blazarr.create_array({}, shape=1, dtype="S100000000", zarr_format=zarr_format)


def test_consolidated_metadata(zarr_format):
    group = blazarr.create_group({}, zarr_format=zarr_format)
    for name in "abcde":
        group.create_array(name, shape=1, dtype="i4")
    with pytest.raises(BlazarrError, match=r"limits\.document_bytes"):
        blazarr.consolidate_metadata(group.store)
    assert sorted(blazarr.open_group(group.store)) == list("abcde")
