"""Rows that a thread reads and writes in vectors: what the host run notices of their texts, and
which loops have none."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from drawn_programs import accepted_draw

from generators.build.registry import LEVELS
from generators.program import ir
from generators.program.walk import statements
from synth.render.cuda.choose import candidates_of, check_schedule, schedules_of
from synth.render.cuda.find.walks import of_its_own, walks
from synth.render.cuda.module import render
from synth.render.cuda.regime import middle_sizes
from synth.render.warp import render as render_warp
from synth.rows.maker import Accepted, program_columns
from validate.host.runner import run_plain_rows

STYLE = "row_vectors"


PLACES = (
    ("control_flow", "logic_gates", 4),
    ("control_flow", "row_machine", 3),
    ("math", "cross_entropy_gradient", 4),
    ("matrix", "reflector_apply", 2),
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
        columns = program_columns(a.program, a.tolerances, a.edges, a.keys, render_warp(a.program))
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


def test_a_loop_that_ends_early_ends_in_a_vector_too() -> None:
    """A break leaves the parts of a vector alone: the loop is told to end by its step."""
    drawn = [accepted_draw("control_flow", i, n) for i in ("bfs_pull", "sssp_pull") for n in LEVELS]
    ending = [a for a in drawn if _ends_early(a.program.kernel)]
    assert ending
    assert statuses(ending, "$", "") == {"agrees"}
    told = r"(step|taken) = \w+;\n( *)break;"
    assert statuses(ending, told, r"break;") != {"agrees"}


def test_what_a_turn_writes_twice_is_not_held_in_a_vector(chosen: list[Accepted]) -> None:
    """Such a vector would be read ahead, written to in registers and never back to memory."""
    changed = 0
    for a in chosen:
        kernel = a.program.kernel
        twice = replace(kernel, body=_stored_twice(kernel.body))
        for walk in walks(kernel).values():
            changed += len(walk.stored)
        for loop in (s for s in statements(twice.body) if isinstance(s, ir.For)):
            if walk := walks(twice).get(id(loop)):
                assert not walk.stored
                assert not {one.array.name for one in walk.loaded} & _written(loop.body)
    assert changed


def _stored_twice(body: ir.Body) -> ir.Body:
    found: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.For):
            s = replace(s, body=_stored_twice(s.body))
        elif isinstance(s, ir.If):
            branches = tuple((when, _stored_twice(then)) for when, then in s.branches)
            s = replace(s, branches=branches, orelse=_stored_twice(s.orelse))
        found += [s, s] if isinstance(s, ir.Store) else [s]
    return tuple(found)


def _written(body: ir.Body) -> set[str]:
    return {s.array.name for s in statements(body) if isinstance(s, ir.Store)}


def _ends_early(kernel: ir.Kernel) -> bool:
    found = walks(kernel)
    return any(
        isinstance(t, ir.Break)
        for s in statements(kernel.body)
        if isinstance(s, ir.For) and id(s) in found
        for t in of_its_own(s.body)
    )


def test_rows_of_whole_vectors_are_mostly_predicted_no_slower(chosen: list[Accepted]) -> None:
    """A loop that begins at the second element takes no whole vectors there either."""
    slower = []
    for a in chosen:
        times: dict[str, float] = {}
        whole = {name: max(16, n // 16 * 16) for name, n in middle_sizes(a.program).items()}
        for c in candidates_of(a.program, whole):
            times.setdefault(c.schedule.style, c.prediction.time_us)
        slower.append(times[STYLE] > times["guarded"])
    assert sum(slower) < len(slower) / 2


def test_another_width_is_refused(chosen: list[Accepted]) -> None:
    a = chosen[0]
    own = schedules_of(a.program)[STYLE][0]
    with pytest.raises(ValueError, match="vector_width"):
        check_schedule(a.program, replace(own, vector_width=3))
