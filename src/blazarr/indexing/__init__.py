"""What users write between brackets, parsed into one normal form (`Selection`)."""

from blazarr.indexing.advanced import parse_advanced
from blazarr.indexing.basic import parse_basic
from blazarr.indexing.block import parse_block
from blazarr.indexing.coordinate import parse_coordinate, parse_mask, parse_vindex
from blazarr.indexing.dispatch import parse_getitem
from blazarr.indexing.fields import field_dtype, pop_fields
from blazarr.indexing.orthogonal import parse_orthogonal
from blazarr.indexing.selection import Const, Indexed, Selection, Strided

__all__ = [
    "Const",
    "Indexed",
    "Selection",
    "Strided",
    "field_dtype",
    "parse_advanced",
    "parse_basic",
    "parse_block",
    "parse_coordinate",
    "parse_getitem",
    "parse_mask",
    "parse_orthogonal",
    "parse_vindex",
    "pop_fields",
]
