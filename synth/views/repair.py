"""Rows of the ``repair`` view: a wrong kernel, what a compiler or a run says of it, the right one.

A quarter of the rows get a text that NVRTC refuses, the others one that compiles and is caught in a
run on inputs that the row does not show, as an answer is judged. What no check catches is not used,
and a row whose own kernel does not pass the same run has no repair.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from synth.views.evidence import CAUGHT, evidence, evidence_of
from synth.views.plain import pick
from synth.views.tidy import tidied
from validate.mutants.breaks import plain_breaks
from validate.mutants.plain.draw import BARRIER, PRECISION, plain_mutants
from validate.mutants.warp.draw import RACE, Mutant
from validate.nvrtc.compiler import CompileRunner
from validate.score.scorer import Answer, Scorer, Verdict
from validate.statuses import CompileStatus, ScoreStatus

Row = Mapping[str, Any]

_ONE_IN = 4
"""Of so many rows one gets a text that does not compile."""

_TRIES = 6
HIDDEN_SEED = 8_271_828
"""Of the inputs that wrong kernels fail on; the same for all who make views."""

_OUTSIDE = (ScoreStatus.WROTE_OUT_OF_BOUNDS, ScoreStatus.READ_OUT_OF_BOUNDS)


@dataclass(frozen=True)
class Wrong:
    """A wrong version of a row's plain CUDA.

    ``fault`` names the edit, ``failure`` is the verdict (`compile_error` or another
    `validate.statuses.ScoreStatus`), ``evidence`` what was said of it.
    """

    text: str
    fault: str
    failure: str
    evidence: str


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

    def wrong_kernels(self, rows: Sequence[Row]) -> list[Wrong | None]:
        """One for each row; None where none was caught, or the right kernel does not pass."""
        fit = [at for at, row in enumerate(rows) if row["cuda_plain"] is not None]
        broken = [at for at in fit if pick(rows[at], "repair/kind", _ONE_IN) == 0]
        passing = _passing(self._scorer, rows, fit)
        refused = dict(_refused(self._compiler, rows, broken))
        found = {at: wrong for at, wrong in refused.items() if at in passing}
        rest = sorted(passing - {*found})
        left = {at: _in_turn(rows[at], plain_mutants(rows[at])) for at in rest}
        for _ in range(_TRIES):
            tried = {at: mutants.pop(0) for at, mutants in left.items() if mutants}
            if not tried:
                break
            answers = [Answer(mutant.text, rows[at]) for at, mutant in tried.items()]
            for at, verdict in zip(tried, self._scorer.score_batch(answers), strict=True):
                if wrong := _caught(rows[at], tried[at], verdict):
                    found[at] = wrong
                    del left[at]
        return [found.get(at) for at in range(len(rows))]


_NOBODY_WRITES = ("accumulator_narrowed", "last_store_skipped")
"""Faults of which the text could not be anybody's: bits of a sum masked out, a store
under a guard of its own."""
_OF_GPUS = frozenset(
    {
        *PRECISION,
        *(BARRIER, RACE, "shuffle_offset_halved", "shuffle_mask_wrong", "half_off_by_one"),
        *("tile_guard_dropped", "lane_guard_removed", "index_shifted", "identity_wrong"),
    }
)
"""Faults of barriers, races, lanes, indices and precision."""


def _in_turn(row: Row, mutants: Sequence[Mutant]) -> list[Mutant]:
    """One mutant of each operator, operators and mutants in an order of the row's own; of every
    second row those first that only parallel code has, so that they come to about a quarter."""

    def order(*what: str) -> str:
        return hashlib.sha256("/".join((row["id"], *what)).encode()).hexdigest()

    ours: dict[str, Mutant] = {}
    for mutant in sorted(mutants, key=lambda m: order(m.operator, m.text)):
        is_new = mutant.operator not in ours and mutant.operator not in _NOBODY_WRITES
        text = tidied(mutant) if is_new else None
        if text is not None and text != row["cuda_plain"]:
            ours[mutant.operator] = replace(mutant, text=text)
    first = _OF_GPUS if pick(row, "repair/gpu", 2) else frozenset()
    return [ours[name] for name in sorted(ours, key=lambda name: (name not in first, order(name)))]


def _refused(
    compiler: CompileRunner, rows: Sequence[Row], chosen: Sequence[int]
) -> Iterator[tuple[int, Wrong]]:
    """Texts that NVRTC refuses, with its log."""
    left = {at: _in_turn(rows[at], plain_breaks(rows[at])) for at in chosen}
    while left := {at: mutants for at, mutants in left.items() if mutants}:
        tried = {at: mutants.pop(0) for at, mutants in left.items()}
        texts = [{**rows[at], "cuda_plain": mutant.text} for at, mutant in tried.items()]
        for at, result in zip(tried, compiler.compile_plain(texts), strict=True):
            if result.status == CompileStatus.COMPILE_ERROR and "): error" in result.log:
                mutant, refused = tried[at], ScoreStatus.COMPILE_ERROR
                said = evidence(rows[at], refused, result.log)
                yield at, Wrong(mutant.text, mutant.operator, refused, said)
                del left[at]


def _passing(scorer: Scorer, rows: Sequence[Row], chosen: Sequence[int]) -> set[int]:
    """Those of the rows whose own plain CUDA passes."""
    verdicts = scorer.score_batch([Answer(rows[at]["cuda_plain"], rows[at]) for at in chosen])
    return {at for at, verdict in zip(chosen, verdicts, strict=True) if verdict.passed}


def _caught(row: Row, mutant: Mutant, verdict: Verdict) -> Wrong | None:
    """The mutant, when the verdict names a fault, and would name the same each time."""
    if verdict.status in _OUTSIDE and _may_run_wild(row):
        return None
    if verdict.status not in CAUGHT:
        return None
    return Wrong(mutant.text, mutant.operator, verdict.status, evidence_of(row, verdict))


def _may_run_wild(row: Row) -> bool:
    """Whether an element that is read outside an array may become an index.

    Then the first access outside is noticed, or what follows crashes the process or takes for ever,
    as memory happens to lie. None of that is used: rows must not depend on it.
    """
    arrays = (arg for arg in row["args"] if arg["kind"] == "array")
    return "cast" in row["ops"] or any("int" in arg["dtype"] for arg in arrays)
