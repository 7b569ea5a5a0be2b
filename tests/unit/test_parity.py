"""The public names of zarr-python, compared by tools/parity.py."""

import importlib.util
import sys

import pytest

pytest.importorskip("zarr", minversion="3.4")


@pytest.fixture(scope="module")
def names(repository):
    sys.path.insert(0, str(repository / "tools"))
    try:
        spec = importlib.util.spec_from_file_location("parity", repository / "tools" / "parity.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["parity"] = module
        spec.loader.exec_module(module)
        return list(module.names())
    finally:
        sys.path.pop(0)
        sys.modules.pop("parity", None)


def test_many_names_are_compared(names):
    assert len(names) > 500
    assert {name.place for name in names} >= {"", "Array", "AsyncGroup", "abc.store", "config"}


def test_most_are_the_same_or_differ_for_a_reason(names):
    assert sum(name.fine for name in names) >= 0.95 * len(names)


def test_none_is_absent_without_a_reason(names):
    assert [name.full for name in names if name.status == "absent" and not name.reason] == []
