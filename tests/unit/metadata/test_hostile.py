"""Documents that are made to harm, or that are harmed: always an error that names the place."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazarr.config import config
from blazarr.errors import BlazarrError, LimitError, MetadataError, UnsupportedError
from blazarr.metadata import (
    ConsolidatedMetadata,
    GroupMetadata,
    parse_array_v2,
    parse_array_v3,
    parse_consolidated_v2,
    parse_documents,
    parse_group_v3,
    parse_node_v3,
)
from blazarr.metadata.document import decode, encode

V3 = {
    "shape": [10],
    "data_type": "int16",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": 0,
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "attributes": {},
    "zarr_format": 3,
    "node_type": "array",
}
V2 = {
    "shape": [10],
    "chunks": [5],
    "dtype": "<i2",
    "fill_value": 0,
    "order": "C",
    "filters": None,
    "compressor": None,
    "zarr_format": 2,
}


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"   ",
        b'{"zarr_format": 3, "node_',
        b"[]",
        b"3",
        b"null",
        b'"zarr"',
        b"{} {}",
        b"\xff\xfe{}",
        b'{"a": "\xe9"}',
        b"{'a': 1}",
        b'{"a": 1,}',
        b'{"a": ' + b"1" * 5000 + b"}",
        b'{"a": 1, "b": {"c": 1, "c": 2}}',
        b"\x00\x00\x00\x00",
        b'{"a": \x00}',
    ],
    ids=lambda document: repr(document[:24]),
)
def test_what_is_no_document_is_refused(document: bytes) -> None:
    for parse in (parse_array_v3, parse_group_v3, parse_node_v3, parse_consolidated_v2):
        with pytest.raises(MetadataError, match=r"^the/key: the document|appears twice") as caught:
            parse(document, "the/key")
        assert caught.value.key == "the/key"
    with pytest.raises(MetadataError, match="the/key"):
        parse_array_v2(document, None, "the/key")


def test_repeated_keys_are_named() -> None:
    with pytest.raises(MetadataError, match="'shape' appears twice") as caught:
        decode(b'{"zarr_format": 3, "shape": [1], "shape": [2]}')
    assert caught.value.path == "shape"


def test_depth_is_limited() -> None:
    def nested(depth: int) -> bytes:
        return b'{"a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"

    assert decode(nested(64))
    for depth in (65, 900, 20_000, 200_000):
        with pytest.raises(LimitError, match=r"limits\.json_depth"):
            decode(nested(depth))
    with config.set({"limits.json_depth": 65}):
        assert decode(nested(65))


def deep(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("depth", [70, 900])
def test_a_member_that_nests_too_deep_costs_only_itself(zarr_format: int, depth: int) -> None:
    good = GroupMetadata(zarr_format, {"a": 1})
    bad = GroupMetadata(zarr_format, {"a": deep(depth)})
    copies = ConsolidatedMetadata({"good": good.documents(), "bad": bad.documents()})
    with config.set({"limits.json_depth": 10_000}):
        documents = GroupMetadata(zarr_format, {}, copies).to_documents()
    group = parse_documents(documents)
    assert isinstance(group, GroupMetadata)
    members = group.consolidated_metadata
    assert members is not None
    assert members["good"].attributes == good.attributes
    for use in (lambda: members["bad"], group.to_documents, lambda: list(members.values())):
        with pytest.raises(LimitError, match=r"limits\.json_depth"):
            use()


@pytest.mark.parametrize("place", ["attributes", "consolidated_metadata", "metadata", "extra"])
def test_only_members_wait_for_the_check_of_their_depth(place: str) -> None:
    inline = {"kind": "inline", "metadata": {}}
    group = {"zarr_format": 3, "node_type": "group", "consolidated_metadata": inline}
    worse: dict[str, dict[str, Any]] = {
        "attributes": {**group, "attributes": {"a": deep(100)}},
        "consolidated_metadata": {**group, "consolidated_metadata": {**inline, "b": deep(100)}},
        "metadata": {**group, "consolidated_metadata": {**inline, "metadata": {"m": deep(100)}}},
        "extra": {**group, "metadata": {"m": {"n": deep(100)}}},
    }
    with pytest.raises(LimitError, match=r"limits\.json_depth"):
        parse_node_v3(encode(worse[place]), "zarr.json")


@pytest.mark.parametrize("entry", [".zgroup", ".zattrs", "a/.zattrs"])
def test_depth_in_zmetadata(entry: str) -> None:
    entries: dict[str, Any] = {".zgroup": {"zarr_format": 2}, "a/.zgroup": {"zarr_format": 2}}
    entries[entry] = {**entries.get(entry, {}), "deep": deep(100)}
    document = encode({"zarr_consolidated_format": 1, "metadata": entries})
    with pytest.raises(LimitError, match=r"limits\.json_depth"):
        list((parse_consolidated_v2(document, ".zmetadata").consolidated_metadata or {}).values())


def test_many_shallow_containers_are_no_depth() -> None:
    wide = {"a": [[i] for i in range(1000)]}
    assert decode(encode(wide)) == wide


def test_size_is_limited_before_anything_is_read() -> None:
    with config.set({"limits.document_bytes": 100}):
        with pytest.raises(LimitError, match=r"limits\.document_bytes") as caught:
            decode(b"[" * 101)
        assert (caught.value.size, caught.value.limit) == (101, 100)


def test_byte_order_mark_is_skipped() -> None:
    assert decode("\ufeff{}".encode()) == {}


def test_what_json_forbids_and_writers_write() -> None:
    value = decode(b'{"x": NaN, "y": [Infinity, -Infinity, 1.5], "s": "NaN", "n": -0.0}')
    assert value["x"] != value["x"]
    assert value["y"] == [float("inf"), float("-inf"), 1.5]
    assert value["s"] == "NaN"
    assert str(value["n"]) == "-0.0"
    assert decode(encode({"x": float("nan"), "big": 2**70})) != {}
    assert decode(encode({"big": 2**70})) == {"big": 2**70}
    assert decode(encode({"a": "\ud800é😀\0"})) == {"a": "\ud800é😀\0"}


HOSTILE_V3: dict[str, dict[str, Any]] = {
    "negative shape": {"shape": [-3]},
    "float shape": {"shape": [3.5]},
    "NaN shape": {"shape": [float("nan")]},
    "infinite shape": {"shape": [1e400]},
    "huge shape": {"shape": [2**40, 2**40]},
    "huger shape": {"shape": [2**70]},
    "zero chunk": {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [0.0]}}},
    "rank": {"shape": [1] * 10_000},
    "run": {
        "chunk_grid": {
            "name": "rectilinear",
            "configuration": {"kind": "inline", "chunk_shapes": [[[1, 10**18]]]},
        }
    },
    "long type name": {"data_type": "x" * 10**6},
    "huge raw type": {"data_type": "r" + "8" * 4000},
    "huge text type": {
        "data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 2**60}}
    },
    "wide record": {
        "data_type": {
            "name": "struct",
            "configuration": {
                "fields": [
                    [f"f{i}", {"name": "raw_bytes", "configuration": {"length_bytes": 2**31 - 1}}]
                    for i in range(9)
                ]
            },
        }
    },
    "long fill value": {"fill_value": "9" * 4000},
    "odd fill value": {"fill_value": {"a": [{}]}},
    "long codec": {"codecs": [{"name": ["x" * 10**5]}]},
}


@pytest.mark.parametrize("changes", HOSTILE_V3.values(), ids=HOSTILE_V3)
def test_hostile_arrays_of_format_3(changes: dict[str, Any]) -> None:
    document = encode({**V3, **changes})
    with pytest.raises((MetadataError, LimitError, UnsupportedError)) as caught:
        parse_array_v3(document, "k")
    assert len(str(caught.value)) < 400
    assert str(caught.value).startswith("k: ")
    assert caught.value.path is not None


HOSTILE_V2: dict[str, dict[str, Any]] = {
    "negative chunk": {"chunks": [-5]},
    "huge typestr": {"dtype": "|V" + "9" * 30},
    "long typestr": {"dtype": "<" * 10**6},
    "deep record": {"dtype": [["a", [["b", [["c", "<i9"]]]]]]},
    "huge sub-array": {"dtype": [["a", "<f8", [2**31, 2**31, 2**31]]]},
    "long fields": {"dtype": [["a" * 10**5, 5]]},
    "wrong base64": {"dtype": "|S4", "fill_value": "%" * 10**6},
}


@pytest.mark.parametrize("changes", HOSTILE_V2.values(), ids=HOSTILE_V2)
def test_hostile_arrays_of_format_2(changes: dict[str, Any]) -> None:
    document = encode({**V2, **changes})
    with pytest.raises((MetadataError, LimitError, UnsupportedError)) as caught:
        parse_array_v2(document, None, "k")
    assert len(str(caught.value)) < 400


def test_hostile_documents_cost_little_time() -> None:
    # Processor time, with a wide margin: the wrong algorithm would take minutes.
    documents = [encode({**V3, **changes}) for changes in HOSTILE_V3.values()]
    documents += [b'{"a":' + b"[" * 200_000, b'{"a":' + b"1" * 4000 + b"}"]
    started = time.process_time()
    for document in documents:
        with pytest.raises(BlazarrError):
            parse_array_v3(document, "k")
    assert time.process_time() - started < 20


SCALARS = st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS | st.sampled_from(["bytes", "regular", "int8", "r8", "<i4", "NaN", [1], {}]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "configuration", "id", "chunk_shape", "fields"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(st.data())
def test_any_value_anywhere_is_parsed_or_refused(data) -> None:
    v3 = {**V3, data.draw(st.sampled_from(sorted(V3))): data.draw(VALUES)}
    v2 = {**V2, data.draw(st.sampled_from(sorted(V2))): data.draw(VALUES)}
    group = {
        "zarr_format": 3,
        "node_type": "group",
        data.draw(st.sampled_from(["attributes", "consolidated_metadata", "x"])): data.draw(VALUES),
    }
    for parse, document in (
        (parse_array_v3, v3),
        (parse_node_v3, v3),
        (parse_group_v3, group),
        (lambda stored, key: parse_array_v2(stored, None, key), v2),
    ):
        error = refusal(parse, encode(document))
        assert error is None or (error.key == "k" and len(str(error)) < 400)


def refusal(parse, document: bytes) -> BlazarrError | None:
    """Give the error with which a parser refuses a document; None where it takes it."""
    try:
        parse(document, "k")
    except (MetadataError, LimitError, UnsupportedError) as error:
        return error
    return None


@given(st.binary(max_size=60))
def test_any_bytes_are_parsed_or_refused(document: bytes) -> None:
    with pytest.raises((MetadataError, LimitError)):
        parse_node_v3(document, "k")


@given(st.text(alphabet='{}[]":,0123456789.eE+-tfn NaInfinity', max_size=40))
def test_any_json_like_text_is_parsed_or_refused(text: str) -> None:
    try:
        assert json.loads(text) == decode(text.encode())
    except (MetadataError, LimitError, AssertionError):
        pass
    except json.JSONDecodeError:
        with pytest.raises(MetadataError):
            decode(text.encode())


def test_wrong_members_show_little_of_themselves() -> None:
    with pytest.raises(MetadataError) as caught:
        parse_array_v3(json.dumps({**V3, "shape": "x" * 10**6}).encode(), "k")
    assert len(str(caught.value)) < 200
