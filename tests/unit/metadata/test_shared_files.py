"""Metadata that other implementations wrote: everything is read, or is here with a reason."""

import json
from pathlib import Path

import pytest

from blazarr.errors import BlazarrError
from blazarr.metadata import (
    ArrayMetadata,
    GroupMetadata,
    parse_array_v2,
    parse_consolidated_v2,
    parse_group_v2,
    parse_node_v3,
)

UNREADABLE = {
    "tlambert03__yaozarrs/tests/data/broken/broken_v05.ome.zarr/A/1/1/labels/annotations/zarr.json": "broken on purpose: no shape",
    "tlambert03__yaozarrs/tests/data/broken/broken_v05.ome.zarr/A/2/zarr.json": "broken on purpose: no shape",
    "tlambert03__yaozarrs/tests/data/broken/broken_v05.ome.zarr/B/1/0/0/zarr.json": "broken on purpose: rank of the chunks",
    "tlambert03__yaozarrs/tests/data/broken/broken_v05.ome.zarr/B/2/0/0/zarr.json": "broken on purpose: an array that says it is a group",
    "tlambert03__yaozarrs/tests/data/broken/broken_v05.ome.zarr/B/3/0/labels/zarr.json": "broken on purpose: no shape",
    "tlambert03__yaozarrs/tests/data/broken/broken_v05.ome.zarr/B/3/1/zarr.json": "broken on purpose: no shape",
    "zarr-developers__zarr-java/testdata/storage_transformer/exists/zarr.json": "needs a storage transformer",
    "zarr-developers__zarr_implementations/examples/zarrita.zr3/zarr.json": "a draft of format 3 from before zarr.json",
    "zarrs__zarrs/zarrs/tests/data/v3/array_optional_nested.zarr/array/zarr.json": "'optional' in 'optional'",
}


def attributes_beside(document: Path) -> bytes | None:
    zattrs = document.with_name(".zattrs")
    return zattrs.read_bytes() if zattrs.exists() else None


def parse(document: Path, key: str) -> ArrayMetadata | GroupMetadata:
    data = document.read_bytes()
    if document.name == ".zarray":
        return parse_array_v2(data, attributes_beside(document), key)
    if document.name == ".zgroup":
        return parse_group_v2(data, attributes_beside(document), key)
    if document.name == ".zmetadata":
        return parse_consolidated_v2(data, key)
    return parse_node_v3(data, key)


def parse_written(documents: dict[str, bytes]) -> ArrayMetadata | GroupMetadata:
    if "zarr.json" in documents:
        return parse_node_v3(documents["zarr.json"], "k")
    if ".zarray" in documents:
        return parse_array_v2(documents[".zarray"], documents[".zattrs"], "k")
    if ".zmetadata" in documents:
        return parse_consolidated_v2(documents[".zmetadata"], "k")
    return parse_group_v2(documents[".zgroup"], documents[".zattrs"], "k")


@pytest.fixture(scope="module")
def documents(shared: Path) -> dict[str, Path]:
    """Give every document in the folder of shared files."""
    root = shared / "files"
    found = [path for name in ("zarr.json", ".z*") for path in root.rglob(name)]
    names = {"zarr.json", ".zarray", ".zgroup", ".zmetadata"}
    return {path.relative_to(root).as_posix(): path for path in found if path.name in names}


def test_every_document_is_read_and_written_back_the_same(documents: dict[str, Path]) -> None:
    assert len(documents) > 1000
    refused: dict[str, str] = {}
    for key, path in documents.items():
        try:
            metadata = parse(path, key)
        except BlazarrError as error:
            refused[key] = str(error)
            continue
        assert parse_written(metadata.to_documents()) == metadata, key
        if isinstance(metadata, GroupMetadata) and metadata.consolidated_metadata:
            assert all(
                node.zarr_format in (2, 3) for node in metadata.consolidated_metadata.values()
            )
    assert {key: refused[key] for key in refused.keys() - UNREADABLE.keys()} == {}
    assert UNREADABLE.keys() & documents.keys() == refused.keys()


def test_what_the_index_says_of_every_array(shared: Path, documents: dict[str, Path]) -> None:
    index = json.loads((shared / "files" / "index.json").read_text())
    compared = 0
    for entry in index["arrays"]:
        name = "zarr.json" if entry["format"] == 3 else ".zarray"
        key = f"{entry['path']}/{name}"
        if key not in documents or key in UNREADABLE:
            continue
        metadata = parse(documents[key], key)
        assert isinstance(metadata, ArrayMetadata)
        assert metadata.zarr_format == entry["format"]
        assert list(metadata.shape) == entry["shape"]
        assert list(metadata.grid.chunk_shape) == entry["chunks"]
        assert entry["separator"] in (None, metadata.chunk_key_encoding.separator)
        assert metadata.order == (entry["order"] or "C")
        compared += 1
    assert compared > 1000
