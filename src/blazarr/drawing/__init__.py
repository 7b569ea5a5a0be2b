"""Pictures of plain data, as text, HTML and SVG: no input or output, no knowledge of arrays."""

from blazarr.drawing.cells import Cells, draw_cells
from blazarr.drawing.grid import GridAxis, draw_grid
from blazarr.drawing.picture import Picture
from blazarr.drawing.tables import beside, rows_table, shown_size
from blazarr.drawing.trees import TreeNode, TreeRepr, draw_tree

__all__ = [
    "Cells",
    "GridAxis",
    "Picture",
    "TreeNode",
    "TreeRepr",
    "beside",
    "draw_cells",
    "draw_grid",
    "draw_tree",
    "rows_table",
    "shown_size",
]
