"""Loops of few turns that are written out where their turns are constants to what they do."""

from __future__ import annotations

from generators.program import ir
from generators.program.dtypes import FLOAT32, INT32, Array, Vec
from generators.program.expr import Cast, Component, Const, Expr, Op, Var
from synth.render.cuda.find.unrolled import turns_of, worth_unrolling

OUTER, INNER = Var("n", INT32), Var("j", INT32)
OWN = Var("recent", Vec(16, FLOAT32))
TOTAL = Var("total", FLOAT32)


def _loop(name: str, stop: int | Expr, *body: ir.Statement, step: int = 1) -> ir.For:
    end = Const(stop, INT32) if isinstance(stop, int) else stop
    return ir.For(name, Const(0, INT32), end, step, body)


def _cosine(of: Expr) -> ir.Statement:
    return ir.AugAssign("total", "add", Op("cos", (Cast(of, FLOAT32),), FLOAT32))


def _picked(at: Expr) -> ir.Statement:
    return ir.AugAssign("total", "add", Component(OWN, (at,), FLOAT32))


def test_turns_are_counted_where_both_ends_are_constants() -> None:
    assert turns_of(_loop("n", 8)) == 8
    assert turns_of(_loop("n", 8, step=3)) == 3
    assert turns_of(_loop("n", Var("count", INT32))) == 0


def test_a_cosine_of_counters_writes_out_the_loops_that_it_counts_on() -> None:
    inner = _loop("j", 8, _cosine(OUTER * INNER))
    outer = _loop("n", 8, inner)
    assert worth_unrolling((outer,)) == {id(outer), id(inner)}
    by_one = _loop("j", 8, _cosine(INNER))
    around = _loop("n", 8, by_one)
    assert worth_unrolling((around,)) == {id(by_one)}


def test_what_a_variable_follows_from_is_known_until_it_is_something_else() -> None:
    phase = ir.Assign("phase", OUTER * 2)
    loop = _loop("n", 8, phase, _cosine(Var("phase", INT32)))
    assert worth_unrolling((loop,)) == {id(loop)}
    moved = ir.AugAssign("phase", "add", Var("tid", INT32))
    assert not worth_unrolling((_loop("n", 8, phase, moved, _cosine(Var("phase", INT32))),))


def test_a_cosine_of_data_stays_in_its_loop() -> None:
    assert not worth_unrolling((_loop("n", 8, _cosine(OUTER * Var("tid", INT32))),))
    assert not worth_unrolling((_loop("n", Var("count", INT32), _cosine(OUTER)),))
    assert not worth_unrolling((_loop("n", 1000, _cosine(OUTER)),))


def test_vectors_that_many_turns_pick_from_lie_in_registers() -> None:
    rounds = _loop("n", 80, _picked(OUTER % 16))
    assert worth_unrolling((rounds,)) == {id(rounds)}
    assert not worth_unrolling((_loop("n", 16, _picked(OUTER)),))
    assert not worth_unrolling((_loop("n", 80, _picked(Var("tid", INT32) % 16)),))


def test_loops_that_end_early_or_hold_others_of_unknown_length_stay() -> None:
    leaving = ir.If(((Op("gt", (TOTAL, TOTAL), INT32), (ir.Break(),)),), ())
    assert not worth_unrolling((_loop("n", 8, leaving, _cosine(OUTER)),))
    unknown = _loop("j", Var("count", INT32), _picked(INNER))
    assert not worth_unrolling((_loop("n", 8, unknown, _cosine(OUTER)),))


def test_elements_of_arrays_are_no_vectors() -> None:
    given = Var("given", Array(FLOAT32, 1))
    assert not worth_unrolling((_loop("n", 80, ir.Store(given, (OUTER,), "", TOTAL)),))
