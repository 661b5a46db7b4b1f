"""A program as the CUDA C++ that an engineer would write: a kernel or several, nothing but CUDA."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from generators.build.docs import THREAD_A_ROW
from generators.program import ir
from generators.program.joins import named
from synth.render.cuda.choose import schedule_for
from synth.render.cuda.device import collective, random, rigid, spatial
from synth.render.cuda.dialect.current import speaking
from synth.render.cuda.dialect.table import Dialect
from synth.render.cuda.dialect.words import CUDA
from synth.render.cuda.find.owned import settled
from synth.render.cuda.kernel import KernelText, Stage
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import styles
from synth.render.cuda.styles.threads import ONE_THREAD_A_POINT
from validate.row.columns import PLAIN_COLUMNS
from validate.text.launches import FORMULA

REGISTERED = (collective, random, rigid, spatial)
"""Modules that register device functions when they are imported."""


@dataclass(frozen=True)
class Plain:
    """The text, what its kernels are passed (name, C++ type and, after those of the program, the
    size symbol that is to be passed), scratch memory, and launches in order, by size symbols."""

    text: str
    args: list[dict[str, str | None]]
    scratch: list[dict[str, str]]
    launches: list[dict[str, Any]]
    schedule: Schedule

    def columns(self) -> dict[str, Any]:
        """The columns of a row that hold plain CUDA."""
        values = (self.text, self.args, self.scratch, self.launches, self.schedule.to_json())
        return dict(zip(PLAIN_COLUMNS, values, strict=True))


def render(program: ir.Program, schedule: Schedule | None = None, dialect: Dialect = CUDA) -> Plain:
    """The plain CUDA of a program under a schedule, by default the one drawn for it; or the same
    in another dialect: :class:`NoForm` where it has no text there."""
    program = named(settled(program))
    schedule = schedule or schedule_for(program)
    with speaking(dialect):
        return _rendered(program, schedule)


def _rendered(program: ir.Program, schedule: Schedule) -> Plain:
    if schedule.style != ONE_THREAD_A_POINT:
        program = _without_thread_a_row(program)
    text = KernelText(program, schedule)
    functions = [line for f in program.functions for line in text.function(f)]
    written = styles()[schedule.style].write(text)
    params = text.params()
    stages = [Stage(program.kernel.name, written.lines, written.grid, written.passed)]
    stages += written.then
    taken = [_params(text, stage, len(stages) > 1) for stage in stages]
    lines = [
        line
        for stage, own in zip(stages, taken, strict=True)
        for line in [*text.signature(own, stage.name), "{", *stage.lines, "}", ""]
    ]
    whole = "\n".join([*text.head(), *functions, *written.functions, *lines])
    own: list[str | None] = [None] * len(program.kernel.params)
    args: list[dict[str, str | None]] = [
        {"name": name, "type": kind, "size": size}
        for (name, kind), size in zip(params, [*own, *text.used_symbols], strict=True)
    ]
    launches = [_launch(stage, own, schedule) for stage, own in zip(stages, taken, strict=True)]
    scratch = [{**asdict(entry), "init": "none"} for entry in written.scratch]
    return Plain(whole, args, scratch, launches, schedule)


def _without_thread_a_row(program: ir.Program) -> ir.Program:
    """The program without the comment that says what one thread has."""
    body = program.kernel.body
    if not (isinstance(body[0], ir.Comment) and body[0].text.startswith(THREAD_A_ROW)):
        return program
    return replace(program, kernel=replace(program.kernel, body=body[1:]))


def _params(text: KernelText, stage: Stage, several: bool) -> list[tuple[str, str]]:
    """Name and type of what a kernel takes: all of the program's, or of several each what it
    uses."""
    words = set(re.findall(r"\w+", "\n".join(stage.lines)))
    used = [(name, kind) for name, kind in text.params() if not several or name in words]
    return [*used, *((passed.name, passed.kind) for passed in stage.passed)]


def _launch(stage: Stage, params: Sequence[tuple[str, str]], schedule: Schedule) -> dict[str, Any]:
    formulas = {p.name: f"{FORMULA}{p.formula}" for p in stage.passed if p.formula}
    return {
        "kernel": stage.name,
        "args": [formulas.get(name, name) for name, _ in params],
        "grid": stage.grid,
        "block": list(schedule.block),
        "shared_bytes": 0,
    }
