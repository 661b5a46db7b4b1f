"""What threads wait for, and what styles spare them: neighbours, one pass over a row, rows that are
no whole vectors, results in registers."""

from __future__ import annotations

from dataclasses import replace

from generators.program import ir
from generators.program.dtypes import FLOAT32, INT32, Array
from generators.program.expr import Expr, Load, Var
from synth.render.cuda.choose import schedules_of
from synth.render.cuda.cost.facts import facts_of
from synth.render.cuda.cost.predict import demands
from synth.render.cuda.regime import highest_sizes
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan, styles
from synth.rows.maker import Accepted

_LINE = Array(FLOAT32, 1)
_GUARDED = Schedule("guarded", (256,))


def _reads(count: int) -> ir.Program:
    """A kernel that adds up so many neighbours of an element."""
    here = Var("i", INT32)
    total: Expr = Load(Var("given", _LINE), (here,), FLOAT32)
    for step in range(1, count):
        total = total + Load(Var("given", _LINE), (here + step,), FLOAT32)
    params = (
        ir.Param("given", _LINE, "in", ("n + 8",)),
        ir.Param("out", _LINE, "out", ("n",)),
    )
    body = (ir.Store(Var("out", _LINE), (here,), "", total),)
    kernel = ir.Kernel("neighbours", params, ("i",), ("n",), body)
    return ir.Program("vector", "test", 1, "", (), (), kernel, (ir.Size("n", 64),), 0)


def test_neighbours_of_an_element_wait_with_it() -> None:
    sizes = {"n": 1_000_000}
    many, one = (demands(facts_of(_reads(k), sizes), Plan(), _GUARDED) for k in (8, 1))
    assert many.misses == one.misses
    assert many.steps > one.steps
    assert many.looked_up > one.looked_up


def test_loops_made_one_read_once(all_accepted: list[Accepted]) -> None:
    program = next(a.program for a in all_accepted if "online_softmax" in schedules_of(a.program))
    style, sizes = styles()["online_softmax"], highest_sizes(program)
    schedule = style.schedules(program)[0]
    plan = style.plan(program, schedule, sizes)
    once, apart = (
        demands(facts_of(program, sizes), p, schedule) for p in (plan, replace(plan, spared={}))
    )
    assert plan.spared
    assert once.looked_up < apart.looked_up
    assert once.loads < apart.loads
    assert once.memory_bytes <= apart.memory_bytes


def test_results_in_registers_wait_side_by_side(all_accepted: list[Accepted]) -> None:
    program = next(a.program for a in all_accepted if "register_tiled" in schedules_of(a.program))
    style, sizes = styles()["register_tiled"], highest_sizes(program)
    schedule = max(style.schedules(program), key=lambda s: s.elements_a_thread)
    plan = style.plan(program, schedule, sizes)
    facts = facts_of(program, sizes)
    beside, in_a_row = (
        demands(facts, p, schedule).steps for p in (plan, replace(plan, register_reuse=1.0))
    )
    assert beside < in_a_row


def test_rows_that_are_no_whole_vectors_take_turns(all_accepted: list[Accepted]) -> None:
    style = styles()["vectorized"]
    program = next(
        a.program
        for a in all_accepted
        if len(a.program.kernel.threads) == 2 and style.name in schedules_of(a.program)
        if any(len(s.block) == 2 for s in style.schedules(a.program))
    )
    schedule = style.schedules(program)[0]
    symbols = [s.symbol for s in program.sizes]
    whole, broken = (
        demands(facts_of(program, sizes), style.plan(program, schedule, sizes), schedule)
        for sizes in (dict.fromkeys(symbols, 4096), dict.fromkeys(symbols, 4099))
    )
    assert broken.instructions > whole.instructions
    assert broken.misses > whole.misses
