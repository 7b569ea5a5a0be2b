"""What a group says about itself and what is below: the part of `Group` that draws and counts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from blazarr.metadata import GroupMetadata
from blazarr.nodes.array import Array
from blazarr.nodes.placed import Placed

if TYPE_CHECKING:
    from blazarr.drawing import TreeRepr
    from blazarr.nodes.group import Group
    from blazarr.nodes.info import GroupInfo


class Surveyed(Placed):
    """Drawings and summaries of a group."""

    __slots__ = ()

    _metadata: GroupMetadata

    def _walk(
        self, max_depth: int | None, *, use_consolidated: bool = True
    ) -> Iterator[tuple[str, Array | Group]]:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """Return what notebooks show; members only where consolidated metadata has them."""
        from blazarr.drawing import rows_table

        members = self._metadata.consolidated_metadata
        facts = rows_table(
            [
                ("Group", self.store_path),
                ("Format", f"Zarr {self._metadata.zarr_format}"),
                ("Attributes", ", ".join(self._metadata.attributes) or "none"),
                ("Members", "group.tree() lists them" if members is None else len(members)),
            ]
        )
        return facts if members is None else facts + self.tree()._repr_mimebundle_()["text/html"]

    def _ipython_key_completions_(self) -> list[str]:
        return [name for name, _ in self._walk(0)]

    def tree(
        self,
        expand: bool | None = None,
        level: int | None = None,
        *,
        max_nodes: int = 500,
        plain: bool = False,
    ) -> TreeRepr:
        """Return a drawing of what is below.

        Parameters
        ----------
        expand
            Not implemented, as in zarr-python.
        plain
            Accepted for zarr-python's sake; text is always plain.
        level
            How deep below the members themselves; None goes to the bottom.
        max_nodes
            How many nodes to draw at most.
        """
        from blazarr.drawing import TreeNode, draw_tree

        if expand is not None:
            raise NotImplementedError("'expand' is not implemented; leave it out")
        nodes = list(islice(self._walk(level), max_nodes + 1))
        shown = [
            TreeNode(path, f" {node.shape} {node.dtype}" if isinstance(node, Array) else "")
            for path, node in nodes[:max_nodes]
        ]
        cut = f"Truncated at max_nodes={max_nodes}, some nodes and their children may be missing\n"
        return draw_tree(self.name, shown, cut if len(nodes) > max_nodes else "")

    @property
    def info(self) -> GroupInfo:
        """Summary; with the number of members where consolidated metadata says it."""
        return self._info(
            None if self._metadata.consolidated_metadata is None else list(self._walk(None))
        )

    def info_complete(self) -> GroupInfo:
        """Return the summary with the number of nodes below; lists the store."""
        return self._info(list(self._walk(None)))

    def _info(self, nodes: list[tuple[str, Any]] | None) -> GroupInfo:
        from blazarr.nodes.info import GroupInfo

        arrays = sum(isinstance(node, Array) for _, node in nodes or ())
        return GroupInfo(
            name=self.path,
            zarr_format=self._metadata.zarr_format,
            read_only=self.read_only,
            store_type=type(self.store).__name__,
            members=None if nodes is None else len(nodes),
            arrays=None if nodes is None else arrays,
            groups=None if nodes is None else len(nodes) - arrays,
        )
