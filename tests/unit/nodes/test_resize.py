"""What lies behind the end of an array that became smaller, and comes back when it grows."""

import numpy as np
import pytest
import zarr

import blazarr
from blazarr.stores import MemoryStore


@pytest.mark.parametrize(("chunks", "shards"), [(1, 4), (2, 4), (4, 4), (2, 8), (8, 8), (4, None)])
def test_cells_behind_the_end(chunks, shards):
    """They are kept in shards and reset in chunks: as in zarr-python."""
    options = {"chunks": (chunks,), "shards": shards and (shards,), "dtype": "i2", "shape": (8,)}
    found = []
    for create, store in ((blazarr.create_array, MemoryStore()), (zarr.create_array, {})):
        array = create(store, fill_value=0, **options)
        array[:] = np.arange(1, 9)
        array.resize((3,))
        array[:] = [9, 9, 9]
        array.resize((8,))
        found.append(array[:].tolist())
    assert found[0] == found[1]


def test_cells_behind_the_end_of_nested_shards():
    inner = {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": [2],
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        },
    }
    outer = {
        **inner,
        "configuration": {**inner["configuration"], "chunk_shape": [4], "codecs": [inner]},
    }
    array = blazarr.create_array(
        {}, shape=(8,), chunks=(8,), dtype="i2", serializer=outer, compressors=None
    )
    array[:] = np.arange(1, 9)
    array.resize((3,))
    array[:] = 9
    array.resize((8,))
    assert array[:].tolist() == [9, 9, 9, 4, 5, 6, 7, 8]


def test_what_is_whole_is_written_without_a_look():
    """A damaged shard that is written whole is read again."""
    store = MemoryStore()
    array = blazarr.create_array(store, shape=(8,), chunks=(2,), shards=(4,), dtype="i2")
    array[:] = 1
    store.put("c/0", b"damaged")
    array[:] = 2
    assert array[:].tolist() == [2] * 8


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
@pytest.mark.parametrize("dtype", [">i2", ">f8", ">c8", ">U3", ">M8[s]"])
def test_the_creating_handle_keeps_the_byte_order_asked_for(dtype):
    values = np.arange(4).astype(dtype)
    found = []
    for create, reopen, store in (
        (blazarr.create_array, blazarr.open_array, {}),
        (zarr.create_array, zarr.open_array, {}),
    ):
        array = create(store, shape=(3,), chunks=(2,), dtype=dtype, zarr_format=3)
        array.resize((4,))
        array[:] = values
        array.attrs["a"] = 1
        again = reopen(store, mode="r")
        np.testing.assert_array_equal(again[:], values)
        found.append(
            (array.dtype, array[:].dtype, array[1:].tobytes(), again.dtype, again[:].dtype)
        )
    assert found[0] == found[1]
    assert found[0][0] == np.dtype(dtype)
