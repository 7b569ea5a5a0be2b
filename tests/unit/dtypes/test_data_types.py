"""Names, typestrs and numpy dtypes become data types, and back."""

import sys
import types

import numpy as np
import pytest

from blazarr.dtypes import DataType, parse_data_type, register_data_type
from blazarr.dtypes.raw import Raw
from blazarr.errors import DataTypeValidationError, MetadataError, UnsupportedError

CORE = ["bool", "float16", "float32", "float64", "complex64", "complex128"] + [
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
]
DOCUMENTS = [
    *CORE,
    "string",
    "variable_length_bytes",
    "r8",
    "r24",
    {"name": "fixed_length_utf32", "configuration": {"length_bytes": 16}},
    {"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}},
    {"name": "raw_bytes", "configuration": {"length_bytes": 3}},
    {"name": "numpy.datetime64", "configuration": {"unit": "generic", "scale_factor": 1}},
    {"name": "numpy.timedelta64", "configuration": {"unit": "us", "scale_factor": 10}},
    {
        "name": "struct",
        "configuration": {
            "fields": [
                {"name": "a", "data_type": "int8"},
                {
                    "name": "b",
                    "data_type": {
                        "name": "struct",
                        "configuration": {"fields": [{"name": "c", "data_type": "float64"}]},
                    },
                },
            ]
        },
    },
]
TYPESTRS = [
    *("|b1", "|i1", "|u1", "|S3", "|V2", "<U4", ">U4"),
    *("<i2", ">i2", "<u4", ">u8", "<f2", ">f4", "<f8", "<c8", ">c16"),
    *("<M8[ns]", ">m8[D]", "<M8[10ms]", "<m8"),
    [["t", ">i2"], ["m", "<f4", [2, 2]], ["k", "|u1"], ["n", [["x", "<U2"]]]],
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_format_3_round_trip(document: object) -> None:
    data_type = DataType.from_v3(document)
    assert data_type.to_v3() == document
    assert DataType.from_v3(data_type.to_v3()) == data_type
    assert hash(data_type) == hash(DataType.from_v3(document))


@pytest.mark.parametrize("typestr", TYPESTRS, ids=str)
def test_format_2_round_trip(typestr: object) -> None:
    data_type = DataType.from_v2(typestr)
    assert data_type.to_v2() == typestr
    assert data_type.itemsize == data_type.numpy.itemsize


@pytest.mark.parametrize(
    ("written", "meant"),
    [("<u1", "|u1"), ("<b1", "|b1"), (">i1", "|i1"), ("<S3", "|S3"), (">V2", "|V2")],
)
def test_byte_order_where_it_means_nothing(written: str, meant: str) -> None:
    assert DataType.from_v2(written) == DataType.from_v2(meant)
    assert DataType.from_v2(written).to_v2() == meant


def test_byte_order_as_users_see_it() -> None:
    assert DataType.from_v2(">u2").numpy == np.dtype(">u2")
    assert DataType.from_v2(">u2").native == np.dtype("=u2")
    assert DataType.from_v3("uint16").numpy == np.dtype("=u2")
    mixed = DataType.from_v2([["a", ">i2"], ["b", "<i2"]])
    assert mixed.native == mixed.numpy == np.dtype([("a", ">i2"), ("b", "<i2")])


def test_byte_order_of_format_3() -> None:
    mixed = parse_data_type([("a", ">i2"), ("n", [("x", "<f4"), ("y", ">U2")])])
    native = mixed.as_native()
    assert native.numpy == np.dtype([("a", "=i2"), ("n", [("x", "=f4"), ("y", "=U2")])])
    assert native == DataType.from_v3(mixed.to_v3())
    assert native.as_native() is native


@pytest.mark.parametrize(
    ("name", "same_as"),
    [
        ("bytes", "variable_length_bytes"),
        ("complex_float32", "complex64"),
        ("complex_float64", "complex128"),
        ({"name": "int32"}, "int32"),
        ({"name": "int32", "configuration": {}}, "int32"),
    ],
)
def test_other_spellings(name: object, same_as: str) -> None:
    assert DataType.from_v3(name) == DataType.from_v3(same_as)


def test_early_form_of_struct() -> None:
    early = {"name": "structured", "configuration": {"fields": [["a", "int8"]]}}
    assert DataType.from_v3(early).to_v3()["name"] == "struct"


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (5, "data_type"),
        ({"configuration": {}}, "data_type"),
        ({"name": "int32", "configuration": []}, "data_type.configuration"),
        ({"name": "raw_bytes"}, "data_type.configuration.length_bytes"),
        (
            {"name": "raw_bytes", "configuration": {"length_bytes": 0}},
            "data_type.configuration.length_bytes",
        ),
        (
            {"name": "raw_bytes", "configuration": {"length_bytes": 2**31}},
            "data_type.configuration.length_bytes",
        ),
        (
            {"name": "fixed_length_utf32", "configuration": {"length_bytes": 6}},
            "data_type.configuration.length_bytes",
        ),
        (
            {"name": "numpy.datetime64", "configuration": {"unit": "q"}},
            "data_type.configuration.unit",
        ),
        (
            {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 0}},
            "data_type.configuration.scale_factor",
        ),
        ({"name": "struct", "configuration": {}}, "data_type.configuration.fields"),
        ({"name": "struct", "configuration": {"fields": []}}, "data_type.configuration.fields"),
        (
            {"name": "struct", "configuration": {"fields": [["a"]]}},
            "data_type.configuration.fields[0]",
        ),
        (
            {"name": "struct", "configuration": {"fields": [["a", "int8"], ["a", "int8"]]}},
            "data_type.configuration.fields",
        ),
        ("r7", "data_type"),
        ("r" + "9" * 5000, "data_type"),
    ],
)
def test_wrong_documents_are_refused_with_their_place(document: object, path: str) -> None:
    with pytest.raises(MetadataError) as caught:
        DataType.from_v3(document)
    assert caught.value.path == path
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("name", ["acme.quad", {"name": "quad", "configuration": {}}, "r0", "R8"])
def test_unknown_names_are_named(name: object) -> None:
    with pytest.raises(UnsupportedError, match=name if isinstance(name, str) else "quad"):
        DataType.from_v3(name)


