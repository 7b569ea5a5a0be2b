"""The plan as people see it."""

import blazarr


def test_columns_have_a_number_for_each_axis():
    array = blazarr.create_array(
        {}, shape=(8, 8), chunks=(2, 4), shards=(4, 8), dtype="i4", compressors=None
    )
    array[...] = 1
    plan = array.plan((slice(1, 3), 5))
    assert plan["key"] == ["c/0/0", "c/0/0"]
    assert plan["chunk"].tolist() == [[0, 0], [0, 0]]
    assert plan["inner"].tolist() == [[0, 1], [1, 1]]
    assert plan["place_count"].shape == (2, 1)
    assert plan["decoded_bytes"].tolist() == [32, 32]
    assert not plan["whole"].any()
    assert set(plan["kind"]) <= {"direct", "strided", "gather"}
    assert len(plan) == len(list(plan))


def test_long_plans_are_cut_in_print_only():
    array = blazarr.zeros((100,), chunks=(1,))
    plan = array.plan()
    assert plan.rows == 100
    assert "... and 80 more" in repr(plan)


def test_an_empty_plan_prints_its_columns():
    text = repr(blazarr.zeros((0,), chunks=(1,)).plan())
    assert "decoded_bytes" in text


def test_a_selection_of_billions_of_chunks_is_planned_at_once():
    array = blazarr.create_array({}, shape=(1 << 40,), chunks=(1,), dtype="u1", fill_value=0)
    plan = array.plan(slice(None, None, -3))
    assert plan.cut
    assert plan["chunk"][:3, 0].tolist() == [(1 << 40) - 1, (1 << 40) - 4, (1 << 40) - 7]
