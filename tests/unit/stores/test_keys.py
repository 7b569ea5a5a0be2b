"""No key, however spelled, names anything outside of its store."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazarr import _core
from blazarr.errors import BlazarrError
from blazarr.stores import LocalStore, MemoryStore

SEGMENTS = st.one_of(
    st.sampled_from(["", ".", "..", "a", "~", "C:", "\\", "\0", "%2e%2e"]), st.text()
)
KEYS = st.one_of(st.text(), st.lists(SEGMENTS, max_size=6).map("/".join))


@given(KEYS)
def test_a_key_is_refused_or_stays_below_the_root(key):
    try:
        _core.parse_key(key)
    except (BlazarrError, UnicodeEncodeError):  # the latter: half of a surrogate pair
        return
    path = os.path.normpath(f"/top/{key}")
    assert path == f"/top/{key}"
    assert Path(path).is_relative_to("/top")


@given(KEYS)
def test_all_stores_agree_on_what_is_a_key(tmp_path_factory, key):
    outcomes = set()
    for store in (LocalStore(tmp_path_factory.getbasetemp() / "k"), MemoryStore(), MemoryStore({})):
        try:
            store.get(key)
            outcomes.add("key")
        except (BlazarrError, UnicodeEncodeError) as error:
            outcomes.add("key" if getattr(error, "kind", "") == "store" else type(error))
    assert len(outcomes) == 1


@pytest.mark.parametrize("folder", ["..", "/", "/etc", "a//b", "a/../.."])
def test_folders_are_held_to_the_same(tmp_path, folder):
    for store in (LocalStore(tmp_path / "x"), MemoryStore(), MemoryStore({})):
        with pytest.raises(BlazarrError):
            store.children(folder)
        with pytest.raises(BlazarrError):
            store.delete_folder(folder)
