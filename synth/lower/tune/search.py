"""In which order schedules are tried: by the cost model, and around the best so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Protocol

from synth.lower.choose.choice import Candidate

FIRST = 16
"""Candidates by the model before the first look around the best."""


class Measuring(Protocol):
    """What a search is given. It ends by an exception where the budget is spent."""

    def ahead(self, listed: Sequence[Candidate]) -> None:
        """What will be asked for next."""

    def __call__(self, candidate: Candidate) -> float:
        """Microseconds of a candidate, infinite where it does not pass or is another's to try."""


Around = Callable[[Candidate], Sequence[Candidate]]
"""Legal candidates that differ from one in a field, the cheapest by the model first."""
Search = Callable[[Sequence[Candidate], Around, Measuring], None]


def by_model(listed: Sequence[Candidate], around: Around, measure: Measuring) -> None:
    """The cheapest by the model, then the neighbours of the best, then the next cheapest, and so
    on until all were tried that either gives."""
    times: dict[str, float] = {}
    looked: set[str] = set()
    known: dict[str, Candidate] = {}

    def try_all(some: Sequence[Candidate]) -> None:
        fresh = [one for one in some if one.spec.key() not in times]
        measure.ahead(fresh)
        for one in fresh:
            known[one.spec.key()] = one
            times[one.spec.key()] = measure(one)

    def climb() -> None:
        """Look around the best as long as that finds a better one."""
        while times and min(times.values()) < inf:
            best = min(times, key=lambda key: (times[key], key))
            if best in looked:
                return
            looked.add(best)
            try_all(around(known[best]))

    for start in range(0, len(listed), FIRST):
        try_all(listed[start : start + FIRST])
        climb()
