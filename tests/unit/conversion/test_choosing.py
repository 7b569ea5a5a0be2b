"""Choosing boxes: the budget holds, objects stay whole, and detours are taken where they pay."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from blazarr.conversion import choosing
from blazarr.conversion.boxes import Boxes
from blazarr.conversion.layouts import Side, side_of
from blazarr.errors import LimitError
from blazarr.nodes.request import ArrayRequest


def side(shape, chunks, shards=None, itemsize=2):
    units = Boxes.of_shape(chunks, shape)
    return Side(units if shards is None else Boxes.of_shape(shards, shape), units, itemsize)


AXES = st.lists(st.tuples(*[st.integers(1, 40)] * 3), min_size=1, max_size=3)


@given(AXES, st.integers(1, 1 << 16), st.integers(1, 4))
def test_the_budget_holds_and_objects_stay_whole(axes, budget, threads):
    shape, before, after = (tuple(axis[i] for axis in axes) for i in range(3))
    source, target = side(shape, before), side(shape, after)
    needed = math.prod(target.units.largest) * 2
    needed += source.reading(threads) + target.writing(target.units.largest, threads)
    if needed > budget:
        with pytest.raises(LimitError) as caught:
            choosing.direct(source, target, budget, threads)
        assert (caught.value.argument, caught.value.size) == ("max_memory", needed)
        return
    chosen = choosing.direct(source, target, budget, threads)
    assert chosen.memory <= budget
    assert chosen.memory >= math.prod(chosen.boxes.largest) * 2
    assert chosen.reads >= 1
    for edges, objects in zip(chosen.boxes.edges, target.objects.edges, strict=True):
        assert set(edges) <= set(objects)


@given(AXES, st.integers(1, 1 << 16))
def test_a_detour_holds_the_budget_and_its_pieces_divide_its_shards(axes, budget):
    shape, before, after = (tuple(axis[i] for axis in axes) for i in range(3))
    detour = choosing.by_detour(side(shape, before), side(shape, after), budget, 1)
    assume(detour is not None)
    assert max(detour.first.memory, detour.second.memory) <= budget
    assert all(shard % chunk == 0 for shard, chunk in zip(detour.shard, detour.chunk, strict=True))
    assert detour.first.boxes == Boxes.of_shape(detour.shard, shape)
    for edges, objects in zip(
        detour.second.boxes.edges, side(shape, after).objects.edges, strict=True
    ):
        assert set(edges) <= set(objects)


def test_boxes_grow_to_read_each_chunk_once():
    chosen = choosing.direct(side((60, 60), (30, 5)), side((60, 60), (10, 10)), 1 << 20, 1)
    assert chosen.reads == 1.0


def test_from_planes_to_columns_by_a_detour():
    source, target = side((256, 256, 256), (1, 256, 256)), side((256, 256, 256), (256, 16, 16))
    straight = choosing.direct(source, target, 2 << 20, 1)
    detour = choosing.by_detour(source, target, 2 << 20, 1)
    assert straight.reads > 10
    assert detour.first.reads == detour.second.reads == 1.0


def test_a_budget_for_all_of_it_needs_no_detour():
    source, target = side((64, 64, 64), (1, 64, 64)), side((64, 64, 64), (64, 4, 4))
    assert choosing.direct(source, target, 1 << 24, 1).reads == 1.0


def test_a_shard_counts_with_what_it_is_made_of():
    plain, sharded = side((64, 64), (8, 8)), side((64, 64), (8, 8), (64, 64))
    assert sharded.writing((64, 64), 1) > 2 * 64 * 64 * 2 > plain.writing((64, 64), 1)


@pytest.mark.parametrize("shards", [None, (32, 64)])
def test_sides_are_read_from_metadata(shards):
    metadata = ArrayRequest(
        zarr_format=3, shape=(100, 64), dtype="f4", chunks=(16, 32), shards=shards
    ).metadata()
    found = side_of(metadata)
    assert found.units.largest == (16, 32)
    assert found.objects.largest == (shards or (16, 32))
    assert found.nbytes == 100 * 64 * 4
