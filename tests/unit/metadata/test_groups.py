"""Groups of both formats, and the copies of metadata that they keep."""

import json
from typing import Any

import pytest

from blazarr.errors import MetadataError, NodeTypeValidationError
from blazarr.metadata import (
    ArrayV2Metadata,
    ArrayV3Metadata,
    ConsolidatedMetadata,
    GroupMetadata,
    parse_consolidated_v2,
    parse_group_v2,
    parse_group_v3,
)

ARRAY = {
    "shape": [5],
    "data_type": "int16",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": 0,
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "attributes": {"k": 1},
    "zarr_format": 3,
    "node_type": "array",
    "storage_transformers": [],
}
GROUP = {"attributes": {"n": 2}, "zarr_format": 3, "node_type": "group"}
ZARRAY = {
    "shape": [6],
    "chunks": [4],
    "dtype": "<i4",
    "fill_value": 0,
    "order": "C",
    "filters": None,
    "dimension_separator": ".",
    "compressor": None,
    "zarr_format": 2,
}
ZGROUP = {"zarr_format": 2}


def consolidated(**members: Any) -> dict[str, Any]:
    """Make the document of a v3 group that keeps a copy of `members`."""
    metadata = {path.replace("__", "/"): document for path, document in members.items()}
    inline = {"kind": "inline", "must_understand": False, "metadata": metadata}
    return {
        "attributes": {"r": 1},
        "zarr_format": 3,
        "consolidated_metadata": inline,
        "node_type": "group",
    }


def parse(document: dict[str, Any]) -> GroupMetadata:
    return parse_group_v3(json.dumps(document).encode(), "g/zarr.json")


def parse_v2(entries: dict[str, Any]) -> GroupMetadata:
    document = {"metadata": entries, "zarr_consolidated_format": 1}
    return parse_consolidated_v2(json.dumps(document).encode(), "g/.zmetadata")


def test_format_3() -> None:
    extra = {"must_understand": False}
    group = parse({**GROUP, "my_ext": extra})
    assert (group.zarr_format, group.attributes, group.extra) == (3, {"n": 2}, {"my_ext": extra})
    assert group.consolidated_metadata is None
    assert group.to_documents() == {
        "zarr.json": json.dumps({**GROUP, "my_ext": extra}, indent=2).encode()
    }
    assert group.update(attributes={}).attributes == {}
    assert group.update(attributes={}).extra == group.extra


def test_format_2() -> None:
    group = parse_group_v2(b'{"zarr_format": 2, "more": 1}', b'{"n": 2}', "g/.zgroup")
    assert (group.zarr_format, group.attributes, group.extra) == (2, {"n": 2}, {"more": 1})
    assert group.to_documents() == {
        ".zgroup": b'{\n  "zarr_format": 2,\n  "more": 1\n}',
        ".zattrs": b'{\n  "n": 2\n}',
    }
    assert parse_group_v2(b'{"zarr_format": 2}', None, "k").attributes == {}


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({**GROUP, "zarr_format": 2}, "zarr_format"),
        ({**GROUP, "node_type": "array"}, "node_type"),
        ({**GROUP, "attributes": 5}, "attributes"),
        ({**GROUP, "other": 5}, "other"),
        ({**GROUP, "consolidated_metadata": 5}, "consolidated_metadata"),
        ({**GROUP, "consolidated_metadata": {"kind": "far"}}, "consolidated_metadata.kind"),
        (
            {**GROUP, "consolidated_metadata": {"kind": "inline"}},
            "consolidated_metadata.metadata",
        ),
        (consolidated(x=5), "consolidated_metadata.metadata['x']"),
    ],
)
def test_wrong_groups_are_refused(document: dict[str, Any], path: str) -> None:
    with pytest.raises(MetadataError) as caught:
        parse(document)
    assert (caught.value.key, caught.value.path) == ("g/zarr.json", path)


def test_the_other_kind_of_node_is_said_so() -> None:
    with pytest.raises(NodeTypeValidationError, match="expected 'group', found 'array'"):
        parse(ARRAY)
    with pytest.raises(NodeTypeValidationError):
        parse_group_v2(b'{"zarr_format": 2, "node_type": "array"}', None, "k")
    with pytest.raises(MetadataError, match="zarr_format"):
        parse_group_v2(b"{}", None, "k")


def test_null_consolidated_metadata_is_none() -> None:
    assert parse({**GROUP, "consolidated_metadata": None}).consolidated_metadata is None


