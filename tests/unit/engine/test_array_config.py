"""Configuration of one handle."""

import pytest

from blazarr.config import config
from blazarr.engine.array_config import ArrayConfig


def test_the_settings_complete_it():
    with config.set({"array.write_empty_chunks": True}):
        assert ArrayConfig.parse({"order": "F"}) == ArrayConfig("F", True, True)
    assert ArrayConfig.parse(None) == ArrayConfig("C", False, True)
    whole = ArrayConfig("F", True, False)
    assert ArrayConfig.parse(whole) is whole


def test_changes_keep_the_rest():
    assert ArrayConfig("F", True, False).updated({"order": "C"}) == ArrayConfig("C", True, False)


def test_unknown_keys_are_refused():
    with pytest.raises(TypeError, match="odrer"):
        ArrayConfig.parse({"odrer": "F"})
    with pytest.raises(ValueError, match="order"):
        ArrayConfig.parse({"order": "K"})
    with pytest.raises(ValueError, match="read_missing_chunks"):
        ArrayConfig.parse({"read_missing_chunks": "yes"})


def test_zarr_pythons_coalescing_keys_are_accepted():
    assert ArrayConfig.parse({"sharding_coalesce_max_bytes": 1}) == ArrayConfig.parse(None)
