"""zarr-metadata's models and ours: each made of the other, and its readings as the oracle of what we write."""

import json
import pickle

import pytest

from blazarr import metadata
from blazarr.errors import MetadataError, UnsupportedError
from blazarr.metadata import models

zarr_metadata = pytest.importorskip("zarr_metadata", minversion="0.6")
model = pytest.importorskip("zarr_metadata.model")

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
SHARD = {
    "name": "sharding_indexed",
    "configuration": {
        "chunk_shape": [2, 2],
        "codecs": [BYTES, {"name": "zstd", "configuration": {"level": 3, "checksum": True}}],
        "index_codecs": [BYTES, {"name": "crc32c"}],
        "index_location": "end",
    },
}


def v3(**changes):
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4, 6],
        "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 4]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": "NaN",
        "codecs": [BYTES],
        "attributes": {"unit": {"name": "m"}},
    }
    document |= changes
    return {"zarr.json": document}


def v2(**changes):
    document = {
        "zarr_format": 2,
        "shape": [4],
        "chunks": [2],
        "dtype": "<i4",
        "fill_value": 0,
        "order": "C",
        "filters": None,
        "compressor": None,
    }
    return {".zarray": document | changes, ".zattrs": {"a": [1]}}


NODES = {
    "v3": v3(),
    "v3 with names": v3(dimension_names=["y", None]),
    "v3 sharded": v3(chunk_grid={"name": "regular", "configuration": {"chunk_shape": [2, 2]}}, codecs=[SHARD]),
    "v3 unknown member": v3(other={"must_understand": False, "x": 1}),
    "v3 complex": v3(data_type="complex128", fill_value=["NaN", -0.0]),
    "v3 bits of a NaN": v3(fill_value="0x7fc00001"),
    "v3 text": v3(data_type="string", fill_value="", codecs=[{"name": "vlen-utf8"}]),
    "v3 unknown codec": v3(codecs=[BYTES, {"name": "other.codec", "configuration": {"x": 1}}]),
    "v3 group": {"zarr.json": {"zarr_format": 3, "node_type": "group", "attributes": {"t": 1}}},
    "v2": v2(),
    "v2 filters": v2(
        filters=[{"id": "delta", "dtype": "<i4"}], compressor={"id": "zstd", "level": 0}
    ),
    "v2 without a fill value": v2(fill_value=None, dimension_separator="/", order="F"),
    "v2 record": v2(dtype=[["x", "<i2"], ["y", "<f4", [2]]], fill_value=None),
    "v2 group": {".zgroup": {"zarr_format": 2}, ".zattrs": {}},
}  # fmt: skip


def encoded(documents):
    return {name: json.dumps(document).encode() for name, document in documents.items()}


@pytest.fixture(params=NODES)
def node(request):
    return metadata.parse_documents(encoded(NODES[request.param]))


def test_models_both_ways(node):
    made = metadata.to_model(node)
    assert metadata.from_model(made) == node
    assert metadata.to_model(metadata.from_model(made)) == made


def test_what_is_written_is_strictly_valid(node):
    assert metadata.problems_in(node.to_documents(), strict=True) == ()


def test_stored_documents_are_equal_to_theirs(node):
    theirs = {
        name: json.loads(data) for name, data in metadata.to_model(node).to_key_value().items()
    }
    ours = {name: json.loads(data) for name, data in node.to_documents().items()}
    assert theirs.keys() <= ours.keys()
    assert all(ours[name] == theirs[name] for name in theirs)


def test_absent_is_not_null():
    without, with_null = v3(), v3(dimension_names=[None, None])
    made = metadata.to_model(metadata.parse_documents(encoded(without)))
    assert made.dimension_names is metadata.UNSET
    made = metadata.to_model(metadata.parse_documents(encoded(with_null)))
    assert made.dimension_names == (None, None)
    assert pickle.loads(pickle.dumps(metadata.UNSET)) is metadata.UNSET


def test_a_model_shares_nothing(node):
    before = node.to_documents()
    for document in node.to_json().values():
        overwrite(document)
    overwrite(node.to_dict())
    overwrite(metadata.to_model(node).to_json())
    assert node.to_documents() == before


