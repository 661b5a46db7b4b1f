"""The cost model: how indices move, what launches ask for, and which schedules are drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import pytest
from drawn_programs import programs_of_all_levels

from generators.program import ir
from generators.program.dtypes import FLOAT32, INT32, Array, Struct, Vec
from generators.program.expr import Const, Expr, Extent, Load, Var, op
from synth.render.cuda.choose import AS_GOOD, candidates_of, schedule_for, schedules_of
from synth.render.cuda.cost.access import UPDATE
from synth.render.cuda.cost.affine import Moves, Reader, led, of
from synth.render.cuda.cost.atomics import lanes_in_turn
from synth.render.cuda.cost.device import H200
from synth.render.cuda.cost.facts import facts_of
from synth.render.cuda.cost.predict import (
    ATOMICS,
    CACHE,
    INSTRUCTIONS,
    LATENCY,
    MEMORY,
    STARTS,
    demands,
    predict,
    times_of,
    together,
)
from synth.render.cuda.find.forms import common_targets, elementwise
from synth.render.cuda.regime import highest_sizes, upper_sizes
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan, styles
from synth.rows.maker import Accepted
from validate.row.sizes import evaluate_all

ROW, COL = Var("i", INT32), Var("j", INT32)
A = Var("a", Array(FLOAT32, 2))
_COPIED = (("given", "in"), ("out", "out"))


def moves(e: Any) -> Moves:
    known = {"i": of("i"), "j": of("j"), "step": Moves(value=3.0), "found": led(of("i"))}
    return Reader(known, {"a": (100.0, 20.0)}, {}).read(e)


@pytest.mark.parametrize(
    ("e", "factors", "led_by", "value"),
    [
        (ROW * Extent(A, 1) + COL, {"i": 20, "j": 1}, set(), 0),
        (ROW * Var("step", INT32) + 2, {"i": 3}, set(), 2),
        (ROW - ROW, {}, set(), 0),
        (op("min", ROW + 1, Extent(A, 0) - 1), {"i": 1}, set(), 1),
        ((ROW * 8 + 4) // 4, {"i": 2}, set(), 1),
        (ROW * 8 % 4, {}, set(), 0),
        (op("abs", ROW - 1), {"i": 1}, set(), -1),
        (99 - op("abs", 99 - (ROW + 1)), {"i": 1}, set(), 1),
        (op("abs", Const(-7, INT32)), {}, set(), 7),
        (op("abs", Var("found", INT32)), {}, {"i"}, None),
        (ROW * COL, {}, {"i", "j"}, None),
        (Var("found", INT32) + COL, {"j": 1}, {"i"}, None),
        (Const(7, INT32), {}, set(), 7),
    ],
)
def test_indices_move_as_their_formulas_say(
    e: Any, factors: dict[str, float], led_by: set[str], value: float | None
) -> None:
    found = moves(e)
    assert dict(found.factors) == factors
    assert found.led_by == led_by
    assert found.value == value


@pytest.mark.parametrize("half", [1, 2, 8, 64])
def test_quotients_and_remainders_move_in_steps(half: int) -> None:
    """The first of each pair of a butterfly: side by side in runs of half, and the runs apart."""
    formulas = {
        ROW // half * (2 * half) + ROW % half: lambda k: k // half * 2 * half + k % half,
        (ROW + 3) // 4: lambda k: (k + 3) // 4,
        ROW // (4 * half) % 3: lambda k: k // (4 * half) % 3,
        ROW % (4 * half) // 4: lambda k: k % (4 * half) // 4,
    }
    for formula, is_at in formulas.items():
        found = moves(formula)
        assert not found.led_by
        assert [found.at({"i": k}) for k in range(200)] == [is_at(k) for k in range(200)]


def read_at(place: Expr) -> Load:
    return Load(Var("b", Array(INT32, 1)), (place,), INT32)


def test_what_data_decides_is_led_by_it() -> None:
    """A choice between places, unless all of these move alike; near an edge it goes on."""
    data = op("gt", read_at(ROW), Const(0, INT32))
    assert moves(op("where", data, ROW, COL)).led_by == {"i", "j"}
    assert moves(op("where", data, Const(1, INT32), Const(0, INT32))).led_by == {"i"}
    assert moves(op("where", data, ROW + 1, ROW)).factors == {"i": 1}
    assert moves(op("where", op("gt", ROW, Const(0, INT32)), ROW - 1, Const(0, INT32))).factors == {
        "i": 1
    }
    assert moves(op("min", ROW, read_at(COL))).led_by == {"i", "j"}


def test_a_prediction_is_positive_and_grows_with_sizes(all_accepted: list[Accepted]) -> None:
    for program in (a.program for a in all_accepted[::9]):
        sizes = upper_sizes(program)
        large = {name: 4 * size for name, size in sizes.items()}
        for candidate in candidates_of(program, sizes):
            schedule = candidate.schedule
            plan = styles()[schedule.style].plan(program, schedule, large)
            more = predict(facts_of(program, large), plan, schedule)
            # More bins to update are less in each other's way.
            slack = 1.5 if candidate.prediction.limits == ATOMICS else 1.01
            assert 0.0 < candidate.prediction.time_us <= more.time_us * slack, program.idiom


def test_what_is_drawn_is_among_the_quickest(all_accepted: list[Accepted]) -> None:
    limits = Counter[str]()
    for program in (a.program for a in all_accepted[::5]):
        drawn = schedule_for(program)
        candidates = candidates_of(program, upper_sizes(program))
        (own,) = (c.prediction for c in candidates if c.schedule == drawn)
        assert own.time_us <= AS_GOOD * candidates[0].prediction.time_us
        assert drawn.limits == own.limits
        limits[drawn.limits] += 1
    assert len(limits) > 2


def test_contended_atomics_are_not_left_to_each_thread() -> None:
    """Of kernels whose threads all add to a few elements, at sizes of millions."""
    totals = [p for p in programs_of_all_levels() if common_targets(p.kernel) is not None]
    assert len(totals) > 3
    for program in totals:
        if facts_of(program, upper_sizes(program)).points > 1e5:
            assert schedule_for(program).style not in ("guarded", "grid_stride")


def test_strided_lanes_cost_more_than_neighbours(all_accepted: list[Accepted]) -> None:
    program = _flat_program(all_accepted, 2)
    facts = facts_of(program, dict.fromkeys((s.symbol for s in program.sizes), 4096))
    assert any(access.kind != UPDATE for access in facts.accesses)
    outer, schedule = program.kernel.threads[0], Schedule("guarded", (256,))
    # Lines of a warp's request: warps have as many requests as lanes of a point.
    beside, apart, few = (
        demands(facts, plan, schedule).lines / plan.threads_an_element
        for plan in (
            Plan(),
            Plan(lanes=outer, threads_an_element=32.0),
            Plan(lanes=outer, threads_an_element=4.0),
        )
    )
    assert apart > 2 * beside
    # Eight points that stand side by side in memory share the lines of their four lanes.
    assert beside < few < apart / 4
    assert times_of(demands(facts, Plan(), schedule), H200)[MEMORY] > 0.0


def test_threads_that_have_one_point_take_one_turn(all_accepted: list[Accepted]) -> None:
    program = _flat_program(all_accepted, 1)
    plan = Plan(threads_an_element=0.25, in_turn=True)
    schedule = Schedule("grid_stride", (512,), elements_a_thread=4)

    def steps(points: int) -> float:
        facts = facts_of(program, dict.fromkeys((s.symbol for s in program.sizes), points))
        return demands(facts, plan, schedule).steps

    assert steps(64) == steps(512) == pytest.approx(steps(2048) / 4)


def _recurrence(of_own: bool) -> ir.Program:
    """Each thread goes along a row and writes what it makes of an element of it, or of what it
    wrote in the turn before."""
    given, out = (ir.Param(n, Array(FLOAT32, 2), role, ("n", "m")) for n, role in _COPIED)
    row, step = Var("i", INT32), Var("k", INT32)
    read = Var("out" if of_own else "given", given.type)
    before = Load(read, (row, step - 1), FLOAT32)
    turn = ir.Store(Var("out", out.type), (row, step), "", before * 0.5)
    loop = ir.For("k", Const(1, INT32), Extent(Var("given", given.type), 1), 1, (turn,))
    kernel = ir.Kernel("walk", (given, out), ("i",), ("n",), (loop,))
    sizes = (ir.Size("n", 64), ir.Size("m", 64))
    return ir.Program("vector", "test", 1, "", (), (), kernel, sizes, 0)


def test_a_load_of_what_the_turn_before_stored_waits() -> None:
    free, bound = (
        demands(
            facts_of(_recurrence(of_own), {"n": 64, "m": 1024}), Plan(), Schedule("guarded", (64,))
        ).loads
        for of_own in (False, True)
    )
    assert bound == pytest.approx(4.0 * free)


def test_lanes_look_for_each_other_in_every_turn() -> None:
    """One more update a thread is one more look round the warp."""
    found = 0
    for program in programs_of_all_levels():
        if "warp_aggregated" not in schedules_of(program):
            continue
        sizes = upper_sizes(program)
        facts = facts_of(program, sizes)
        schedule = schedules_of(program)["warp_aggregated"][0]
        plan = styles()[schedule.style].plan(program, schedule, sizes)
        updates = [a for a in facts.accesses if a.node in plan.matched and a.loops]
        if not updates:
            continue
        found += 1
        once = replace(facts, accesses=tuple(replace(a, times=1.0) for a in facts.accesses))
        many = demands(facts, plan, schedule).steps
        assert max(a.times for a in updates) <= 1.0 or many > demands(once, plan, schedule).steps
    assert found


def _flat_program(accepted: list[Accepted], dims: int) -> ir.Program:
    return next(
        a.program
        for a in accepted
        if len(a.program.kernel.threads) == dims and elementwise(a.program.kernel) is not None
    )


def test_a_warp_of_a_narrow_block_asks_for_more_lines(all_accepted: list[Accepted]) -> None:
    program = _flat_program(all_accepted, 2)
    facts = facts_of(program, dict.fromkeys((s.symbol for s in program.sizes), 4096))
    wide, square, narrow = (
        demands(facts, Plan(), Schedule("guarded", block)).lines
        for block in ((32, 8), (16, 16), (8, 32))
    )
    assert wide < square < narrow


def test_more_blocks_take_longer_to_start(all_accepted: list[Accepted]) -> None:
    program = _flat_program(all_accepted, 1)
    facts = facts_of(program, dict.fromkeys((s.symbol for s in program.sizes), 10_000_000))
    small, large = (
        times_of(demands(facts, Plan(), Schedule("guarded", (threads,))), H200)[STARTS]
        for threads in (128, 512)
    )
    starts = {n: H200.block_us + n / 32 * H200.warp_us for n in (128, 512)}
    assert small / large == pytest.approx(4 * starts[128] / starts[512], rel=0.01)
    assert small > 1.4 * large


@pytest.mark.parametrize("places", [1, 8, 32, 256, 4096])
def test_lanes_wait_as_long_as_where_most_of_them_meet(places: int) -> None:
    draws = np.random.default_rng(places).integers(0, places, (2000, 32))
    fullest = np.mean([np.bincount(d).max() for d in draws])
    assert lanes_in_turn(places) == pytest.approx(fullest, rel=0.15)


def test_data_lead_no_further_than_they_hold() -> None:
    places = Var("places", Array(INT32, 1))
    reader = Reader({"i": of("i")}, {"places": (64.0,)}, {"places": (8.0, 7.0)})
    found = reader.read(ROW * 128 + Load(places, (ROW,), INT32))
    assert (found.factors, found.led_by, found.stray) == ({"i": 128.0}, {"i"}, 7.0)


def test_elements_of_rows_that_come_one_after_the_other_are_not_met_at_once() -> None:
    """Twice as many rows of a launch take twice as long where each has totals of its own."""
    found = 0
    for program in programs_of_all_levels():
        threads = program.kernel.threads
        if len(threads) < 2:
            continue
        symbols = {s.symbol for s in program.sizes}
        outer = str(program.kernel.launch_dim[0])
        if outer not in symbols:
            continue
        sizes = {**dict.fromkeys(symbols, 2048), outer: 512}
        few, many = (
            demands(facts_of(program, {**sizes, outer: n}), Plan(), Schedule("guarded", (256,)))
            for n in (512, 1024)
        )
        updates = [a for a in facts_of(program, sizes).accesses if a.kind == UPDATE]
        if len(updates) == 1 and updates[0].moves.factors.keys() == {threads[0]}:
            found += 1
            assert many.updates_at_one == pytest.approx(2.0 * few.updates_at_one)
    assert found


def test_a_stride_that_a_parameter_decides_is_a_guess() -> None:
    known = {"i": of("i"), "given": Moves(value=3.0, is_guess=True)}
    reader = Reader(known, {}, {})
    given = Var("given", INT32)
    assert reader.read(ROW * given).is_guess
    assert reader.read(ROW // given).is_guess
    assert reader.read((ROW * given + 1) * 2).is_guess
    assert not reader.read(ROW + given).is_guess


def test_memory_that_waits_for_threads_takes_longer_than_either() -> None:
    """Measured on an H200: 280 MB of memory take 70 us in vectors, with the starts and misses of
    ten million threads 91, as much again of arithmetic beside them hardly more."""
    alone = dict.fromkeys((MEMORY, CACHE, INSTRUCTIONS, ATOMICS, LATENCY, STARTS), 0.0)
    streamed = {**alone, MEMORY: 70.0}
    assert together(streamed) == pytest.approx(70.0)
    assert together({**streamed, LATENCY: 19.0, STARTS: 12.0}) == pytest.approx(84.0, rel=0.05)
    assert together({**streamed, INSTRUCTIONS: 31.0}) < 71.0


def test_no_vectors_of_structs_with_gaps() -> None:
    """A struct of 8, 8 and 4 bytes takes 24 in an array, and is copied field by field."""
    pair = Vec(2, FLOAT32)
    gaps = Struct("Particle", (("position", pair), ("velocity", pair), ("mass", FLOAT32)))
    whole = Struct("Key", (("cell", INT32), ("rank", INT32)))
    for element, has_vectors in ((gaps, False), (whole, True)):
        given, out = (ir.Param(name, Array(element, 1), role, ("n",)) for name, role in _COPIED)
        own = (Var("i", INT32),)
        moved = Load(Var("given", given.type), own, element)
        body = (ir.Store(Var("out", out.type), own, "", moved),)
        kernel = ir.Kernel("copy", (given, out), ("i",), ("n",), body)
        program = ir.Program("vector", "test", 1, "", (), (), kernel, (ir.Size("n", 64),), 0)
        assert ("vectorized" in schedules_of(program)) == has_vectors


STEP = Var("k", INT32)
SPANS, GIVEN, TABLE, OUT = (Var(n, Array(INT32, 1)) for n in ("spans", "given", "table", "out"))


def _sums(first: Expr, last: Expr, place: Expr, high: str = "64", gathers: bool = False) -> Any:
    """Each thread adds up elements from the first to the last, or those of a table that these
    lead to."""
    params = (
        ir.Param("spans", SPANS.type, "in", ("n + 1",), "uniform", "0", high),
        ir.Param("given", GIVEN.type, "in", ("m",), "uniform", "0", "99999"),
        ir.Param("table", TABLE.type, "in", ("t",)),
        ir.Param("out", OUT.type, "out", ("n",)),
    )
    value: Expr = Load(GIVEN, (place,), INT32)
    turn = ir.AugAssign("total", "add", Load(TABLE, (value,), INT32) if gathers else value)
    body = (
        ir.Assign("total", Const(0, INT32)),
        ir.For("k", first, last, 1, (turn,)),
        ir.Store(OUT, (ROW,), "", Var("total", INT32)),
    )
    kernel = ir.Kernel("rows", params, ("i",), ("n",), body)
    return ir.Program(
        "vector", "test", 1, "", (), (), kernel, tuple(ir.Size(n, 64) for n in "nmt"), 0
    )


def _span(at: Expr) -> Expr:
    return Load(SPANS, (at,), INT32)


def _turns(program: ir.Program, sizes: dict[str, int]) -> float:
    return next(a.times for a in facts_of(program, sizes).accesses if a.array == "given")


def test_rows_whose_ends_are_data_share_their_array() -> None:
    sparse = _sums(_span(ROW), _span(ROW + 1), STEP)
    assert _turns(sparse, {"n": 1000, "m": 24_000, "t": 64}) == pytest.approx(24.0)
    assert _turns(sparse, {"n": 1000, "m": 400, "t": 64}) == pytest.approx(0.4)


def test_a_length_that_is_data_is_half_of_the_longest() -> None:
    program = _sums(Const(0, INT32), _span(ROW), STEP, high="63")
    assert _turns(program, {"n": 1000, "m": 64, "t": 64}) == pytest.approx(32.0, abs=1.0)


def test_what_data_lead_to_drives_out_what_threads_walk_along() -> None:
    sizes = {"n": 1_000_000, "m": 64_000_000, "t": 100_000}
    alone, beside = (
        demands(facts_of(program, sizes), Plan(), Schedule("guarded", (256,)))
        for gathers in (False, True)
        for program in [_sums(Const(0, INT32), Const(64, INT32), ROW * 64 + STEP, "64", gathers)]
    )
    assert beside.memory_bytes > 4.0 * alone.memory_bytes


def test_rows_that_are_no_whole_vectors_take_as_many_blocks(all_accepted: list[Accepted]) -> None:
    program = next(
        a.program
        for a in all_accepted
        if len(a.program.kernel.threads) == 2
        and "vectorized" in schedules_of(a.program)
        and all(s.block != (256,) for s in schedules_of(a.program)["vectorized"])
    )
    schedule = schedules_of(program)["vectorized"][0]
    symbols = [s.symbol for s in program.sizes]
    whole, broken = (
        demands(facts, styles()["vectorized"].plan(program, schedule, sizes), schedule)
        for sizes in (dict.fromkeys(symbols, 4096), dict.fromkeys(symbols, 4098))
        for facts in [facts_of(program, sizes)]
    )
    assert broken.blocks == pytest.approx(whole.blocks, rel=0.05)


def test_launches_of_few_points_have_small_blocks() -> None:
    seen = Counter[bool]()
    for program in programs_of_all_levels()[::7]:
        listed = schedules_of(program).get("guarded", [])
        points = prod(evaluate_all(program.kernel.launch_dim, highest_sizes(program)))
        is_few = points <= 128 * 128
        seen[is_few] += 1
        assert any(s.block == (32,) for s in listed) == (is_few and bool(listed))
    assert seen[True] > 3
    assert seen[False] > 30
