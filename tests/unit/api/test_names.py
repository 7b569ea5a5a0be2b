"""Names, arguments and defaults are zarr-python's."""

import inspect

import pytest

import blazarr

zarr = pytest.importorskip("zarr", minversion="3.4")

FUNCTIONS = sorted(
    name
    for name in zarr.__all__
    if callable(getattr(zarr, name)) and not isinstance(getattr(zarr, name), type)
)
MEMBERS = [
    (kind, name)
    for kind in ("Array", "Group")
    for name in dir(getattr(zarr, kind))
    if not name.startswith("_") and name != "update_attributes_async"
]


def arguments(function):
    return {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        and name not in ("self", "cls")
    }


def compare(ours, theirs):
    mine = arguments(ours)
    for name, parameter in arguments(theirs).items():
        assert name in mine, f"no argument {name}"
        positional = (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        if parameter.kind in positional:
            assert mine[name].kind in positional, f"{name} is positional there"
        if parameter.default is parameter.empty:
            assert mine[name].default is parameter.empty, f"{name} has no default there"
        elif isinstance(parameter.default, str | int | None):
            assert mine[name].default == parameter.default, f"{name} has another default there"


def test_public_names():
    assert set(zarr.__all__) <= set(blazarr.__all__)
    assert set(dir(blazarr)) >= set(blazarr.__all__)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_of_functions(name):
    compare(getattr(blazarr, name), getattr(zarr, name))


@pytest.mark.parametrize(("kind", "name"), MEMBERS)
def test_members_of_classes(kind, name):
    ours = getattr(getattr(blazarr, kind), name)
    theirs = getattr(getattr(zarr, kind), name)
    assert callable(ours) == callable(theirs)
    if callable(theirs):
        compare(ours, theirs)


def test_errors_have_their_names():
    public = {name for name in zarr.errors.__all__ if isinstance(getattr(zarr.errors, name), type)}
    assert public <= set(dir(blazarr.errors))
