"""Rows that a block fetches together: what the host run notices of texts, and what has none."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from drawn_programs import accepted_draw

from generators.program import ir
from generators.program.walk import statements
from synth.render.cuda.choose import candidates_of, check_schedule, schedules_of
from synth.render.cuda.find.rows_apart import rows_apart
from synth.render.cuda.module import render
from synth.render.cuda.offsets import without_unread
from synth.render.cuda.regime import highest_sizes
from synth.render.warp import render as render_warp
from synth.rows.maker import Accepted, program_columns
from validate.host.runner import run_plain_rows

STYLE = "fetched_rows"

PLACES = (
    ("matrix", "fused_norm", 4),
    ("math", "row_divergence", 3),
    ("control_flow", "grid_walk", 4),
    ("vector", "sph_density", 2),
    ("matrix", "norm_backward", 4),
)
"""Idioms that go along rows, once and several times, and write them too."""


@pytest.fixture(scope="module")
def chosen() -> list[Accepted]:
    drawn = [accepted_draw(*place) for place in PLACES]
    found = [a for a in drawn if STYLE in schedules_of(a.program)]
    assert len(found) > 3
    return found


def statuses(accepted: list[Accepted], pattern: str, new: str, count: int = 0) -> list[str]:
    """What the host run says of each text with parts of it replaced, those alone that have any."""
    rows = []
    for a in accepted:
        columns = program_columns(a.program, a.tolerances, a.edges, a.keys, render_warp(a.program))
        plain = render(a.program, schedules_of(a.program)[STYLE][0])
        text, changed = re.subn(pattern, new, plain.text, count=count)
        if changed:
            rows.append(columns | plain.columns() | {"cuda_plain": text})
    assert rows
    return [result.status for result in run_plain_rows(rows)]


def test_texts_agree(chosen: list[Accepted]) -> None:
    assert set(statuses(chosen, "$", "")) == {"agrees"}


def test_a_barrier_left_out_is_noticed(chosen: list[Accepted]) -> None:
    found = statuses(chosen, r" *__syncthreads\(\);\n", "", count=1)
    assert set(found) <= {"data_race", "read_out_of_bounds", "undefined"}


def test_pieces_that_overlap_or_leave_gaps_are_noticed(chosen: list[Accepted]) -> None:
    """Some rows are longer than a piece at the shapes that are run."""
    for step in (16, 64):
        found = statuses(chosen, r"(base|piece) \+= \d+\)", rf"\1 += {step})")
        assert "agrees" not in found


def test_rows_past_the_edge_are_not_written(chosen: list[Accepted]) -> None:
    found = statuses(chosen, r"(rows_left) = min\((\d+), \w+ - \w+\);", r"\1 = \2;")
    assert set(found) <= {"wrote_out_of_bounds", "data_race"}


def test_elements_past_the_end_of_a_row_are_not_fetched(chosen: list[Accepted]) -> None:
    found = statuses(chosen, r"if \((col|tile_col) < \w+\) \{", "if (true) {")
    assert "read_out_of_bounds" in found


def test_what_leaves_or_writes_before_the_rows_end_has_no_form(chosen: list[Accepted]) -> None:
    for a in chosen:
        kernel = a.program.kernel
        store = next(s for s in statements(kernel.body) if isinstance(s, ir.Store))
        assert rows_apart(kernel) is not None
        assert rows_apart(replace(kernel, body=(ir.Return(None), *kernel.body))) is None
        assert rows_apart(replace(kernel, body=(store, *kernel.body))) is None


def test_rows_that_fill_the_caches_are_predicted_to_gain(chosen: list[Accepted]) -> None:
    gained = 0
    for a in chosen:
        times: dict[str, float] = {}
        for c in candidates_of(a.program, highest_sizes(a.program)):
            times.setdefault(c.schedule.style, c.prediction.time_us)
        gained += times[STYLE] < 0.7 * times["guarded"]
    assert gained > len(chosen) / 2


def test_other_blocks_and_pieces_are_refused(chosen: list[Accepted]) -> None:
    a = chosen[0]
    own = schedules_of(a.program)[STYLE][0]
    with pytest.raises(ValueError, match="a tile from 2 on"):
        check_schedule(a.program, replace(own, tile=2 * own.block[0]))
    with pytest.raises(ValueError, match="shared memory"):
        check_schedule(a.program, replace(own, block=(512, *own.block[1:]), tile=128))


@pytest.mark.parametrize("names", [("row", "whole"), ("whole", "row")])
def test_what_an_unread_index_alone_reads_goes_too(names: tuple[str, ...]) -> None:
    """Whatever the order: that of a set of names is another in each process."""
    lines = [
        "    const int row = i * cols;",
        "    const int kept = i + 1;",
        "    const int whole = row + 2;",
        "    out[kept] = kept;",
    ]
    assert without_unread(lines, dict.fromkeys(names).keys()) == [lines[1], lines[3]]
