"""Pictures: text that counts right, SVG that is well formed and escapes what stores say."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from blazarr.drawing import Cells, GridAxis, draw_cells, draw_grid, draw_tree, rows_table
from blazarr.drawing.trees import TreeNode

HOSTILE = '<script>alert("x")</script>&'


def axes(*extents):
    return [GridAxis(f"a{i}", extent, cuts=(1,)) for i, extent in enumerate(extents)]


def cells(counts, indices, weights=None, first=None):
    indices = np.array(indices, np.int64).reshape(len(indices), len(counts))
    weights = np.ones(len(indices), np.int64) if weights is None else np.array(weights)
    return Cells(counts, first or (0,) * len(counts), indices, weights)


def elements(svg, tag):
    return list(ET.fromstring(svg).iter(f"{{http://www.w3.org/2000/svg}}{tag}"))


@pytest.mark.parametrize(
    ("extents", "faces"),
    [((), 1), ((7,), 1), ((7, 9), 1), ((5, 7, 9), 3), ((2, 3, 5, 7, 9), 3), ((0, 0), 1)],
)
def test_a_grid_has_the_faces_of_its_axes(extents, faces):
    svg = draw_grid(axes(*extents), "summary").svg
    assert len(elements(svg, "polygon")) == faces
    captions = [node.text for node in elements(svg, "text")]
    for axis in axes(*extents):
        assert any(axis.caption in caption for caption in captions)


def test_a_grid_draws_each_cut():
    axis = GridAxis("x", 100, cuts=(10, 20, 30), shard_cuts=(50,))
    paths = [node.get("d") for node in elements(draw_grid([axis], "").svg, "path")]
    assert [path.count("M") for path in paths] == [3, 1]


def test_what_stores_say_is_escaped():
    axis = GridAxis(HOSTILE, 3)
    assert "<script" not in draw_grid([axis], HOSTILE).svg
    assert "<script" not in rows_table([(HOSTILE, HOSTILE)])
    tree = draw_tree(HOSTILE, [TreeNode(HOSTILE.replace("/", ""), HOSTILE)])
    assert "<script" not in tree._repr_mimebundle_()["text/html"]


def test_long_values_are_cut():
    assert len(rows_table([("attributes", "x" * 10_000)])) < 1000


def test_a_map_shows_which_cells_are_there():
    text = draw_cells(cells((2, 3), [[0, 0], [1, 2]]), "two").text
    assert text.splitlines() == ["two", "█··", "··█"]


def test_planes_stand_side_by_side():
    text = draw_cells(cells((2, 1, 3), [[1, 0, 1]], first=(5, 0, 0)), "one").text
    assert text.splitlines() == ["one", "[5]  [6]", "···  ·█·"]


def test_large_maps_are_binned():
    row = [[0, column] for column in range(600)]
    picture = draw_cells(cells((640, 640), row), "many")
    first, *others = picture.text.splitlines()[1:]
    assert first == "░" * 60 + "····"
    assert len(others) == 31
    assert set("".join(others)) == {"·"}


def test_bins_of_uneven_size_are_full_when_all_is_there():
    everything = np.argwhere(np.ones((50, 100)))
    text = draw_cells(cells((50, 100), everything), "all").text
    assert set("".join(text.splitlines()[1:])) == {"█"}


def test_many_planes_are_counted_and_not_drawn():
    picture = draw_cells(cells((10**9, 2, 2), []), "none")
    assert "999,999,988" in picture.text
    assert len(picture.svg) < 20_000


@pytest.mark.parametrize("counts", [(), (4,), (0,), (0, 3), (3, 0, 2)])
def test_maps_of_every_rank(counts):
    ET.fromstring(draw_cells(cells(counts, []), "none").svg)


def test_the_heaviest_cell_is_the_darkest():
    svg = draw_cells(cells((1, 2), [[0, 0], [0, 1]], [10, 100]), "").svg
    opacities = [float(node.get("fill-opacity")) for node in elements(svg, "rect")[1:]]
    assert opacities == [pytest.approx(0.37), pytest.approx(1)]


def test_saved_pictures_have_a_colour_for_dark_pages(tmp_path):
    file = tmp_path / "grid.svg"
    draw_grid(axes(4, 5), "summary").save(file)
    ET.parse(file)
    assert "prefers-color-scheme:dark" in file.read_text(encoding="utf-8")


def test_trees_fold_and_close_what_they_open():
    nodes = [TreeNode("a"), TreeNode("a/b"), TreeNode("a/b/c", " (3,)"), TreeNode("d")]
    tree = draw_tree("/", nodes)
    html = tree._repr_mimebundle_()["text/html"]
    assert html.count("<details open>") == html.count("</details>") == 3
    assert html.count("<div") == html.count("</div>")
    assert repr(tree) == "/\n├── a\n│   └── b\n│       └── c (3,)\n└── d\n"
