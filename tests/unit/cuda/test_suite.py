"""The random tests of arrays, with every read through the wave executor over the host device."""

from blazarr.nodes import state
from tests.gpu import through_waves
from tests.stateful.test_arrays import test_an_array_equals_numpy as random_arrays


def test_random_arrays_through_waves(monkeypatch):
    monkeypatch.setattr(state, "engine_of", through_waves.engine_of)
    before = dict(through_waves.counts)
    random_arrays()
    made = {name: n - before[name] for name, n in through_waves.counts.items()}
    assert made["device"] > 0
    assert made["absent"] > 0
    assert made["waves"] > made["reads"]
