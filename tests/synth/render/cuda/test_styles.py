"""Every style of plain CUDA, forced on programs that have a form in it: it agrees on the host."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from drawn_programs import FEWEST, fitting_in, programs_of_all_levels
from sweeps import part_of

from generators.program import ir
from generators.program.dtypes import INT32
from generators.program.expr import Var
from synth.render.cuda.choose import schedule_for
from synth.render.cuda.find.forms import staged
from synth.render.cuda.module import render
from synth.render.cuda.style import styles
from synth.render.warp import render as render_warp
from synth.rows.maker import Accepted, program_columns
from validate.host.runner import run_plain_rows


def _category(program: ir.Program) -> str:
    return program.category


def row_of(accepted: Accepted, style: str) -> dict[str, Any]:
    """What the host run needs of a row, with its plain CUDA in a style."""
    program = accepted.program
    columns = program_columns(
        program, accepted.tolerances, accepted.edges, accepted.keys, render_warp(program)
    )
    return columns | render(program, schedule_for(program, style)).columns()


@pytest.mark.parametrize("style", [n for n, style in styles().items() if not style.tiles])
def test_style_agrees_with_the_reference(style: str, all_accepted: list[Accepted]) -> None:
    chosen = fitting_in(style, all_accepted)
    assert len(chosen) >= FEWEST, style
    rows = [row_of(accepted, style) for accepted in chosen]
    results = run_plain_rows(rows)
    assert [(r.status, r.reason) for r in results if r.status != "agrees"] == []


def test_tiles_are_shared_by_threads_that_take_as_many_turns() -> None:
    """A bound that a thread computes would let some of a block miss a barrier."""
    kernels = [program.kernel for program in programs_of_all_levels()]
    found = [(kernel, form) for kernel in kernels if (form := staged(kernel)) is not None]
    assert len(found) > 5
    for kernel, form in found:
        loop = kernel.body[form.place]
        assert isinstance(loop, ir.For)
        own = replace(loop, stop=Var("turns", INT32))
        body = (*kernel.body[: form.place], own, *kernel.body[form.place + 1 :])
        assert staged(replace(kernel, body=body)) is None


def test_styles_are_drawn() -> None:
    """Whatever its form, a kernel gets one of the quickest: most styles are that for some."""
    programs = part_of(programs_of_all_levels(), 2, lambda p: f"{p.idiom} {p.level}", _category)
    drawn = Counter(schedule_for(program).style for program in programs)
    assert len(drawn) >= 2 * len(styles()) // 3, drawn
    assert drawn.total() - drawn["guarded"] - drawn["grid_stride"] > 0.2 * drawn.total()
    for program in programs[::11]:
        assert schedule_for(program) == schedule_for(program)
