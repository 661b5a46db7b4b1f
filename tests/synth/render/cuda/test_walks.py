"""Rows that a thread reads and writes in vectors: what the host run notices of their texts, and
which loops have none."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from drawn_programs import accepted_draw

from generators.program import ir
from generators.program.walk import statements
from synth.render.cuda.choose import candidates_of, check_schedule, schedules_of
from synth.render.cuda.find.walks import walks
from synth.render.cuda.module import render
from synth.render.cuda.regime import middle_sizes
from synth.render.warp import render as render_warp
from synth.rows.maker import Accepted, program_columns
from validate.host.runner import run_plain_rows

STYLE = "row_vectors"


PLACES = (
    ("control_flow", "logic_gates", 3),
    ("control_flow", "row_machine", 3),
    ("math", "cross_entropy_gradient", 3),
    ("matrix", "reflector_apply", 5),
    ("vector", "strand_follow", 1),
    ("vector", "strand_follow", 4),
)
"""Idioms that walk along rows, and write them too: numbers, bytes and vectors."""


@pytest.fixture(scope="module")
def chosen() -> list[Accepted]:
    return [accepted_draw(*place) for place in PLACES]


def statuses(accepted: list[Accepted], pattern: str, new: str) -> set[str]:
    """What the host run says of texts with parts of them replaced."""
    rows = []
    for a in accepted:
        columns = program_columns(
            a.program, a.tolerances, a.edges, a.keys, render_warp(a.program)
        )
        plain = render(a.program, schedules_of(a.program)[STYLE][0])
        text, count = re.subn(pattern, new, plain.text)
        assert count, plain.text
        rows.append(columns | plain.columns() | {"cuda_plain": text})
    return {result.status for result in run_plain_rows(rows)}


def test_texts_agree(chosen: list[Accepted]) -> None:
    assert statuses(chosen, "$", "") == {"agrees"}


def test_parts_of_vectors_left_out_are_noticed(chosen: list[Accepted]) -> None:
    """A row's own shapes run vectors whatever its sizes, so that a fault in them is met."""
    assert any(walk.stored for a in chosen for walk in walks(a.program.kernel).values())
    for a in chosen:
        assert statuses([a], r"(lane|part) < (\d+); \+\+", r"\1 < 1; ++") != {"agrees"}, (
            a.program.kernel.name
        )


def test_vectors_past_the_end_of_a_row_are_noticed(chosen: list[Accepted]) -> None:
    found = statuses(chosen, r"(first|cell) % \d+ == 0 && \w+ \+ \d+ <= \w+ \?", r"\1 % 4 == 0 ?")
    assert found != {"agrees"}


def test_no_vectors_in_loops_that_end_early(all_accepted: list[Accepted]) -> None:
    seen = 0
    for a in all_accepted:
        for s in _loops(a.program.kernel.body):
            if any(isinstance(t, ir.Break | ir.Return) for t in s.body):
                assert id(s) not in walks(a.program.kernel)
                seen += 1
    assert seen


def _loops(body: ir.Body) -> list[ir.For]:
    return [s for s in statements(body) if isinstance(s, ir.For)]


def test_rows_in_vectors_are_predicted_no_slower(chosen: list[Accepted]) -> None:
    for a in chosen:
        times: dict[str, float] = {}
        for c in candidates_of(a.program, middle_sizes(a.program)):
            times.setdefault(c.schedule.style, c.prediction.time_us)
        assert times[STYLE] <= times["guarded"]


def test_another_width_is_refused(chosen: list[Accepted]) -> None:
    a = chosen[0]
    own = schedules_of(a.program)[STYLE][0]
    with pytest.raises(ValueError, match="vector_width"):
        check_schedule(a.program, replace(own, vector_width=3))
