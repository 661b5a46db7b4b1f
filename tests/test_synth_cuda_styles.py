"""Every style of plain CUDA, forced on programs that have a form in it: it agrees on the host."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from synth.cuda_schedule import STYLES, schedule_for, styles_of
from synth.pair import Accepted, program_columns
from synth.render_cuda import render
from synth.render_warp import render as render_warp
from validate.host import run_plain_rows

MOST = 24


def row_of(accepted: Accepted, style: str) -> dict[str, Any]:
    """What the host run needs of a row, with its plain CUDA in a style."""
    program = accepted.program
    columns = program_columns(program, accepted.tolerances, accepted.keys, render_warp(program))
    return columns | render(program, schedule_for(program, style)).columns()


@pytest.mark.parametrize("style", STYLES)
def test_style_agrees_with_the_reference(style: str, all_accepted: list[Accepted]) -> None:
    fitting = [a for a in all_accepted if style in styles_of(a.program)]
    step = max(1, len(fitting) // MOST)
    chosen = fitting[::step][:MOST]
    assert len(chosen) >= 5, style
    rows = [row_of(accepted, style) for accepted in chosen]
    results = run_plain_rows(rows)
    assert [(r.status, r.reason) for r in results if r.status != "agrees"] == []


def test_styles_are_drawn(all_accepted: list[Accepted]) -> None:
    """Where a kernel has a form in a rare style, it is mostly in one of them."""
    drawn = Counter(schedule_for(a.program).style for a in all_accepted)
    assert set(drawn) == set(STYLES)
    for accepted in all_accepted[::11]:
        assert schedule_for(accepted.program) == schedule_for(accepted.program)
