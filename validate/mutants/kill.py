"""Which mutants the host run notices: a balanced sample, run, and what became of each."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from validate.host.runner import RunResult
from validate.mutants.warp.draw import Mutant, mutants, mutated
from validate.statuses import RunStatus

Row = Mapping[str, Any]
Find = Callable[[Row], list[Mutant]]


@dataclass(frozen=True)
class Trial:
    """One mutant and what the host run said of it.

    `position` is the mutant's among its row's; `status` (a `RunStatus`) and `reason` are those of
    `RunResult`;
    `equivalent` is None until the optimised PTX has been compared; `promised`: right with the
    documented error of the fast function that it takes, so that the row's tolerance covers it.
    """

    row_id: str
    kernel_name: str
    category: str
    position: int
    operator: str
    column: str
    line: int
    before: str
    after: str
    status: str
    reason: str
    equivalent: bool | None = None
    promised: bool = False

    @property
    def counts(self) -> bool:
        """Whether the mutant is a wrong kernel: it compiles, is not known to be equivalent, and
        breaks what the row promises."""
        known = self.equivalent or self.promised
        return self.status != RunStatus.COMPILE_ERROR and not known

    @property
    def killed(self) -> bool:
        """Whether the host run noticed a mutant that counts."""
        return self.counts and self.status != RunStatus.AGREES


def sample_naturally(
    rows: Sequence[Row], per_row: int, seed: int, find: Find = mutants
) -> list[list[int]]:
    """Positions in `find(row)` to try: `per_row` of each row, each as likely as any other."""
    chosen = []
    for row in rows:
        count = len(find(row))
        stream = random.Random(f"{seed}/{row['id']}")
        chosen.append(sorted(stream.sample(range(count), min(per_row, count))))
    return chosen


def sample_evenly(rows: Sequence[Row], per_row: int, seed: int) -> list[list[int]]:
    """Positions in `mutants(row)` to try: `per_row` of each row, operators as even as can be.

    Of what a row offers, the operator is taken that was taken least in the row's category so far,
    and one of its mutants at random: the result depends on the rows and the seed alone.
    """
    taken: dict[str, Counter[str]] = {}
    chosen = []
    for row in rows:
        stream = random.Random(f"{seed}/{row['id']}")
        counts = taken.setdefault(row["category"], Counter())
        offered: dict[str, list[int]] = {}
        for position, mutant in enumerate(mutants(row)):
            offered.setdefault(mutant.operator, []).append(position)
        picked: list[int] = []
        while offered and len(picked) < per_row:
            operator = min(offered, key=lambda name: (counts[name], name))
            positions = offered[operator]
            picked.append(positions.pop(stream.randrange(len(positions))))
            counts[operator] += 1
            if not positions:
                del offered[operator]
        chosen.append(sorted(picked))
    return chosen


def try_mutants(
    rows: Sequence[Row],
    chosen: Sequence[Sequence[int]],
    run: Callable[[Sequence[Row]], list[RunResult]],
    find: Find = mutants,
) -> list[Trial]:
    """Run the chosen mutants of each row; `run` is that of a `HostRunner`, `find` finds mutants.

    Raises ValueError when a row itself does not agree: nothing is learned from its mutants.
    """
    every = [find(row) for row in rows]
    jobs = [(at, position) for at, picked in enumerate(chosen) for position in picked]
    wrong = [mutated(rows[at], every[at][position], position) for at, position in jobs]
    results = run([*rows, *wrong])
    for result in results[: len(rows)]:
        if result.status != RunStatus.AGREES:
            raise ValueError(f"row {result.id}: {result.status}: {result.reason}")
    return [
        _trial(rows[at], position, every[at][position], result.status, result.reason)
        for (at, position), result in zip(jobs, results[len(rows) :], strict=True)
    ]


def with_equivalents(
    trials: Sequence[Trial],
    rows: Sequence[Row],
    optimised_ptx: Callable[[Sequence[Row]], list[str | None]],
    find: Find = mutants,
) -> list[Trial]:
    """The trials, with `equivalent` told of those that agree: equal optimised PTX, nothing else.

    `rows` holds the row of every trial. A mutant that NVRTC refuses, though it ran, does
    not compile. Raises ValueError when a row has no PTX: then nothing can be said of it.
    """
    by_id = {row["id"]: row for row in rows}
    alive = [at for at, trial in enumerate(trials) if trial.status == RunStatus.AGREES]
    wrong = []
    for at in alive:
        row, position = by_id[trials[at].row_id], trials[at].position
        wrong.append(mutated(row, find(row)[position], position))
    originals = {trials[at].row_id: by_id[trials[at].row_id] for at in alive}
    texts = optimised_ptx([*originals.values(), *wrong])
    if None in texts[: len(originals)]:
        raise ValueError("a row that runs on the host has no PTX")
    ptx = dict(zip(originals, texts, strict=False))
    told = list(trials)
    for at, text in zip(alive, texts[len(originals) :], strict=True):
        if text is None:
            told[at] = replace(told[at], status=RunStatus.COMPILE_ERROR, reason="NVRTC refuses it")
        else:
            told[at] = replace(told[at], equivalent=text == ptx[told[at].row_id])
    return told


def _trial(row: Row, position: int, mutant: Mutant, status: str, reason: str) -> Trial:
    return Trial(
        row_id=row["id"],
        kernel_name=row["kernel_name"],
        category=row["category"],
        position=position,
        operator=mutant.operator,
        column=mutant.column,
        line=mutant.line,
        before=mutant.before,
        after=mutant.after,
        status=status,
        reason=reason,
    )
