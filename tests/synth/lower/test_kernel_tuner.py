"""kernel_tuner's strategies search, our bench measures; where it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from lower_bench import ComputedBench

from synth.errors import SettingsError
from synth.lower.choose.request import read_request
from synth.lower.tune.by_kernel_tuner import kernel_tuner_search
from synth.lower.tune.measured import Measured
from synth.lower.tune.tuner import tune

SPEC = '{"op": "matmul", "dtype": "float16", "shape": [512, 512, 512]}'
installed = pytest.mark.skipif(find_spec("kernel_tuner") is None, reason="extra tune")


@installed
@pytest.mark.parametrize("strategy", ["random_sample", "greedy_ils", "genetic_algorithm"])
def test_a_strategy_measures_once_each_and_goes_on(tmp_path: Path, strategy: str) -> None:
    log = tmp_path / "log"
    for budget_s in (9.0, 6.0):
        with Measured(tmp_path / "index") as measured:
            found = tune(
                read_request(SPEC),
                ComputedBench(log),
                measured,
                budget_s,
                kernel_tuner_search(strategy),
            )
        assert found.fresh <= budget_s
        assert found.best is not None
    keys = log.read_text().split()
    assert len(keys) == len(set(keys)) > 9


@installed
def test_a_strategy_that_it_does_not_know_is_refused() -> None:
    with pytest.raises(SettingsError, match="allowed are model, "):
        kernel_tuner_search("guesswork")


@pytest.mark.skipif(find_spec("kernel_tuner") is not None, reason="it is installed")
def test_without_kernel_tuner_one_line_says_what_brings_it() -> None:
    with pytest.raises(SettingsError, match=r"pairsmith\[tune\]"):
        kernel_tuner_search("greedy_ils")
