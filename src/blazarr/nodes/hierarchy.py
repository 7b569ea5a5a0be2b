"""Creating many nodes with one call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from blazarr.errors import BlazarrError, ContainsArrayError
from blazarr.metadata import ArrayMetadata
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
        Path, metadata and place of each node, parents first.
    """
    named = {(root / path).path.removeprefix(root.prefix): node for path, node in nodes.items()}
    places = {path: root / path for path in sorted(named, key=lambda path: path.count("/"))}
    # Everything that can be refused is refused before anything is deleted or stored.
    _check(named, places)
    for path, place in places.items():
        if overwrite:
            place.delete_all()
        else:
            documents.refuse_existing(place, named[path].zarr_format)
    for path, place in places.items():
        documents.create(place, named[path])
        yield path, named[path], place


def _check(nodes: Mapping[str, NodeMetadata], places: Mapping[str, StorePath]) -> None:
    if len({node.zarr_format for node in nodes.values()}) > 1:
        raise BlazarrError(
            "the nodes of a hierarchy have one Zarr format; these have both", argument="nodes"
        )
    for path, node in nodes.items():
        node.to_documents()
        if isinstance(node, ArrayMetadata):
            Array(node, places[path]).check_codecs()
        for parent in _parents(path):
            if isinstance(nodes.get(parent), ArrayMetadata):
                raise ContainsArrayError(f"{parent!r} is an array, so {path!r} cannot be below it")


def _parents(path: str) -> list[str]:
    parts = path.split("/") if path else []
    return ["/".join(parts[:depth]) for depth in range(len(parts))]
