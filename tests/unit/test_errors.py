"""The error tree: pickling, bases, and zarr-python's names."""

from __future__ import annotations

import pickle

import pytest

from blazarr import errors

CLASSES = sorted(
    {c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, Exception)}
    - {w for w in vars(errors).values() if isinstance(w, type) and issubclass(w, Warning)},
    key=lambda c: c.__name__,
)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_pickles_with_fields_and_notes(cls: type[errors.BlazarrError]) -> None:
    error = cls("bad chunk", key="a/c/0", chunk=(0, 1), codec="zstd", path="shape[0]", offset=7)
    error.add_note("seen twice")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is cls
    assert str(copy) == "bad chunk"
    assert copy.kind == error.kind
    assert copy.fields == {
        "key": "a/c/0",
        "chunk": (0, 1),
        "codec": "zstd",
        "path": "shape[0]",
        "offset": 7,
    }
    assert copy.__notes__ == ["seen twice"]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_prints_its_message_unquoted_and_is_a_value_error(cls: type[errors.BlazarrError]) -> None:
    assert str(cls("no array at 'x'")) == "no array at 'x'"
    assert issubclass(cls, errors.BlazarrError)
    assert issubclass(cls, ValueError)


def test_built_in_bases() -> None:
    assert issubclass(errors.NotFoundError, KeyError)
    assert issubclass(errors.NotFoundError, FileNotFoundError)
    assert issubclass(errors.UnsupportedError, NotImplementedError)
    assert issubclass(errors.CorruptError, RuntimeError)
    assert issubclass(errors.LimitError, MemoryError)
    assert issubclass(errors.SelectionError, IndexError)
    assert issubclass(errors.StoreError, OSError)
    assert issubclass(errors.InternalError, RuntimeError)


def test_kinds_of_the_tree_are_distinct_and_can_be_narrowed() -> None:
    kinds = [c.default_kind for c in errors.BlazarrError.__subclasses__()]
    assert len(set(kinds)) == len(kinds) == 12
    assert errors.CorruptError("x", kind="checksum").kind == "checksum"


def test_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError, match="no field 'chnk'"):
        errors.CorruptError("x", chnk=(1,))


def test_every_public_name_of_zarr_python_is_there_with_its_bases() -> None:
    zarr_errors = pytest.importorskip("zarr.errors", reason="zarr-python is not installed")
    for name, theirs in vars(zarr_errors).items():
        if not (isinstance(theirs, type) and issubclass(theirs, Exception)):
            continue
        ours = getattr(errors, name)
        built_in = {b for b in theirs.__mro__ if b.__module__ == "builtins"}
        assert built_in <= set(ours.__mro__), name
        for base in theirs.__mro__:
            if base.__module__ == "zarr.errors":
                assert issubclass(ours, getattr(errors, base.__name__)), (name, base)


def test_an_error_takes_the_first_store_it_is_told():
    error = errors.StoreError("no room", key="c/0")
    error.locate("file:///a")
    error.locate("file:///b")
    assert str(error) == "file:///a: no room"
    assert error.fields == {"store": "file:///a", "key": "c/0"}
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
