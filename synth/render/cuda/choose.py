"""Which schedule a program gets: drawn from its seed among those that are legal, or asked for."""

from __future__ import annotations

from dataclasses import replace

from generators.build.draw import Stream
from generators.program import ir
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import styles


def schedules_of(program: ir.Program) -> dict[str, list[Schedule]]:
    """Every legal schedule of a program, by style; styles that it has no form in are not there."""
    found = {name: list(style.schedules(program)) for name, style in styles().items()}
    return {
        name: [replace(s, launch_bounds=s.launch_bounds or s.is_large) for s in listed]
        for name, listed in found.items()
        if listed
    }


def schedule_for(program: ir.Program, style: str = "") -> Schedule:
    """A schedule drawn for a program from its seed; ``style`` forces one of the styles.

    Larger blocks come with launch bounds: the compiler then keeps to registers that there are for
    all their threads. ``ValueError`` where the kernel has no form of that style.
    """
    choices = schedules_of(program)
    if style and style not in choices:
        raise ValueError(
            f"the kernel has no form in the style {style!r}; it has {', '.join(choices)}"
        )
    stream = Stream(f"{program.input_seed}/schedule")
    drawn = stream.weighted(dict.fromkeys(choices, 100))
    return stream.choice(choices[style or drawn])


def check_schedule(program: ir.Program, schedule: Schedule) -> None:
    """``ValueError`` with what is allowed where a kernel cannot be laid out in that way."""
    known = styles()
    if schedule.style not in known:
        raise ValueError(f"style {schedule.style!r}: one of {', '.join(known)}")
    style = known[schedule.style]
    if not style.schedules(program):
        choices = ", ".join(schedules_of(program))
        raise ValueError(f"the kernel has no form in the style {style.name!r}; it has {choices}")
    style.allows(program, schedule)