@pytest.mark.parametrize(
    "typestr",
    [
        "f4",
        "|i4",
        "<q9",
        "float32",
        "<i3",
        4,
        "<U",
        "|S0",
        "<M8[xx]",
        "<i4[ns]",
        "<M8[99999999999s]",
        [["a"]],
        [],
        [["a", "<f4", [-1]]],
    ],
)
def test_wrong_typestrs_are_refused(typestr: object) -> None:
    with pytest.raises((MetadataError, UnsupportedError)):
        DataType.from_v2(typestr)


def test_object_arrays_are_what_their_codec_says() -> None:
    assert DataType.from_v2("|O", [{"id": "vlen-utf8"}]) == DataType.from_v3("string")
    assert DataType.from_v2("|O", [{"id": "x"}, {"id": "vlen-bytes"}]) == DataType.from_v3("bytes")
    pickled = DataType.from_v2("|O", [{"id": "pickle"}])
    assert pickled.variable
    assert pickled.to_v2() == "|O"
    with pytest.raises(UnsupportedError, match="pickle"):
        pickled.to_v3()
    with pytest.raises(MetadataError, match="object codec"):
        DataType.from_v2("|O", [{"id": "zlib"}])


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (np.int16, "int16"),
        (float, "float64"),
        ("f4", "float32"),
        (np.longlong, "int64"),
        (str, "string"),
        ("string", "string"),
        (np.dtypes.StringDType(), "string"),
        ("bfloat16", "bfloat16"),
        ("r16", "r16"),
        (DataType.from_v3("int8"), "int8"),
        ({"name": "int8"}, "int8"),
        ("U3", "fixed_length_utf32"),
        ([("a", "i4")], "struct"),
        ([["a", "i4"]], "struct"),
    ],
)
def test_what_users_write(given: object, name: str) -> None:
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")
    assert parse_data_type(given).name == name


@pytest.mark.parametrize(
    "given",
    [
        object,
        "no such type",
        "S0",
        np.dtype([("a", "O")]),
        "f16",
        np.dtype([(("title", "a"), "i4")]),
    ],
)
def test_what_users_can_not_store(given: object) -> None:
    with pytest.raises((DataTypeValidationError, UnsupportedError)):
        parse_data_type(given)


def test_gaps_between_fields_are_not_stored() -> None:
    from blazarr.errors import ZarrUserWarning

    with pytest.warns(ZarrUserWarning, match="gaps"):
        data_type = parse_data_type(np.dtype([("a", "i1"), ("b", "i8")], align=True))
    assert data_type.itemsize == 9


def test_sub_arrays_need_format_2() -> None:
    with pytest.raises(UnsupportedError, match="sub-array"):
        parse_data_type([("a", "i4", (2, 2))]).to_v3()


@pytest.mark.parametrize(
    "name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "int4", "uint2"]
)
def test_types_of_machine_learning(name: str) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    data_type = DataType.from_v3(name)
    assert data_type.numpy == np.dtype(getattr(ml_dtypes, name))
    assert data_type.to_v3() == data_type.to_v2() == name
    assert DataType.from_v2(name) == data_type
    assert data_type.fill_to_json(data_type.fill_from_json(1)) == 1
    assert parse_data_type(data_type.numpy) == data_type


def test_bfloat16_fill_values() -> None:
    pytest.importorskip("ml_dtypes")
    data_type = DataType.from_v3("bfloat16")
    assert float(data_type.fill_from_json("0x4000")) == 2.0
    assert data_type.fill_bytes(data_type.fill_from_json("NaN")) == b"\xc0\x7f"
    assert data_type.fill_to_json(data_type.fill_from_json("-Infinity")) == "-Infinity"
    with pytest.raises(MetadataError):
        DataType.from_v3("int4").fill_from_json(8)


def test_without_ml_dtypes_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from blazarr.dtypes import ml, registry

    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    ml.from_v3.cache_clear()
    registry._parse_v3_name.cache_clear()
    with pytest.raises(UnsupportedError, match="pip install ml_dtypes") as caught:
        DataType.from_v3("bfloat16")
    assert caught.value.package == "ml_dtypes"
    monkeypatch.setitem(sys.modules, "ml_dtypes", types.ModuleType("ml_dtypes"))
    with pytest.raises(UnsupportedError, match="newer"):
        DataType.from_v3("bfloat16")


def test_registered_types_are_found() -> None:
    register_data_type("acme.triple", lambda configuration, path: Raw(np.dtype("V3"), core=False))
    assert DataType.from_v3("acme.triple").itemsize == 3
    assert parse_data_type("acme.triple").itemsize == 3
    with pytest.raises(DataTypeValidationError, match="built in"):
        register_data_type("int8", lambda configuration, path: Raw(np.dtype("V1")))
