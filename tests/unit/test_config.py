"""Settings: get, set, restore, environment, limits."""

from __future__ import annotations

import threading

import pytest

from blazarr.config import DEFAULTS, Config
from blazarr.errors import BlazarrError


def test_get_value_section_and_default() -> None:
    config = Config({})
    assert config.get("array.order") == "C"
    assert config.get("threading") == {"max_workers": None}
    assert config.get("no.such", 5) == 5
    with pytest.raises(KeyError, match=r"no\.such"):
        config.get("no.such")


def test_set_stays_and_with_restores() -> None:
    config = Config({})
    config.set({"array.order": "F"})
    with config.set({"array": {"order": "C"}, "codecs": {"bytes": "x.Y"}}, json_indent=None):
        assert config.get("array.order") == "C"
        assert config.get("codecs.bytes") == "x.Y"
        assert config.get("json_indent") is None
    assert config.get("array.order") == "F"
    assert config.get("json_indent") == 2
    assert config.get("codecs", None) is None


def test_keyword_with_double_underscore() -> None:
    config = Config({})
    with config.set(async__concurrency=3):
        assert config.get("async.concurrency") == 3


def test_environment_is_read_and_reset_returns_to_it() -> None:
    config = Config(
        {
            "BLAZARR_ARRAY__ORDER": "F",
            "BLAZARR_THREADING__MAX_WORKERS": "4",
            "BLAZARR_ARRAY__WRITE_EMPTY_CHUNKS": "true",
            "OTHER_ARRAY__ORDER": "C",
        }
    )
    assert config.get("array.order") == "F"
    assert config.get("threading.max_workers") == 4
    assert config.get("array.write_empty_chunks") is True
    config.set({"array.order": "C"})
    config.reset()
    assert config.get("array.order") == "F"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("array.order", "Q"),
        ("default_zarr_format", 4),
        ("threading.max_workers", 0),
        ("array.checksum", 1),
        ("json_indent", -1),
        ("limits.json_depth", True),
        ("async.timeout", "soon"),
    ],
)
def test_wrong_value_is_refused_and_changes_nothing(key: str, value: object) -> None:
    config = Config({})
    with pytest.raises(BlazarrError, match=key) as caught:
        config.set({key: value})
    assert caught.value.argument == key
    assert config.get(key) == DEFAULTS[key]


def test_settings_are_shown_nested(capsys: pytest.CaptureFixture[str]) -> None:
    config = Config({"BLAZARR_ARRAY__ORDER": "F"})
    assert config.to_dict()["array"]["order"] == "F"
    config.pprint()
    assert "'order': 'F'" in capsys.readouterr().out
    config.set({"array.order": "C"})
    config.refresh()
    assert config.get("array.order") == "F"


def test_limits_follow_the_settings() -> None:
    config = Config({"BLAZARR_LIMITS__RANK": "32"})
    assert config.limits.rank == 32
    with config.set({"limits.json_depth": 10}):
        assert config.limits.json_depth == 10
    assert config.limits.json_depth == 64


def test_concurrent_sets_of_different_keys_are_all_kept() -> None:
    config = Config({})

    def work(i: int) -> None:
        for _ in range(50):
            config.set({f"mine.k{i}": i})

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert config.get("mine") == {f"k{i}": i for i in range(8)}
