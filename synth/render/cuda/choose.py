"""Which schedule a program gets: one of those predicted to be quickest at its regime."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from generators.build.draw import Stream
from generators.program import ir
from generators.program.joins import named
from generators.program.serial import serial
from synth.render.cuda.cost.facts import facts_of
from synth.render.cuda.cost.predict import Prediction, predict
from synth.render.cuda.find.owned import settled
from synth.render.cuda.regime import middle_sizes
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import fitting, styles

AS_GOOD = 1.25
"""Schedules whose predicted time is within this factor of the best are drawn from."""
_PREFERENCE = 6.0
"""The power of a prediction by which quicker styles are drawn more often."""


@dataclass(frozen=True)
class Candidate:
    """A legal schedule and what is predicted of it."""

    schedule: Schedule
    prediction: Prediction


def schedules_of(program: ir.Program) -> dict[str, list[Schedule]]:
    """Every legal schedule of a program, by style; styles that it has no form in are not there.

    Larger blocks come with launch bounds: the compiler then keeps to registers that there are for
    all their threads.
    """
    program = named(settled(program))
    found = {name: list(style.schedules(program)) for name, style in fitting(program).items()}
    return {
        name: [replace(s, launch_bounds=s.launch_bounds or s.is_large) for s in listed]
        for name, listed in found.items()
        if listed
    }


def candidates_of(program: ir.Program, sizes: Mapping[str, int]) -> list[Candidate]:
    """Every legal schedule with its prediction at sizes by symbol, the quickest first."""
    program = named(settled(program))
    facts, known = facts_of(serial(program), sizes), styles()
    found = []
    for name, listed in schedules_of(program).items():
        for schedule in listed:
            plan = known[name].plan(program, schedule, sizes)
            found.append(Candidate(schedule, predict(facts, plan, schedule)))
    return sorted(found, key=lambda c: c.prediction.time_us)


def schedule_for(program: ir.Program, style: str = "") -> Schedule:
    """The schedule of a program: drawn from its seed among those that are predicted to be about as
    quick as the quickest in the middle of its regime.

    ``style`` forces one of the styles. ``ValueError`` where the kernel has no form of it.
    """
    candidates = candidates_of(program, middle_sizes(program))
    if style:
        choices = list(dict.fromkeys(c.schedule.style for c in candidates))
        candidates = [c for c in candidates if c.schedule.style == style]
        if not candidates:
            raise ValueError(
                f"the kernel has no form in the style {style!r}; it has {', '.join(choices)}"
            )
    best = candidates[0].prediction.time_us
    good = [c for c in candidates if c.prediction.time_us <= AS_GOOD * best]
    stream = Stream(f"{program.input_seed}/schedule")
    weights: dict[str, int] = {}
    for c in good:
        weight = 1 + round(100 * (best / c.prediction.time_us) ** _PREFERENCE)
        weights.setdefault(c.schedule.style, weight)
    chosen = stream.weighted(weights)
    drawn = stream.choice([c for c in good if c.schedule.style == chosen])
    return replace(drawn.schedule, limits=drawn.prediction.limits)


def check_schedule(program: ir.Program, schedule: Schedule) -> None:
    """``ValueError`` with what is allowed where a kernel cannot be laid out in that way."""
    known = styles()
    if schedule.style not in known:
        raise ValueError(f"style {schedule.style!r}: one of {', '.join(known)}")
    style, program = known[schedule.style], named(settled(program))
    if style.name not in fitting(program) or not style.schedules(program):
        choices = ", ".join(schedules_of(program))
        raise ValueError(f"the kernel has no form in the style {style.name!r}; it has {choices}")
    style.allows(program, schedule)
