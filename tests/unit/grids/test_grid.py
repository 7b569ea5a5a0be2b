"""Chunk grids: arithmetic, documents, arguments, guesses."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazarr.config import config
from blazarr.errors import LimitError, MetadataError, SelectionError, UnsupportedError
from blazarr.grids import (
    Axis,
    ChunkGrid,
    RectilinearChunkGrid,
    RegularChunkGrid,
    chunks_from_argument,
    guess_chunks,
    guess_shards,
    parse_grid,
    shards_from_argument,
)


@st.composite
def grids(draw) -> tuple[ChunkGrid, tuple[int, ...]]:
    """Draw a grid with a shape that it covers."""
    axes, shape = [], []
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            axes.append(Axis(draw(st.integers(1, 9))))
            shape.append(draw(st.integers(0, 30)))
        else:
            lengths = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=9)))
            axes.append(Axis(lengths=lengths))
            shape.append(draw(st.integers(0, sum(lengths))))
    return ChunkGrid(tuple(axes)), tuple(shape)


@given(grids())
def test_chunks_tile_the_array(drawn) -> None:
    grid, shape = drawn
    counts = grid.chunk_count(shape)
    covered = np.zeros(shape, dtype=int)
    for place in itertools.product(*map(range, counts)):
        part = grid.chunk_slices(place, shape)
        covered[part] += 1
        assert covered[part].size > 0
        sizes = tuple(s[i] for s, i in zip(grid.chunk_sizes(shape), place, strict=True))
        assert covered[part].shape == sizes
        assert all(n <= full for n, full in zip(sizes, grid.encoded_shape(place), strict=True))
    assert (covered == 1).all()
    assert grid.total_chunks(shape) == np.prod(counts)


@given(grids())
def test_document_round_trip(drawn) -> None:
    grid, shape = drawn
    assert parse_grid(grid.to_json(), shape) == grid


def test_kinds_are_told_by_isinstance() -> None:
    regular, uneven = ChunkGrid.regular((2, 3)), ChunkGrid((Axis(2), Axis(lengths=(1, 2))))
    for grid, kind, other in (
        (regular, RegularChunkGrid, RectilinearChunkGrid),
        (uneven, RectilinearChunkGrid, RegularChunkGrid),
    ):
        assert isinstance(grid, kind)
        assert not isinstance(grid, other)
    assert not isinstance((2, 3), RegularChunkGrid)


def test_chunks_outside_are_refused() -> None:
    grid = ChunkGrid((Axis(4), Axis(lengths=(2, 3))))
    for place in [(3, 0), (0, 2), (-1, 0), (0,)]:
        with pytest.raises(SelectionError):
            grid.chunk_slices(place, (10, 5))


def test_run_lengths_are_written_where_they_are_shorter() -> None:
    grid = ChunkGrid((Axis(lengths=(10, 10, 10, 5)), Axis(lengths=(1, 2)), Axis(7)))
    assert grid.to_json() == {
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[[10, 3], 5], [1, 2], 7]},
    }


def test_regular_and_rectilinear() -> None:
    assert ChunkGrid.regular((2, 3)).chunk_shape == (2, 3)
    rectilinear = ChunkGrid((Axis(lengths=(2, 2)),))
    assert not rectilinear.is_regular
    with pytest.raises(UnsupportedError, match="read_chunk_sizes"):
        _ = rectilinear.chunk_shape


def test_growth_adds_one_chunk() -> None:
    grid = ChunkGrid((Axis(4), Axis(lengths=(2, 3))))
    assert grid.grown((9, 4)) == grid
    assert grid.grown((9, 8)).axes[1] == Axis(lengths=(2, 3, 3))


RECTILINEAR = "chunk_grid.configuration.chunk_shapes"


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (None, "chunk_grid"),
        (["regular"], "chunk_grid"),
        ("regular", "chunk_grid.configuration"),
        ({"name": "regular", "configuration": {}}, "chunk_grid.configuration.chunk_shape"),
        (
            {"name": "regular", "configuration": {"chunk_shape": [4]}},
            "chunk_grid.configuration.chunk_shape",
        ),
        *(
            (
                {"name": "regular", "configuration": {"chunk_shape": [4, wrong]}},
                "chunk_grid.configuration.chunk_shape[1]",
            )
            for wrong in (0, -1, 2.0, True, None, "4", [4], float("nan"), float("inf"))
        ),
        (
            {"name": "rectilinear", "configuration": {"chunk_shapes": [4, 4]}},
            "chunk_grid.configuration.kind",
        ),
        *(
            (
                {
                    "name": "rectilinear",
                    "configuration": {"kind": "inline", "chunk_shapes": [4, wrong]},
                },
                f"{RECTILINEAR}[1]{place}",
            )
            for wrong, place in (
                (0, ""),
                ([], ""),
                ([1], ""),
                ([0, 6], "[0]"),
                ([6, 1.5], "[1]"),
                ([[6]], "[0]"),
                ([[6, 0]], "[0][1]"),
                ([[-6, 2]], "[0][0]"),
            )
        ),
    ],
)
def test_wrong_documents_are_refused_with_their_place(document, path) -> None:
    with pytest.raises(MetadataError) as caught:
        parse_grid(document, (6, 6))
    assert caught.value.path == path
    assert str(caught.value).startswith(path)


@pytest.mark.parametrize("name", ["zarrs.regular_bounded", "regular_bounded"])
def test_bounded_grids_of_zarrs_end_where_the_array_does(name) -> None:
    document = {"name": name, "configuration": {"chunk_shape": [4, 5, 3, 9]}}
    grid = parse_grid(document, (10, 10, 0, 7))
    assert grid.axes == (Axis(lengths=(4, 4, 2)), Axis(5), Axis(3), Axis(lengths=(7,)))
    assert grid.to_json()["name"] == "rectilinear"
    with pytest.raises(LimitError, match="grid_edges"):
        parse_grid(document, (2**40 + 1, 5, 3, 9))
    with pytest.raises(MetadataError, match=r"chunk_shape\[1\]"):
        parse_grid({"name": name, "configuration": {"chunk_shape": [4, 0]}}, (10, 10))


def test_unknown_grids_are_named() -> None:
    with pytest.raises(UnsupportedError, match=r"acme\.hex"):
        parse_grid({"name": "acme.hex", "configuration": {}}, (1,))


def test_a_short_run_can_not_fill_the_memory() -> None:
    document = {
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[[1, 10**15]]]},
    }
    with pytest.raises(LimitError, match=r"limits\.grid_edges"):
        parse_grid(document, (5,))
    with config.set({"limits.grid_edges": 3}), pytest.raises(LimitError):
        parse_grid(
            {
                "name": "rectilinear",
                "configuration": {"kind": "inline", "chunk_shapes": [[1, 1, 1, 1]]},
            },
            (4,),
        )


@pytest.mark.parametrize(
    ("chunks", "wanted"),
    [
        (5, (5, 5)),
        (-1, (10, 7)),
        (False, (10, 7)),
        ((4, -1), (4, 7)),
        ([np.int64(4), np.uint8(2)], (4, 2)),
        (np.array([4, 2]), (4, 2)),
        ("auto", (10, 7)),
        (None, (10, 7)),
        ((100, 1), (100, 1)),
    ],
)
def test_chunks_as_users_write_them(chunks, wanted) -> None:
    assert chunks_from_argument(chunks, (10, 7), 4).chunk_shape == wanted


def test_lists_of_lengths_make_a_rectilinear_grid() -> None:
    grid = chunks_from_argument([[4, 6], 3], (10, 7), 4)
    assert grid.axes == (Axis(lengths=(4, 6)), Axis(3))
    # A list says what kind of grid is meant, even where one size would do.
    assert not chunks_from_argument([[5, 5]], (10,), 4).is_regular
    assert chunks_from_argument([[5, 5]], (0,), 4).axes == (Axis(lengths=(5, 5)),)


@pytest.mark.parametrize(
    "chunks",
    [
        0,
        -2,
        1.5,
        "big",
        (1,),
        (1, 2, 3),
        (1, 0),
        (1, None),
        ([4, 5], 7),
        ([], 7),
        ([4, -4, 10], 7),
        (np.bool_(True), 1),
        True,
    ],
)
def test_wrong_chunks_are_refused(chunks) -> None:
    with pytest.raises(MetadataError, match="chunks"):
        chunks_from_argument(chunks, (10, 7), 4)


def test_empty_arrays_have_chunks_of_at_least_one() -> None:
    assert chunks_from_argument(-1, (0, 3), 4).chunk_shape == (1, 3)
    assert chunks_from_argument("auto", (0,), 4).chunk_shape == (1,)
    assert chunks_from_argument("auto", (), 4).chunk_shape == ()


@pytest.mark.parametrize(
    ("shards", "wanted"),
    [((4, 6), (4, 6)), (-1, (10, 9)), ({"shape": (4, 3)}, (4, 3)), ((-1, 3), (10, 3))],
)
def test_shards_as_users_write_them(shards, wanted) -> None:
    chunks = ChunkGrid.regular((2, 3))
    assert shards_from_argument(shards, chunks, (10, 7), 4).chunk_shape == wanted


def test_shards_have_to_be_multiples_of_chunks() -> None:
    chunks = ChunkGrid.regular((2, 3))
    with pytest.raises(
        MetadataError, match=r"shards\[1\]: expected a multiple of the chunk size 3"
    ):
        shards_from_argument((4, 5), chunks, (10, 7), 4)
    with pytest.raises(MetadataError, match="one shape"):
        shards_from_argument((4,), ChunkGrid((Axis(lengths=(4,)),)), (4,), 4)
    assert shards_from_argument(None, chunks, (10, 7), 4) is None
    assert shards_from_argument([[4, 6], 3], chunks, (10, 7), 4).axes[0] == Axis(lengths=(4, 6))


def test_guessed_shards() -> None:
    assert guess_shards((100, 20), (10, 10), 4) == (20, 10)
    with config.set({"array.target_shard_size_bytes": 6400}):
        assert guess_shards((100, 100), (10, 10), 4) == (40, 40)
        assert guess_shards((25, 100), (10, 10), 4) == (20, 20)
        assert guess_shards((), (), 4) == ()
    with config.set({"array.target_shard_size_bytes": 1}):
        assert guess_shards((100, 100), (10, 10), 4) == (10, 10)


def test_guesses_are_zarr_pythons() -> None:
    chunk_grids = pytest.importorskip(
        "zarr.core.chunk_grids", reason="zarr-python is not installed"
    )
    theirs = getattr(chunk_grids, "_guess_regular_chunks", None) or chunk_grids._guess_chunks
    extents = [1, 7, 100, 1000, 12345, 10**6]
    for ndim in range(4):
        for shape in itertools.product(extents, repeat=ndim):
            for itemsize in (1, 4, 16):
                assert guess_chunks(shape, itemsize) == tuple(theirs(shape, itemsize)), shape


def test_guesses_for_absurd_shapes() -> None:
    guess = guess_chunks((2**62,) * 64, 16)
    assert len(guess) == 64
    assert all(size >= 1 for size in guess)
