"""Why a kernel is laid out as it is, in two to four sentences from the cost model's facts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from generators.program import ir
from generators.program.serialise import from_json
from synth.render.cuda.choose import Candidate, candidates_of
from synth.render.cuda.cost.device import H200
from synth.render.cuda.regime import bytes_of_arrays
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import styles
from synth.render.cuda.styles.threads import ONE_THREAD_A_POINT
from synth.views.regime import number
from synth.views.sizes import size_names
from validate.row.sizes import middle

Row = Mapping[str, Any]

LIMITS = {
    "memory": "the time goes to memory traffic",
    "cache": "the time goes to what the caches are asked for",
    "instructions": "the time goes to instructions",
    "atomics": "the time goes to atomics",
    "latency": "the time is what one thread takes from its start to its end",
}
_TELLS = 1.15
"""From which ratio on the model's times say that one schedule is slower than another."""


@dataclass(frozen=True)
class Choice:
    """A row's schedule among all that its program allows, each predicted at the middle of the
    row's regime; the quickest first."""

    program: ir.Program
    own: Candidate
    all: list[Candidate]
    sizes: Mapping[str, int]

    def ratio(self, other: Candidate) -> float:
        """How many times the row's own time another schedule takes."""
        return other.prediction.time_us / self.own.prediction.time_us


def choice_of(row: Row) -> Choice | None:
    """The choice that a row's schedule was; None where it was none: forced, or with no regime."""
    if not row["regime"]:
        return None
    program = from_json(row["program"])
    sizes = {span["symbol"]: middle(span["low"], span["high"]) for span in row["regime"]}
    wanted = replace(Schedule.from_json(row["schedule"]), limits="")
    listed = candidates_of(program, sizes)
    own = next((c for c in listed if replace(c.schedule, limits="") == wanted), None)
    return None if own is None else Choice(program, own, listed, sizes)


def reasons(row: Row) -> str:
    """What the time goes to, what the layout does about it, and what another would take."""
    schedule = json.loads(row["schedule"])
    if not schedule["limits"]:
        return ""
    choice, limits = choice_of(row), LIMITS[schedule["limits"]]
    told = [_at_sizes(row, choice, limits) if choice else f"At these sizes {limits}."]
    if because := styles()[schedule["style"]].because:
        told.append(f"{because[0].upper()}{because[1:]}.")
    if choice and (other := _compared(choice)):
        told.append(other)
    return " ".join(told)


def _at_sizes(row: Row, choice: Choice, limits: str) -> str:
    names = size_names(row)
    middles = {names.get(s, s): number(n) for s, n in choice.sizes.items()}
    sizes = ", ".join(f"{name} = {n}" for name, n in middles.items())
    held = bytes_in_words(bytes_of_arrays(choice.program, choice.sizes))
    time = rounded(choice.own.prediction.time_us)
    return (
        f"At {sizes} the arrays hold {held}, and {limits}: about {time} µs by a cost model of the "
        f"{H200.name}."
    )


def _compared(choice: Choice) -> str:
    """The plain layout beside one that is not; beside the plain one the best of the others."""
    others = [c for c in choice.all if c.schedule.style != choice.own.schedule.style]
    plain = [c for c in others if c.schedule.style == ONE_THREAD_A_POINT]
    other = next(iter(plain or others), None)
    if other is None or not (called := styles()[other.schedule.style].called):
        return ""
    subject, ratio = f"{called[0].upper()}{called[1:]}", choice.ratio(other)
    if ratio >= _TELLS:
        return f"{subject} would take about {rounded(ratio)} times as long."
    return f"{subject} would be about as quick." if ratio > 1 / _TELLS else ""


def rounded(value: float) -> str:
    """Two digits that count: ``1.4``, ``12``, ``390``."""
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 9.5 else f"{value:.2g}"


def bytes_in_words(count: int) -> str:
    """``96 MB``, in powers of 1,000."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{rounded(count / size)} {unit}"
    return f"{count} bytes"
