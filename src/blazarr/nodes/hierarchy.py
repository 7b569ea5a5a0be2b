"""Creating many nodes with one call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from blazarr.errors import BlazarrError, ContainsArrayError
from blazarr.metadata import ArrayMetadata, GroupMetadata
from blazarr.nodes import documents
from blazarr.nodes.array import Array
from blazarr.nodes.documents import NodeMetadata
from blazarr.nodes.location import StorePath


def create(
    root: StorePath, nodes: Mapping[str, NodeMetadata], *, overwrite: bool = False
) -> Iterator[tuple[str, NodeMetadata, StorePath]]:
    """Create nodes, and groups between them where those are missing.

    Parameters
    ----------
    root
        Where the paths begin.
    nodes
        Metadata by path below `root`.
    overwrite
        Replace the nodes that are there; otherwise one that is there is an error.

    Yields
    ------
    tuple of str, metadata and StorePath
        Path, metadata and place of each node that was created, parents first: those of `nodes`,
        and the groups between `root` (with it) and them that were missing.
    """
    named = _named(root, nodes)
    # Everything that can be refused is refused before anything is deleted or stored.
    _check(root, named)
    missing = _missing_groups(root, named)
    for path, node in named.items():
        place = _place(root, path)
        if overwrite:
            place.delete_all()
        else:
            documents.refuse_existing(place, node.zarr_format)
    if overwrite:
        # Deleting a node may have taken groups below it away.
        missing = _missing_groups(root, named)
    for path, node in sorted((missing | named).items(), key=lambda item: _depth(item[0])):
        place = _place(root, path)
        documents.create(place, node)
        if path == root.path or path.startswith(root.prefix):
            yield path.removeprefix(root.path).removeprefix("/"), node, place


def _named(root: StorePath, nodes: Mapping[str, NodeMetadata]) -> dict[str, NodeMetadata]:
    """Return the nodes by their path in the store."""
    named: dict[str, NodeMetadata] = {}
    for path, node in nodes.items():
        place = root / path
        if place.path in named:
            raise BlazarrError(
                f"nodes has two entries for {place}, one of them {path!r}; give it once",
                argument="nodes",
            )
        named[place.path] = node
    return named


def _check(root: StorePath, named: Mapping[str, NodeMetadata]) -> None:
    if len({node.zarr_format for node in named.values()}) > 1:
        raise BlazarrError(
            "the nodes of a hierarchy have one Zarr format; these have both", argument="nodes"
        )
    for path, node in named.items():
        place = _place(root, path)
        node.to_documents()
        if isinstance(node, ArrayMetadata):
            Array(node, place).check_codecs()
        for parent in place.parents:
            if isinstance(named.get(parent.path), ArrayMetadata):
                raise ContainsArrayError(
                    f"{parent} is an array, so {place} cannot be below it", argument="nodes"
                )


def _missing_groups(root: StorePath, named: Mapping[str, NodeMetadata]) -> dict[str, NodeMetadata]:
    """Return the groups that have to be made above the nodes, looking once into each folder."""
    one_of_each_folder = {path.rpartition("/")[0]: path for path in named if path}
    return {
        parent.path: GroupMetadata(zarr_format=named[path].zarr_format)
        for path in one_of_each_folder.values()
        for parent in documents.missing_parents(
            _place(root, path), named[path].zarr_format, planned=named
        )
    }


def _place(root: StorePath, path: str) -> StorePath:
    return StorePath(root.store, path)


def _depth(path: str) -> int:
    return path.count("/") + bool(path)
