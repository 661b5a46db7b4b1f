"""Where atomics meet: by the contract of inputs, and by what loops hand from turn to turn."""

from __future__ import annotations

import pytest

from generators.program import ir
from generators.program.dtypes import FLOAT32, INT32, Array
from generators.program.expr import Cast, Const, Expr, Load, Var, op
from synth.render.cuda.choose import candidates_of
from synth.render.cuda.cost.access import UPDATE, Access
from synth.render.cuda.cost.facts import facts_of
from synth.render.cuda.cost.met import elements_met

SIZES = {"n": 1 << 20, "m": 1 << 16}
GIVEN, COUNTS = Var("given", Array(FLOAT32, 1)), Var("counts", Array(INT32, 1))
FIRST, CELL, STEP = Var("first", INT32), Var("cell", INT32), Var("step", INT32)
ONE = Const(1, INT32)
AT = Load(GIVEN, (Var("i", INT32),), FLOAT32)


def program(*body: ir.Statement, low: str = "0", high: str = "1") -> ir.Program:
    """Each thread reads a number of `given`, and counts in `counts`."""
    params = (
        ir.Param("given", GIVEN.type, "in", ("n",), "uniform", low, high),
        ir.Param("first", INT32, "in", (), "uniform", "0", "9"),
        ir.Param("counts", COUNTS.type, "inout", ("m",)),
    )
    kernel = ir.Kernel("count", params, ("i",), ("n",), body)
    return ir.Program(
        "atomic", "test", 1, "", (), (), kernel, (ir.Size("n", 64), ir.Size("m", 64)), 0
    )


def counted(at: Expr) -> ir.Atomic:
    return ir.Atomic("add", COUNTS, (at,), ONE)


def updates(of: ir.Program) -> list[Access]:
    return [a for a in facts_of(of, SIZES).accesses if a.kind == UPDATE]


def steps(change: ir.Statement, *start: ir.Statement) -> ir.Program:
    """A walk of eight turns that counts where it is, from a cell on."""
    turn = (counted(CELL), change)
    return program(*start, ir.For("step", Const(0, INT32), Const(8, INT32), 1, turn))


@pytest.mark.parametrize(("low", "high", "met"), [("0", "1", 11), ("-1", "1", 11), ("3", "4", 12)])
def test_elements_that_an_atomic_meets_follow_from_its_inputs(
    low: str, high: str, met: int
) -> None:
    """Cells a tenth wide, bounds rounded outward: below the array there are none."""
    cell = Cast(op("floor", AT * Const("10.0", FLOAT32)), INT32)
    found = elements_met(program(ir.Assign("cell", cell), counted(CELL), low=low, high=high))
    assert list(found.values()) == [met]


def test_what_nothing_bounds_may_meet_all() -> None:
    assert elements_met(program(counted(Cast(AT / (AT - AT), INT32)))) == {}
    assert elements_met(program()) == {}


def test_few_cells_are_crowded_whatever_the_array_holds() -> None:
    """Prices of one thread an element against lanes that find each other, in an array of 65,536."""

    def in_lanes(cells: str) -> bool:
        cell = Cast(op("floor", AT * Const(cells, FLOAT32)), INT32)
        listed = candidates_of(program(counted(cell)), SIZES)
        return listed[0].schedule.style in ("warp_aggregated", "block_bins")

    assert in_lanes("3.0")
    assert not in_lanes("60000.0")


def test_what_a_loop_steps_moves_with_its_turns() -> None:
    (found,) = updates(
        steps(ir.AugAssign("cell", "add", Const(3, INT32)), ir.Assign("cell", FIRST))
    )
    assert found.moves.factors == {"step": 3.0}
    (found,) = updates(
        steps(ir.AugAssign("cell", "sub", Cast(AT, INT32)), ir.Assign("cell", FIRST))
    )
    assert found.moves.led_by == {"i", "step"}


def test_walks_from_one_cell_meet_there_in_their_first_turn() -> None:
    data = ir.AugAssign("cell", "add", Cast(AT, INT32))
    (together,) = updates(steps(data, ir.Assign("cell", FIRST)))
    (apart,) = updates(steps(data, ir.Assign("cell", Cast(AT, INT32))))
    assert (together.times, together.first) == (8.0, 1.0)
    assert (apart.times, apart.first) == (8.0, 0.0)


def test_a_value_given_anew_in_each_turn_is_not_handed_on() -> None:
    again = ir.For(
        "step", Const(0, INT32), Const(8, INT32), 1, (ir.Assign("cell", STEP), counted(CELL))
    )
    (found,) = updates(program(ir.Assign("cell", FIRST), again))
    assert found.first == 0.0
