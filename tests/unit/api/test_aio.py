"""The facade for async code: the same results, awaited."""

import asyncio
import inspect
import pickle

import numpy as np
import pytest

import blazarr
from blazarr import aio
from blazarr.errors import NotFoundError


def test_functions_are_awaited(tmp_path):
    async def script():
        array = await aio.create_array(tmp_path, name="g/x", shape=(4,), chunks=(2,), dtype="i4")
        assert isinstance(array, blazarr.AsyncArray)
        await array.setitem(slice(1, 3), 5)
        assert (await array.getitem(...)).tolist() == [0, 5, 5, 0]
        assert (await array.oindex.getitem([1, 3])).tolist() == [5, 0]
        await array.vindex.setitem([3], 6)
        assert (await array.vindex.getitem([3, 0])).tolist() == [6, 0]
        await array.setitem(3, 0)
        assert array.shape == (4,)
        assert await array.nchunks_initialized() == 2
        assert await array.nbytes_stored() > 0
        assert await array.append(np.array([7])) == (5,)
        assert (await aio.open_array(tmp_path, path="g/x")) == array
        with pytest.raises(NotFoundError):
            await aio.open_array(tmp_path, path="nope", mode="r")

    asyncio.run(script())


def test_members_are_iterated(tmp_path):
    async def script():
        group = await aio.open_group(tmp_path, mode="a")
        assert isinstance(group, blazarr.AsyncGroup)
        await group.create_array("x", shape=(2,), dtype="i4")
        await group.create_group("g")
        found = {name: node async for name, node in group.members()}
        assert isinstance(found["x"], blazarr.AsyncArray)
        assert isinstance(found["g"], blazarr.AsyncGroup)
        assert [name async for name in group.array_keys()] == ["x"]
        assert isinstance(await group.getitem("x"), blazarr.AsyncArray)
        assert await group.contains("x")
        await group.delitem("x")
        assert not await group.contains("x")
        made = aio.create_hierarchy(store=tmp_path, nodes={"h": group.metadata})
        assert [path async for path, _ in made] == ["h"]

    asyncio.run(script())


def test_the_loop_is_free_meanwhile():
    async def script():
        array = blazarr.ones((100, 100), chunks=(10, 10)).aio
        results = await asyncio.gather(*(array.getitem((slice(None), n)) for n in range(20)))
        assert all((result == 1).all() for result in results)

    asyncio.run(script())


def test_a_facade_is_of_its_node():
    array = blazarr.zeros((2,))
    facade = array.async_array
    assert facade.node is array
    assert repr(facade).startswith("<AsyncArray memory://")
    assert pickle.loads(pickle.dumps(facade)).shape == (2,)
    with pytest.raises(AttributeError):
        facade.no_such_thing  # noqa: B018
    with pytest.raises(AttributeError):
        aio.no_such_thing  # noqa: B018


def test_the_facade_has_the_methods_of_the_node():
    assert inspect.signature(blazarr.AsyncGroup.create_array).parameters.keys() >= {
        "shape",
        "dtype",
    }
    assert blazarr.AsyncArray.shape.__doc__ == blazarr.Array.shape.__doc__
    array = blazarr.zeros(shape=(4,), chunks=(2,), dtype="i4")
    assert isinstance(array.aio.with_config({"order": "F"}), blazarr.AsyncArray)
    opened = asyncio.run(blazarr.AsyncArray.open(array.store_path))
    assert isinstance(opened, blazarr.AsyncArray)
    assert opened.shape == (4,)
