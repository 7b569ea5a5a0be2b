"""What notebooks show of arrays and groups, `array.show`, `plan.show` and completion."""

import numpy as np
import pytest

import blazarr


@pytest.fixture
def sharded():
    return blazarr.create_array(
        {},
        shape=(4, 8, 8),
        dtype="u2",
        chunks=(1, 2, 4),
        shards=(1, 4, 8),
        dimension_names=["t", "y", "x"],
    )


class NoStore(blazarr.storage.MemoryStore):
    """A store that nobody may use."""

    def get(self, key, range=None):
        raise AssertionError(key)

    def list(self, prefix="", start_after=""):
        raise AssertionError(prefix)


def test_an_array_shows_itself_without_its_store(sharded):
    place = type(sharded.store_path)(NoStore(), "x")
    html = blazarr.Array(sharded.metadata, place)._repr_html_()
    for part in ("(4, 8, 8)", "(1, 2, 4)", "(1, 4, 8)", "uint16", "zstd", "<svg", "512 B"):
        assert part in html
    assert html.index("Shard") < html.index("Chunk")


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (5, 0), (3, 4, 5, 6)])
def test_arrays_of_every_rank_show_themselves(shape, zarr_format):
    array = blazarr.create_array({}, shape=shape, dtype="f4", zarr_format=zarr_format)
    assert str(shape) in array._repr_html_()
    assert str(array.dtype) in repr(array.show.grid())


def test_arrays_that_cannot_be_read_show_themselves(sharded):
    document = sharded.metadata.to_json()["zarr.json"]
    document["codecs"] = [{"name": "bytes"}, {"name": "<b>nobody's</b>", "configuration": {"a": 1}}]
    array = blazarr.Array.from_dict(sharded.store_path, document)
    html = array._repr_html_()
    assert "&lt;b&gt;nobody&#x27;s&lt;/b&gt;(a=1)" in html


def test_uneven_chunks():
    array = blazarr.create_array({}, shape=(10, 6), dtype="i1", chunks=([7, 3], 2))
    assert "(uneven, 2)" in array._repr_html_()
    assert "6 chunks of (uneven, 2)" in repr(array.show.grid())


def test_the_map_of_chunks_lists_what_is_stored(sharded):
    assert repr(sharded.show.chunks()).startswith("0 of 8 shards stored, 0 B")
    sharded[1, :4] = 7
    sharded[3] = 7
    found = sharded.show.chunks()
    assert sorted(map(tuple, found.indices.tolist())) == [(1, 0, 0), (3, 0, 0), (3, 1, 0)]
    assert (found.counts, found.unit, found.missing) == ((4, 2, 1), "shards", 5)
    stored = [size for key, size in sharded.store_path.entries() if "/" in key]
    assert sorted(found.sizes.tolist()) == sorted(stored)
    assert found.nbytes == sum(stored)
    assert repr(found).splitlines()[1:] == [
        "[0]  [1]  [2]  [3]",
        "·    █    ·    █",
        "·    ·    ·    █",
    ]
    assert "<svg" in found._repr_mimebundle_()["text/html"]


def test_what_a_larger_array_left_is_not_on_the_map():
    store = {}
    array = blazarr.create_array(store, data=np.ones(10), chunks=(1,))
    store["c/77"] = store["c/0"]
    assert len(array.show.chunks().sizes) == 10


def test_the_map_of_one_element():
    array = blazarr.create_array({}, data=np.float64(7))
    assert array.show.chunks().indices.shape == (1, 0)
    assert "1 of 1 chunks" in repr(array.show.chunks())


def test_the_map_with_matplotlib(sharded):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is optional")
    matplotlib.use("agg")
    sharded[0, :4] = 1
    drawn = sharded.show.chunks().plot().images[0].get_array()
    assert drawn.shape == (2, 1)
    assert np.ma.count_masked(drawn) == 1
    matplotlib.pyplot.close("all")


def test_a_plan_shows_what_it_reads(sharded):
    sharded[...] = 1
    text = repr(sharded.plan(np.s_[1:3, :3, ::2]).show())
    assert text.splitlines()[0].startswith("8 chunks (8 strided) of 2 objects, 128 B decoded")
    assert "chunks (1-2, 0-1, 0-1)" in text
    assert text.splitlines()[-3:] == ["[1]  [2]", "██   ██", "██   ██"]


def test_a_plan_over_uneven_shards_shows_shards():
    array = blazarr.create_array({}, shape=(12,), dtype="u1", chunks=(2,), shards=([8, 4],))
    assert "chunks (0-1) of the grid" in repr(array.plan().show())


def test_a_plan_of_nothing_shows_nothing(sharded):
    assert repr(sharded.plan(np.s_[0:0]).show()).startswith("0 chunks (none) of 0 objects")


def test_groups_show_themselves(sharded):
    group = blazarr.create_group({}, attributes={"<i>": 1})
    group.create_array("a/b", shape=(3,), dtype="i4")
    assert "&lt;i&gt;" in group._repr_html_()
    assert "<details" not in group._repr_html_()
    consolidated = blazarr.consolidate_metadata(group.store_path)
    assert "<b>b</b> (3,) int32" in consolidated._repr_html_()
    assert "<table" in group.info._repr_html_()
    assert "<table" in group["a/b"].info._repr_html_()


def test_completion():
    group = blazarr.create_group({}, attributes={"unit": "m"})
    records = group.create_array("a", shape=(3,), dtype=[("x", "i4"), ("y", "f8")])
    group.create_group("b")
    assert sorted(group._ipython_key_completions_()) == ["a", "b"]
    assert group.attrs._ipython_key_completions_() == ["unit"]
    assert records._ipython_key_completions_() == ["x", "y"]
    assert "kind" in records.plan()._ipython_key_completions_()
