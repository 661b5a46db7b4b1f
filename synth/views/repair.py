"""Rows of the ``repair`` view: a wrong kernel, what a compiler or a run says of it, the right one.

A quarter of the rows get a text that NVRTC refuses, the others one that compiles and is caught in a
run on inputs that the row does not show, as an answer is judged. What no check catches is not used,
and a row whose own kernel does not pass the same run has no repair. Some rows get a version with a
second fault as well, which is found first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from synth.views.evidence import CAUGHT, evidence, evidence_of
from synth.views.plain import pick
from synth.views.wrong import Candidate, Wrong, faults_in_turn, slips_in_turn
from validate.mutants.breaks import plain_breaks
from validate.mutants.plain.draw import plain_mutants
from validate.nvrtc.compiler import CompileRunner
from validate.score.scorer import Answer, Scorer, Verdict
from validate.statuses import CompileStatus, ScoreStatus

Row = Mapping[str, Any]

_ONE_IN = 4
"""Of so many rows one gets a text that does not compile."""
TURNS = (1, 1, 2, 3)
"""How many answers a conversation has, the right one included: of so many rows one each."""

_TRIES = 6
HIDDEN_SEED = 8_271_828
"""Of the inputs that wrong kernels fail on; the same for all who make views."""

_OUTSIDE = (ScoreStatus.WROTE_OUT_OF_BOUNDS, ScoreStatus.READ_OUT_OF_BOUNDS)
_Left = dict[int, list[Candidate]]


def turns_of(row: Row) -> int:
    """How many answers the conversation of a row has, where faults enough are caught."""
    return TURNS[pick(row, "repair/turns", len(TURNS))]


class Faults:
    """Finds wrong kernels; keeps the child processes that compile and run. A context manager."""

    def __init__(self) -> None:
        # One text a program: most are refused, and a batch would be compiled again in halves.
        self._compiler = CompileRunner(batch_size=1)
        self._scorer = Scorer(hidden_seed=HIDDEN_SEED)

    def __enter__(self) -> Faults:
        return self

    def __exit__(self, *exc: object) -> None:
        self._compiler.close()
        self._scorer.close()

    def wrong_kernels(self, rows: Sequence[Row], chains: bool = False) -> list[Wrong | None]:
        """One for each row; None where none was caught, or the right kernel does not pass. With
        ``chains`` those of conversations of three answers have a worse one."""
        fit = [at for at, row in enumerate(rows) if row["cuda_plain"] is not None]
        passing = _passing(self._scorer, rows, fit)
        broken = [at for at in fit if pick(rows[at], "repair/kind", _ONE_IN) == 0]
        slips = {at: slips_in_turn(rows[at], plain_breaks(rows[at])) for at in broken}
        found = {at: one for at, one in self._refused(rows, slips).items() if at in passing}
        rest = sorted(passing - {*found})
        found |= self._caught(rows, {at: faults_in_turn(rows[at]) for at in rest})
        if chains:
            worse = self._worse(rows, found)
            found |= {at: replace(found[at], worse=one) for at, one in worse.items()}
        return [found.get(at) for at in range(len(rows))]

    def _worse(self, rows: Sequence[Row], found: Mapping[int, Wrong]) -> dict[int, Wrong]:
        """Versions with a second fault, of those rows whose conversations are to have three
        answers: every second one a slip that a compiler sees."""
        wrong = {
            at: one.columns(rows[at])
            for at, one in found.items()
            if turns_of(rows[at]) == max(TURNS) and one.failure != ScoreStatus.COMPILE_ERROR
        }
        texts = [wrong.get(at, row) for at, row in enumerate(rows)]
        slips, faults = _Left(), _Left()
        for at, row in wrong.items():
            if pick(row, "repair/worse", 2):
                slips[at] = slips_in_turn(row, plain_breaks(row))
            else:
                listed = slips_in_turn(row, plain_mutants(row))
                faults[at] = [c for c in listed if c.text != rows[at]["cuda_plain"]]
        made = self._refused(texts, slips) | self._caught(texts, faults)
        return {at: one for at, one in made.items() if one.evidence != found[at].evidence}

    def _refused(self, rows: Sequence[Row], left: _Left) -> dict[int, Wrong]:
        """The first text of each row that NVRTC refuses, with its log."""
        found: dict[int, Wrong] = {}
        while left := {at: candidates for at, candidates in left.items() if candidates}:
            tried = {at: candidates.pop(0) for at, candidates in left.items()}
            texts = [{**rows[at], "cuda_plain": one.text} for at, one in tried.items()]
            for at, result in zip(tried, self._compiler.compile_plain(texts), strict=True):
                if result.status == CompileStatus.COMPILE_ERROR and "): error" in result.log:
                    refused = ScoreStatus.COMPILE_ERROR
                    said = evidence(rows[at], refused, result.log)
                    found[at] = Wrong(tried[at].text, tried[at].operator, refused, said)
                    del left[at]
        return found

    def _caught(self, rows: Sequence[Row], left: _Left) -> dict[int, Wrong]:
        """The first version of each row of some that a run catches."""
        found: dict[int, Wrong] = {}
        left = dict(left)
        for _ in range(_TRIES):
            tried = {at: candidates.pop(0) for at, candidates in left.items() if candidates}
            if not tried:
                break
            answers = [
                Answer(one.text, rows[at], one.answer_launch(rows[at])) for at, one in tried.items()
            ]
            for at, verdict in zip(tried, self._scorer.score_batch(answers), strict=True):
                if wrong := _wrong(rows[at], tried[at], verdict):
                    found[at] = wrong
                    del left[at]
        return found


def _passing(scorer: Scorer, rows: Sequence[Row], chosen: Sequence[int]) -> set[int]:
    """Those of the rows whose own plain CUDA passes."""
    verdicts = scorer.score_batch([Answer(rows[at]["cuda_plain"], rows[at]) for at in chosen])
    return {at for at, verdict in zip(chosen, verdicts, strict=True) if verdict.passed}


def _wrong(row: Row, candidate: Candidate, verdict: Verdict) -> Wrong | None:
    """The candidate, when the verdict names a fault, and would name the same each time."""
    if verdict.status in _OUTSIDE and _may_run_wild(row):
        return None
    if verdict.status not in CAUGHT:
        return None
    said = evidence_of(row, verdict)
    return Wrong(candidate.text, candidate.operator, verdict.status, said, candidate.launches)


def _may_run_wild(row: Row) -> bool:
    """Whether an element that is read outside an array may become an index.

    Then the first access outside is noticed, or what follows crashes the process or takes for ever,
    as memory happens to lie. None of that is used: rows must not depend on it.
    """
    arrays = (arg for arg in row["args"] if arg["kind"] == "array")
    return "cast" in row["ops"] or any("int" in arg["dtype"] for arg in arrays)
