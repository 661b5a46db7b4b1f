"""kernel_tuner's strategies as a search: it says what to try, the bench here measures it.

Its own runners are left out (why: `notes/measurements/lower.md`, "Tuning").
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from importlib import import_module
from math import isfinite
from typing import Any

import numpy as np

from synth.errors import SettingsError
from synth.lower.choose.choice import Candidate
from synth.lower.tune.search import Around, Measuring, Search

_SEED = 7
_OBJECTIVE = "time_us"


def kernel_tuner_search(strategy: str) -> Search:
    """The search of a strategy by its name. Raises SettingsError without kernel_tuner, and for a
    name that it does not know."""
    try:
        known = import_module("kernel_tuner.interface").strategy_map
    except ImportError:
        line = f"--search {strategy}: pip install 'pairsmith[tune]', which brings kernel_tuner"
        raise SettingsError(line) from None
    if strategy not in known:
        names = ", ".join(["model", *sorted(known)])
        raise SettingsError(f"--search: {strategy!r} is not allowed; allowed are {names}")

    def search(listed: Sequence[Candidate], around: Around, measure: Measuring) -> None:
        random.seed(_SEED)
        np.random.seed(_SEED)
        # What would be taken untuned is measured in any case.
        measure(listed[0])
        names = [name for name in listed[0].schedule if _varies(listed, name)]
        placed = {tuple(one.schedule[name] for name in names): one for one in listed}
        if len(placed) < 2:
            return
        space = _space(names, list(placed))
        known[strategy].tune(space, _runner(placed, measure), _options(len(placed)))

    return search


def _varies(listed: Sequence[Candidate], name: str) -> bool:
    return len({one.schedule[name] for one in listed}) > 1


def _space(names: list[str], configs: list[tuple[Any, ...]]) -> Any:
    """A search space of just these configurations."""
    module = import_module("kernel_tuner.searchspace")
    values = {
        name: sorted({config[place] for config in configs}) for place, name in enumerate(names)
    }
    cache = {str(n): dict(zip(names, config, strict=True)) for n, config in enumerate(configs)}
    return module.Searchspace(None, None, None, from_cache={"tune_params": values, "cache": cache})


def _options(count: int) -> Any:
    options, util = (
        import_module("kernel_tuner.interface").Options,
        import_module("kernel_tuner.util"),
    )
    return options(
        strategy_options=options(max_fevals=count),
        budget=util.TuningBudget(None, count),
        objective=[_OBJECTIVE],
        objective_higher_is_better=[False],
        verbose=False,
        cache={},
        restrictions=[],
    )


def _runner(placed: dict[tuple[Any, ...], Candidate], measure: Measuring) -> Any:
    """A runner of kernel_tuner that measures by our bench; it ends as `measure` does."""
    base = import_module("kernel_tuner.runners.runner").Runner
    failed = import_module("kernel_tuner.util").RuntimeFailedConfig

    class Runner(base):  # type: ignore[misc, valid-type]
        def get_device_info(self) -> None:
            """Nothing here asks for it."""

        def get_environment(self, tuning_options: Any) -> dict[str, Any]:
            return {}

        def run(self, parameter_space: Any, tuning_options: Any) -> list[dict[str, Any]]:
            results = []
            wanted = [placed[tuple(element)] for element in parameter_space]
            measure.ahead(wanted)
            for candidate in wanted:
                tuning_options["budget"].add_evaluations(1)
                time_us = measure(candidate)
                result: dict[str, Any] = dict(candidate.schedule)
                if isfinite(time_us):
                    result[_OBJECTIVE] = time_us
                else:
                    result["__error__"] = failed()
                results.append(result)
            return results

    return Runner()
