"""The random tests of arrays, with every read and write through the wave executor over the host device."""

from blazarr.nodes import state
from tests.gpu import through_waves
from tests.stateful.test_arrays import test_an_array_equals_numpy as random_arrays


def test_random_arrays_through_waves(monkeypatch):
    monkeypatch.setattr(state, "engine_of", through_waves.engine_of)
    before = dict(through_waves.counts)
    random_arrays()
    made = {name: n - before[name] for name, n in through_waves.counts.items()}
    # Which chunks the CPU takes, and which are absent, depends on the examples.
    for call in ("read", "write"):
        assert made[f"{call} device"] > 0, made
        assert made[f"{call} waves"] > made[f"{call} calls"]
