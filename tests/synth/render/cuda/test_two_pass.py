"""Totals in two kernels: what the row says of them, and that each part of the text is needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from drawn_programs import accepted_draw, fitting_in

from generators.program import ir
from generators.program.walk import statements
from synth.render.cuda.choose import check_schedule, schedules_of
from synth.render.cuda.module import render
from synth.render.cuda.schedule import Schedule
from synth.render.warp import render as render_warp
from synth.rows.maker import Accepted, program_columns
from synth.views.texts import plain_answer
from validate.host.runner import run_plain_rows
from validate.row.columns import ROW_SCHEMA
from validate.score.scorer import Answer, Scorer
from validate.text.launches import launches_problem, said_launches

STYLE = "two_pass_total"


def row_of(accepted: Accepted, schedule: Schedule, **sizes: int) -> dict[str, Any]:
    """A row in the style; with sizes in place of its own."""
    program = accepted.program
    columns = program_columns(
        program, accepted.tolerances, accepted.edges, accepted.keys, render_warp(program)
    )
    entries = [{**e, "value": sizes.get(e["symbol"], e["value"])} for e in columns["sizes"]]
    edges = {"edge_inputs": []} if sizes else {}
    return columns | render(program, schedule).columns() | {"sizes": entries} | edges


@pytest.fixture(scope="module")
def fitting(all_accepted: list[Accepted]) -> list[Accepted]:
    return fitting_in(STYLE, all_accepted)


@pytest.fixture(scope="module")
def flat() -> Accepted:
    """A sum over one launch dimension, to which every element adds."""
    for seed in range(40):
        found = accepted_draw("atomic", "reduction", 1, seed=seed)
        kernel = found.program.kernel
        adds = any(isinstance(s, ir.Atomic) and s.op == "add" for s in statements(kernel.body))
        if adds and kernel.launch_dim == ("n",) and STYLE in schedules_of(found.program):
            return found
    raise AssertionError("no draw is a flat sum")


def test_launches_scratch_and_texts_fit_together(fitting: list[Accepted]) -> None:
    for accepted in fitting:
        for schedule in schedules_of(accepted.program)[STYLE]:
            row = row_of(accepted, schedule)
            assert launches_problem(row) == ""
            first, second = row["plain_launch"]
            assert first["kernel"] == row["kernel_name"]
            assert first["grid"] == [entry["count"] for entry in row["plain_scratch"]][:1]
            assert second["grid"] == ["1"]
            assert "atomic" not in row["cuda_plain"]
            said = said_launches(plain_answer({**row, "regime": None}), row)
            assert isinstance(said, tuple)
            assert [one["kernel"] for one in said[0]] == [first["kernel"], second["kernel"]]


def test_what_blocks_leave_is_joined_in_several_turns(flat: Accepted) -> None:
    """As large a launch as the second kernel needs to go round more than once."""
    schedule = Schedule(STYLE, (32,), elements_a_thread=1)
    found = run_plain_rows([row_of(flat, schedule, n=32 * 70 + 5)])
    assert [(r.status, r.reason) for r in found] == [("agrees", "")]


MUTANTS = {
    "of the first block alone": ("block < blocks;", "block < 1;"),
    "without the target's start": (" += ", " = "),
    "a block left out": ("block = threadIdx.x;", "block = threadIdx.x + 1;"),
    "one place for all blocks": ("[blockIdx.x] =", "[0] ="),
    "half of a warp": ("offset = 16;", "offset = 8;"),
}


def test_each_part_of_the_text_is_needed(flat: Accepted) -> None:
    row = row_of(flat, Schedule(STYLE, (32,), elements_a_thread=1), n=150)
    text = row["cuda_plain"]
    head, _, tail = text.rpartition("extern")
    last = tail.rindex(" += ") if " += " in tail else -1
    assert last > 0, tail
    wrong = {name: text.replace(old, new) for name, (old, new) in MUTANTS.items()}
    wrong["without the target's start"] = head + "extern" + tail[:last] + " = " + tail[last + 4 :]
    assert all(mutant != text for mutant in wrong.values())
    rows = [{**row, "id": name, "cuda_plain": mutant} for name, mutant in wrong.items()]
    # An accumulator of a row starts at its identity, where storing is as good as adding.
    expected = {name: name == "without the target's start" for name in wrong}
    found = {r.id: r.status == "agrees" for r in run_plain_rows(rows)}
    assert found == expected
    answers = [
        Answer(rows[-1]["cuda_plain"], row),
        Answer(wrong["without the target's start"], row),
    ]
    with Scorer(hidden_seed=3) as scorer:
        assert all(not verdict.passed for verdict in scorer.score_batch(answers))


def test_launches_come_back_from_parquet(fitting: list[Accepted], tmp_path: Any) -> None:
    row = row_of(fitting[0], schedules_of(fitting[0].program)[STYLE][0])
    names = ("plain_args", "plain_scratch", "plain_launch")
    schema = pa.schema([ROW_SCHEMA.field(name) for name in names])
    stored = {name: row[name] for name in names}
    pq.write_table(pa.Table.from_pylist([stored], schema=schema), tmp_path / "rows.parquet")
    assert pq.read_table(tmp_path / "rows.parquet").to_pylist() == [stored]


def test_a_schedule_that_cannot_join_is_refused(fitting: list[Accepted]) -> None:
    schedule = schedules_of(fitting[0].program)[STYLE][0]
    check_schedule(fitting[0].program, schedule)
    for wrong in (replace(schedule, block=(96,)), replace(schedule, elements_a_thread=0)):
        with pytest.raises(ValueError, match=r"power of two|from 1 on"):
            check_schedule(fitting[0].program, wrong)