def test_inline_members() -> None:
    document = consolidated(g=GROUP, g__x=ARRAY)
    group = parse(document)
    members = group.consolidated_metadata
    assert members is not None
    assert list(members) == ["g", "g/x"]
    assert [members.is_array(path) for path in members] == [False, True]
    child = members["g"]
    assert isinstance(child, GroupMetadata)
    assert child.attributes == {"n": 2}
    assert child.consolidated_metadata is not None
    assert isinstance(child.consolidated_metadata["x"], ArrayV3Metadata)
    assert members["g/x"] == child.consolidated_metadata["x"]
    assert json.loads(group.to_documents()["zarr.json"]) == document


def test_a_leaf_group_knows_that_it_is_empty() -> None:
    members = parse(consolidated(leaf=GROUP)).consolidated_metadata
    assert members is not None
    leaf = members["leaf"]
    assert isinstance(leaf, GroupMetadata)
    assert leaf.consolidated_metadata is not None
    assert len(leaf.consolidated_metadata) == 0


def test_inline_members_of_format_2() -> None:
    group = parse(consolidated(a={**ZARRAY, "attributes": {"k": 1}}, g=ZGROUP))
    members = group.consolidated_metadata
    assert members is not None
    assert isinstance(members["a"], ArrayV2Metadata)
    assert members["a"].attributes == {"k": 1}
    assert isinstance(members["g"], GroupMetadata)
    assert parse(json.loads(group.to_documents()["zarr.json"])) == group


def test_zmetadata() -> None:
    entries = {
        ".zgroup": ZGROUP,
        ".zattrs": {"title": "t"},
        "sub/.zgroup": ZGROUP,
        "sub/x/.zarray": ZARRAY,
        "sub/x/.zattrs": {"u": 1},
        "stray/.zattrs": {},
        "sub/x/0": {},
    }
    group = parse_v2(entries)
    members = group.consolidated_metadata
    assert members is not None
    assert group.attributes == {"title": "t"}
    assert list(members) == ["sub", "sub/x"]
    assert isinstance(members["sub/x"], ArrayV2Metadata)
    assert members["sub/x"].attributes == {"u": 1}
    documents = group.to_documents()
    assert set(documents) == {".zgroup", ".zattrs", ".zmetadata"}
    assert parse_consolidated_v2(documents[".zmetadata"], "k") == group


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"zarr_consolidated_format": 2, "metadata": {}}, "zarr_consolidated_format"),
        ({"zarr_consolidated_format": 1}, "metadata"),
        ({"zarr_consolidated_format": 1, "metadata": {}}, "metadata"),
        ({"zarr_consolidated_format": 1, "metadata": {".zgroup": 5}}, "metadata['.zgroup']"),
    ],
)
def test_wrong_zmetadata_is_refused(document: dict[str, Any], path: str) -> None:
    with pytest.raises(MetadataError) as caught:
        parse_consolidated_v2(json.dumps(document).encode(), "g/.zmetadata")
    assert (caught.value.key, caught.value.path) == ("g/.zmetadata", path)


@pytest.mark.parametrize(
    "path", ["..", "../x", "a/../b", "/etc", "a//b", "a/", "a\0b", "C:\\x", "."]
)
def test_paths_that_lead_out_of_the_group_are_refused(path: str) -> None:
    document = consolidated()
    document["consolidated_metadata"]["metadata"] = {path: ARRAY}
    with pytest.raises(MetadataError, match="not a path below the group"):
        parse(document)
    with pytest.raises(MetadataError, match="not a path below the group"):
        parse_v2({".zgroup": ZGROUP, f"{path}/.zarray": ZARRAY})


def test_a_wrong_member_is_refused_when_it_is_asked_for() -> None:
    members = parse(consolidated(good=ARRAY, bad={**ARRAY, "shape": [-1]})).consolidated_metadata
    assert members is not None
    assert members["good"].zarr_format == 3
    with pytest.raises(MetadataError, match=r"consolidated metadata of 'bad': shape\[0\]"):
        members["bad"]
    with pytest.raises(KeyError):
        members["absent"]


def test_made_of_models() -> None:
    members = parse(consolidated(g=GROUP, g__x=ARRAY)).consolidated_metadata
    assert members is not None
    again = ConsolidatedMetadata.of({"g/x": members["g/x"], "g": members["g"]})
    assert list(again) == ["g", "g/x"]
    assert again == members
    assert again != 5