def overwrite(document):
    for value in document.values():
        if isinstance(value, dict):
            overwrite(value)
            value["new"] = 1
        elif isinstance(value, list):
            value.append("new")


def test_new_attributes_are_copied():
    attributes = {"a": [1]}
    array = metadata.parse_documents(encoded(v3())).update(attributes=attributes)
    group = metadata.GroupMetadata().update(attributes=attributes)
    attributes["a"].append(2)
    assert array.attributes == group.attributes == {"a": [1]}


def test_consolidated_metadata():
    member = v3()["zarr.json"]
    group = {
        "zarr_format": 3,
        "node_type": "group",
        "attributes": {},
        "consolidated_metadata": {
            "kind": "inline",
            "must_understand": False,
            "metadata": {"a": member},
        },
    }
    node = metadata.parse_documents(encoded({"zarr.json": group}))
    made = metadata.to_model(node)
    assert made.consolidated().metadata["a"].shape == (4, 6)
    assert metadata.from_model(made) == node


def test_consolidated_metadata_of_format_2():
    entries = {".zgroup": {"zarr_format": 2}, ".zattrs": {}}
    entries |= {f"a/{name}": document for name, document in v2().items()}
    document = {"metadata": entries, "zarr_consolidated_format": 1}
    made = metadata.ZarrV2ConsolidatedMetadata.from_json(document)
    group = metadata.from_model(made)
    assert group.consolidated_metadata["a"].shape == (4,)
    assert json.loads(group.to_documents()[".zmetadata"])["metadata"].keys() == entries.keys()


def test_names_are_theirs():
    for name in zarr_metadata.__all__:
        if not name.startswith("_"):
            assert getattr(metadata, name) is getattr(zarr_metadata, name)
    assert metadata.v2.GZIP_CODEC_V2 is zarr_metadata.v2.GZIP_CODEC_V2
    assert metadata.v3.CORE is zarr_metadata.v3.definition.CORE
    assert metadata.v3.ZarrV3ArrayMetadataJSON.__required_keys__ >= {"shape", "codecs"}
    assert metadata.v2.ZarrV2ZArrayJSON.__required_keys__ >= {"shape", "dtype"}
    assert metadata.v3.codec.gzip is not None


@pytest.mark.parametrize("name", ["Nothing", "_private", "numpy"])
def test_other_names_are_errors(name):
    for module in (metadata, metadata.v2, metadata.v3):
        assert not hasattr(module, name)


def test_json_schema():
    jsonschema = pytest.importorskip("jsonschema")
    schema = metadata.json_schema.node_metadata_json_schema_v3()
    check = jsonschema.Draft202012Validator(schema)
    for name, documents in NODES.items():
        if name.startswith("v3"):
            written = metadata.parse_documents(encoded(documents)).to_documents()["zarr.json"]
            assert check.is_valid(json.loads(written)), name
    assert not check.is_valid(v3(shape=[-1, 6])["zarr.json"])


def test_pydantic_fields():
    pydantic = pytest.importorskip("pydantic", minversion="2.13")
    field = metadata.pydantic.ZarrV3ArrayMetadataField
    adapter = pydantic.TypeAdapter(field)
    made = adapter.validate_python(v3()["zarr.json"])
    assert metadata.from_model(made).shape == (4, 6)
    assert adapter.validate_python(made) is made
    with pytest.raises(pydantic.ValidationError) as caught:
        adapter.validate_python(v3(shape=[-1, "a"], fill_value="x")["zarr.json"])
    places = {error["loc"] for error in caught.value.errors()}
    assert places == {("shape",), ("fill_value",)}


def test_without_the_package(monkeypatch):
    def absent(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(models, "import_module", absent)
    with pytest.raises(UnsupportedError, match=r"pip install 'blazarr\[metadata\]'") as caught:
        metadata.to_model(metadata.GroupMetadata())
    assert caught.value.package == "zarr-metadata"
    with pytest.raises(AttributeError, match=r"blazarr\[metadata\]"):
        _ = metadata.ZarrV3ArrayMetadata
    assert not hasattr(metadata.v3, "CORE")


def test_no_document_at_all():
    with pytest.raises(MetadataError, match="none of"):
        metadata.parse_documents({".zattrs": b"{}"})
