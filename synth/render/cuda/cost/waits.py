"""What the threads of a launch wait for, one thing after another."""

from __future__ import annotations

from synth.render.cuda.cost.access import LOAD
from synth.render.cuda.cost.atomics import shuffles
from synth.render.cuda.cost.launch import Launch

_OVERLAP = 4.0
"""Loads that a loop of one thread has under way."""
_FETCHED_AT_ONCE = 16.0
"""Loads of a piece of rows that one thread has under way."""
_MOST_SERVED = 16.0
_SHUFFLE_STEPS = 10.0


def waits(launch: Launch) -> dict[str, float]:
    """What one thread does after another, in all waves."""
    group, plan = launch.group, launch.plan
    points = max(1.0, 1.0 / max(plan.threads_an_element, 1e-3))
    if plan.in_turn:
        points = min(
            points, max(1.0, launch.facts.points / (launch.blocks * launch.schedule.threads))
        )
    # Points side by side share their waits, but not the turns of loops: these stay in a row, unless
    # each turn is of all points.
    beside = points / plan.independent
    steps = 0.0
    for work in launch.facts.work:
        turns = beside if plan.register_reuse > 1.0 or not work.loops else points
        steps += work.count * launch.repeated(work.loops) / group * turns
    stored = {
        (a.array, a.loops[-1].node) for a in launch.facts.accesses if a.loops and a.kind != LOAD
    }
    straight, looped, served = 0.0, 0.0, plan.served
    for access in launch.facts.accesses:
        if access.kind != LOAD:
            continue
        reads = served.get(access.array, 1.0)
        each = launch.repeated(access.loops) / group / min(reads, _MOST_SERVED)
        times = access.times * each
        if access.loops:
            again = (access.array, access.loops[-1].node) in stored
            under_way = _FETCHED_AT_ONCE if launch.is_fetched(access) else _OVERLAP
            looped += times / (1.0 if access.moves.led_by or again else under_way)
        else:
            # Its neighbours come with an element, and are in a cache when they are asked for.
            straight += access.once * each / _OVERLAP
    misses = max(min(1.0, straight * _OVERLAP), straight) * beside
    waves = launch.in_waves
    return {
        "steps": (steps + _SHUFFLE_STEPS * shuffles(launch) + plan.instructions) * waves,
        "misses": misses * launch.waves * launch.kept_by_the_last,
        "loads": looped * points * waves + plan.loads,
        "barriers": plan.barriers * waves,
    }
