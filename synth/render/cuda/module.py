"""A program as the CUDA C++ that an engineer would write: one kernel, nothing but CUDA itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from generators.program import ir
from synth.render.cuda.choose import schedule_for
from synth.render.cuda.device import collective, random, rigid, spatial
from synth.render.cuda.kernel import KernelText
from synth.render.cuda.owned import settled
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import styles
from validate.row.columns import PLAIN_COLUMNS

REGISTERED = (collective, random, rigid, spatial)
"""Modules that register device functions when they are imported."""


@dataclass(frozen=True)
class Plain:
    """The text, its parameters in order (name, C++ type and, after those of the program, the size
    symbol that is to be passed), and the launch that it needs, by size symbols."""

    text: str
    args: list[dict[str, str | None]]
    launch: dict[str, Any]
    schedule: Schedule

    def columns(self) -> dict[str, Any]:
        """The columns of a row that hold plain CUDA."""
        values = (self.text, self.args, self.launch, self.schedule.to_json())
        return dict(zip(PLAIN_COLUMNS, values, strict=True))


def render(program: ir.Program, schedule: Schedule | None = None) -> Plain:
    """The plain CUDA of a program under a schedule, by default the one drawn for it."""
    program = settled(program)
    schedule = schedule or schedule_for(program)
    text = KernelText(program, schedule)
    functions = [line for f in program.functions for line in text.function(f)]
    written = styles()[schedule.style].write(text)
    params = text.params()
    lines = [*text.signature(params), "{", *written.lines, "}"]
    whole = "\n".join([*text.head(), *functions, *written.functions, *lines, ""])
    own: list[str | None] = [None] * len(program.kernel.params)
    args: list[dict[str, str | None]] = [
        {"name": name, "type": kind, "size": size}
        for (name, kind), size in zip(params, [*own, *text.used_symbols], strict=True)
    ]
    launch = {"grid": written.grid, "block": list(schedule.block), "shared_bytes": 0}
    return Plain(whole, args, launch, schedule)
