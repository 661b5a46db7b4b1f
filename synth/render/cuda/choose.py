"""Which schedule a program gets: one of those predicted to be quickest at its regime."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil, inf

from generators.build.draw import Stream
from generators.program import ir
from generators.program.joins import named
from generators.program.serial import serial
from synth.render.cuda.cost.facts import facts_of
from synth.render.cuda.cost.predict import Prediction, predict
from synth.render.cuda.find.owned import settled
from synth.render.cuda.regime import MOST_BLOCKS_YZ, highest_sizes, upper_sizes
from synth.render.cuda.schedule import BLOCKS, Schedule
from synth.render.cuda.style import fitting, styles
from synth.render.cuda.styles.threads import ONE_THREAD_A_POINT
from validate.row.sizes import evaluate_all

AS_GOOD = 1.25
"""Schedules whose predicted time is within this factor of the best are drawn from."""
_GAIN = 0.95
"""Of the time that threads alone take, what threads that work together may take at most."""
_PREFERENCE = 48.0
"""The power of a prediction by which quicker styles, and of a style quicker schedules, are drawn
more often: what is 5 % slower, a tenth as often."""


@dataclass(frozen=True)
class Candidate:
    """A legal schedule and what is predicted of it."""

    schedule: Schedule
    prediction: Prediction
    joint: bool
    """Whether threads work together: share memory, shuffle or join what they write."""


def schedules_of(program: ir.Program) -> dict[str, list[Schedule]]:
    """Every legal schedule of a program, by style; styles that it has no form in are not there.

    Larger blocks come with launch bounds: the compiler then keeps to registers that there are for
    all their threads.
    """
    program = named(settled(program))
    extents = evaluate_all(program.kernel.launch_dim, highest_sizes(program))[::-1]
    found = {
        name: [
            replace(s, launch_bounds=s.launch_bounds or s.is_large)
            for s in style.schedules(program)
            if _has_grid(s, extents)
        ]
        for name, style in fitting(program).items()
    }
    if not any(found.values()) and ONE_THREAD_A_POINT in found:
        found[ONE_THREAD_A_POINT] = [Schedule(ONE_THREAD_A_POINT, BLOCKS[1][1])]
    return {name: listed for name, listed in found.items() if listed}


def _has_grid(schedule: Schedule, extents: tuple[int, ...]) -> bool:
    """Whether a device takes as many blocks along y and z as the launch needs."""
    along = zip(extents[1:], schedule.block[1:], strict=False)
    return all(ceil(extent / block) <= MOST_BLOCKS_YZ for extent, block in along)


def candidates_of(
    program: ir.Program, sizes: Mapping[str, int], also: Schedule | None = None
) -> list[Candidate]:
    """Every legal schedule with its prediction at sizes by symbol, the quickest first. ``also``: a
    schedule of a style that the program has, whose blocks may be those for another regime."""
    program = named(settled(program))
    found = [
        schedule
        for name, listed in schedules_of(program).items()
        for schedule in dict.fromkeys((*listed, *([also] if also and also.style == name else [])))
    ]
    return _predicted(program, found, sizes)


def _predicted(
    program: ir.Program, schedules: Iterable[Schedule], sizes: Mapping[str, int]
) -> list[Candidate]:
    """Schedules of a program whose joins have names, with predictions, the quickest first."""
    facts, known = facts_of(serial(program), sizes), styles()
    found = []
    for schedule in schedules:
        plan = known[schedule.style].plan(program, schedule, sizes)
        found.append(Candidate(schedule, predict(facts, plan, schedule), plan.joint))
    return sorted(found, key=lambda c: c.prediction.time_us)


def schedule_for(program: ir.Program, style: str = "") -> Schedule:
    """The schedule of a program: drawn from its seed among those that are predicted to be about as
    quick as the quickest at the larger sizes of its regime, and of those also at its largest.

    ``style`` forces one of the styles. ``ValueError`` where the kernel has no form of it.
    """
    candidates = candidates_of(program, upper_sizes(program))
    if style:
        choices = list(dict.fromkeys(c.schedule.style for c in candidates))
        candidates = [c for c in candidates if c.schedule.style == style]
        if not candidates:
            raise ValueError(
                f"the kernel has no form in the style {style!r}; it has {', '.join(choices)}"
            )
    good = _worth_it(program, candidates)
    stream = Stream(f"{program.input_seed}/schedule")
    by_style: dict[str, list[Candidate]] = {}
    for c in good:
        by_style.setdefault(c.schedule.style, []).append(c)
    least_us = good[0].prediction.time_us
    style = stream.weighted({name: _weight(of[0], least_us) for name, of in by_style.items()})
    listed = by_style[style]
    drawn = listed[stream.weighted({k: _weight(c, least_us) for k, c in enumerate(listed)})]
    return replace(drawn.schedule, limits=drawn.prediction.limits)


def _weight(candidate: Candidate, least_us: float) -> int:
    """How often a schedule is drawn, beside one that takes the least time."""
    return 1 + round(100 * (least_us / candidate.prediction.time_us) ** _PREFERENCE)


def _worth_it(program: ir.Program, candidates: list[Candidate]) -> list[Candidate]:
    """Those about as quick as the quickest, at the larger sizes and at the largest. Threads work
    together only where that is quicker, at one of the two, than what threads do alone: nobody
    writes the longer kernel for nothing."""
    near = _as_good(candidates)
    if len({c.schedule.style for c in near}) == 1:
        return near
    listed = [c.schedule for c in near]
    ends = _predicted(named(settled(program)), listed, highest_sizes(program))
    stay = {c.schedule for c in _as_good(ends)}
    gaining = {c.schedule for found in (candidates, ends) for c in _gaining(found)}
    return [c for c in near if c.schedule in stay & gaining] or near[:1]


def _as_good(candidates: list[Candidate]) -> list[Candidate]:
    most = AS_GOOD * candidates[0].prediction.time_us
    return [c for c in candidates if c.prediction.time_us <= most]


def _gaining(candidates: list[Candidate]) -> list[Candidate]:
    alone = min((c.prediction.time_us for c in candidates if not c.joint), default=inf)
    return [c for c in candidates if not c.joint or c.prediction.time_us <= _GAIN * alone]


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
