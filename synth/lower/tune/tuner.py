"""One request tuned: candidates measured within a budget, each once, and the best."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf

from synth.errors import RunError, SettingsError
from synth.lower.choose.choice import Candidate, candidates, choose
from synth.lower.choose.request import Request, neighbours
from synth.lower.op import Lowered, OpSpec
from synth.lower.spec import Spec
from synth.lower.text import lower
from synth.lower.tune.bench import Bench
from synth.lower.tune.measured import (
    Measured,
    Measurement,
    best_of,
    measurement,
    measurement_id,
)
from synth.lower.tune.search import Search, by_model


class Spent(Exception):  # noqa: N818 - the budget, not an error
    """The budget is spent."""


@dataclass(frozen=True)
class Tuned:
    """`fresh` candidates were measured now, `kept` were known, `elsewhere` another process was at;
    `whole` says that nothing was left to try. `best` is of all that is known at these sizes."""

    request: Request
    best: Measurement | None
    untuned: Measurement | None
    fresh: int
    kept: int
    elsewhere: int
    whole: bool


@dataclass
class _Session:
    """What a search asks to be measured; what the index has is taken from there."""

    request: Request
    bench: Bench
    measured: Measured
    budget_s: float
    progress: Callable[[Measurement], None]
    texts: dict[str, Lowered] = field(default_factory=dict)
    fresh: int = 0
    kept: int = 0
    elsewhere: int = 0

    def ahead(self, listed: Sequence[Candidate]) -> None:
        """Have what is not known compiled meanwhile."""
        wanted = [one.spec for one in listed if self.measured.get(self.id_of(one.spec)) is None]
        self.bench.ahead([self.text(spec) for spec in wanted])

    def __call__(self, candidate: Candidate) -> float:
        name = self.id_of(candidate.spec)
        known = self.measured.get(name)
        if known is None:
            if self.bench.elapsed_s() >= self.budget_s:
                raise Spent
            if not self.measured.claim(name):
                known = self.measured.get(name)
                self.elsewhere += known is None
            else:
                return self._fresh(candidate)
        self.kept += known is not None
        return inf if known is None or known.time_us is None else known.time_us

    def _fresh(self, candidate: Candidate) -> float:
        spec, sizes = candidate.spec, self.request.chosen_for
        text = self.text(spec)
        try:
            outcome = self.bench.measure(spec, text, sizes)
        except BaseException:
            self.measured.release(self.id_of(spec))
            raise
        one = measurement(
            self.request, spec, text, self.bench, outcome, round(candidate.predicted_us, 2)
        )
        self.measured.add(one)
        self.fresh += 1
        self.progress(one)
        if outcome.fatal:
            raise RunError(
                f"the device broke off under {spec.key()[:16]} ({outcome.reason}), which is kept "
                "as such: run the same again to go on"
            )
        return inf if one.time_us is None else one.time_us

    def text(self, spec: OpSpec) -> Lowered:
        """The text of a candidate."""
        key = spec.key()
        if key not in self.texts:
            self.texts[key] = lower(spec)
        return self.texts[key]

    def id_of(self, spec: OpSpec) -> str:
        """The name of its measurement."""
        return measurement_id(spec, self.text(spec), self.request.chosen_for, self.bench)


def tune(
    request: Request,
    bench: Bench,
    measured: Measured,
    budget_s: float,
    search: Search = by_model,
    progress: Callable[[Measurement], None] = lambda one: None,
) -> Tuned:
    """Measure candidates of a request at its shape until the budget is spent or none is left.

    What `lower` would take without tuning is the first. What was measured before, by whatever
    process, is not measured again. Raises RunError where the device broke off.
    """
    if isinstance(request.first, Spec):
        raise SettingsError(
            f"--tune: {request.op} under a plain schedule is not tuned; leave the schedule out, or "
            "give one with core"
        )
    if request.sizes is None:
        raise SettingsError(f"--tune: say the shape, as {_example(request)}")
    session = _Session(request, bench, measured, budget_s, progress)
    listed, around = _space(request, bench.device)
    untuned = listed[0].spec
    try:
        search(listed, around, session)
        whole = True
    except Spent:
        whole = False
    known = _known(request, bench, measured)
    first = measured.get(session.id_of(untuned))
    counts = (session.fresh, session.kept, session.elsewhere)
    return Tuned(request, best_of(known), first, *counts, whole)


def _example(request: Request) -> str:
    return '"shape": ' + json.dumps(dict.fromkeys(request.first.sizes, 1024))


def _known(request: Request, bench: Bench, measured: Measured) -> list[Measurement]:
    """All that was measured of a request at its sizes by this device and compiler."""
    listed = measured.of(problem=request.key, device=bench.device)
    return [
        one
        for one in listed
        if one.sizes == request.chosen_for
        and one.compiler == bench.compiler
        and request.agrees(one.spec["schedule"])
    ]


def _space(request: Request, device: str) -> tuple[list[Candidate], _Around]:
    """What is tried, the untuned choice first, and what lies around a candidate."""
    around = _Around(request, device)
    own = choose(request, device).spec
    assert isinstance(own, OpSpec)
    first = around.candidate(own)
    rest = [one for one in candidates(request, device) if one.spec.key() != own.key()]
    return [first, *rest], around


@dataclass(frozen=True)
class _Around:
    request: Request
    device: str

    def candidate(self, spec: OpSpec) -> Candidate:
        """A spec with what the model says of it."""
        return Candidate(spec, self.request.cost_us(spec, self.device))

    def __call__(self, candidate: Candidate) -> list[Candidate]:
        found = []
        for schedule in neighbours(self.request, candidate.schedule):
            spec = self.request.under(schedule)
            assert isinstance(spec, OpSpec)
            found.append(self.candidate(spec))
        return sorted(found, key=lambda one: (one.predicted_us, one.spec.canonical()))
