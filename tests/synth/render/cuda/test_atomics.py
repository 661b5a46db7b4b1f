"""What becomes of atomics: plain updates, one for several lanes, a block's own bins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from drawn_programs import accepted_draw, schedules_in

from generators.program import ir
from generators.program.dtypes import INT32, Array, Scalar, Type
from generators.program.expr import Const, Var
from generators.program.walk import statements
from synth.render.cuda.body import Body
from synth.render.cuda.choose import check_schedule, schedule_for, schedules_of
from synth.render.cuda.cost.atomics import lanes_at_one
from synth.render.cuda.find.owned import owned_arrays, settled
from synth.render.cuda.find.scatter import scattered
from synth.render.cuda.kernel import KernelText
from synth.render.cuda.module import render
from synth.render.cuda.regime import middle_sizes
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import styles
from synth.render.warp import render as render_warp
from synth.rows.maker import Accepted, program_columns
from validate.host.runner import run_plain_rows

BARRIER = "    __syncthreads();\n"


def atomics(kernel: ir.Kernel) -> list[ir.Atomic]:
    return [s for s in statements(kernel.body) if isinstance(s, ir.Atomic)]


def row_of(accepted: Accepted, schedule: Schedule, *swap: str) -> dict[str, Any]:
    """A row whose plain CUDA has one text in place of another, if so asked."""
    program = accepted.program
    columns = program_columns(
        program, accepted.tolerances, accepted.edges, accepted.keys, render_warp(program)
    )
    columns |= render(program, schedule).columns()
    if swap:
        assert swap[0] in columns["cuda_plain"], swap[0]
        columns["cuda_plain"] = columns["cuda_plain"].replace(*swap)
    return columns


def in_style(accepted: list[Accepted], style: str) -> Iterator[tuple[Accepted, Schedule]]:
    """Programs that have a form in a style, with its first and last schedule in turn."""
    fitting = [(a, found) for a in accepted if (found := schedules_in(style, a.program))]
    for k, (one, found) in enumerate(fitting):
        yield one, found[-(k % 2)]


def owning(accepted: list[Accepted]) -> list[Accepted]:
    """Programs that add to their threads' own elements, rewritten so that they do it atomically."""
    found = [replace(a, program=_atomic(a.program)) for a in accepted]
    return [a for a in found if settled(a.program) is not a.program][:40]


def _atomic(program: ir.Program) -> ir.Program:
    body = tuple(
        ir.Atomic("add", s.array, s.indices, s.value)
        if isinstance(s, ir.Store) and s.op == "add" and _may_be_atomic(s.value.type)
        else s
        for s in program.kernel.body
    )
    return replace(program, kernel=replace(program.kernel, body=body))


def _may_be_atomic(type_: Type) -> bool:
    return isinstance(type_, Scalar) and type_.bits >= 32


def test_an_element_of_one_thread_needs_no_atomic(all_accepted: list[Accepted]) -> None:
    found = owning(all_accepted)
    assert len(found) >= 2
    for accepted in found:
        kernel = accepted.program.kernel
        owned = owned_arrays(kernel)
        left = {s.array.name for s in atomics(settled(accepted.program).kernel)}
        assert not left & owned
        assert left | owned >= {s.array.name for s in atomics(kernel)}
        text = render(accepted.program, schedule_for(accepted.program, "guarded")).text
        for name in owned - left:
            assert not re.search(rf"atomic\w+\((\([a-z ]+\*\))?&?{name}\b", text)


def test_a_second_way_into_an_array_keeps_its_atomics(all_accepted: list[Accepted]) -> None:
    for accepted in owning(all_accepted):
        kernel = accepted.program.kernel
        owned = owned_arrays(kernel)
        own = next(s for s in atomics(kernel) if s.array.name in owned)
        other = replace(own, indices=tuple(Const(0, i.type) for i in own.indices))
        kernel = replace(kernel, body=(other, *kernel.body))
        assert own.array.name not in owned_arrays(kernel)
        fewer = settled(replace(accepted.program, kernel=kernel)).kernel
        assert own.array.name in {s.array.name for s in atomics(fewer)}


def test_plain_updates_agree(all_accepted: list[Accepted]) -> None:
    rows = [row_of(a, schedule_for(a.program, "guarded")) for a in owning(all_accepted)[:8]]
    assert [(r.status, r.reason) for r in run_plain_rows(rows) if r.status != "agrees"] == []


def _has_long_loops(kernel: ir.Kernel) -> bool:
    loops = [s for s in statements(kernel.body) if isinstance(s, ir.For)]
    return any(not isinstance(loop.stop, Const) for loop in loops)


def test_bins_beyond_the_copy_are_updated_in_place(all_accepted: list[Accepted]) -> None:
    # Loops over all others take the host minutes where most updates are made in place.
    found = [
        (one, schedule)
        for one, schedule in in_style(all_accepted, "block_bins")
        if schedule.tile and not _has_long_loops(one.program.kernel)
    ]
    every = [row_of(one, replace(schedule, tile=3)) for one, schedule in found[::2]]
    assert all("kept" in row["cuda_plain"] for row in every)
    by_lane = [row for row in every if "* 32 + lane]" in row["cuda_plain"]]
    shared = [row for row in every if row not in by_lane]
    assert by_lane
    assert shared
    rows = by_lane[:5] + shared[:5]
    assert [(r.status, r.reason) for r in run_plain_rows(rows) if r.status != "agrees"] == []


def test_what_is_left_out_is_noticed() -> None:
    """A barrier before or behind the loop, the copy added, the leader, one lane's value."""
    one, other = (accepted_draw("atomic", name, 2) for name in ("histogram", "face_fluxes"))
    bins, count = (schedules_of(one.program)[s][-1] for s in ("block_bins", "warp_aggregated"))
    lanes = schedules_of(one.program)["block_bins"][0]
    add = schedules_of(other.program)["warp_aggregated"][0]
    text = render(one.program, bins).text
    first, middle, last = text.split(BARRIER)
    rows = [
        row_of(one, bins),
        row_of(one, bins, text, first + middle + BARRIER + last),
        row_of(one, bins, text, first + BARRIER + middle + last),
        row_of(one, count),
        row_of(other, add),
        row_of(one, count, "if (lane == __ffs(peers) - 1) {", "{"),
        row_of(one, count, "__ffs(peers) - 1", "0"),
        row_of(other, add, "value += other;", ""),
        row_of(other, add, "rank /= 2;", ""),
        row_of(one, lanes),
        row_of(one, lanes, "copy = 1; copy < 32", "copy = 1; copy < 31"),
        row_of(one, lanes, "const int lane = threadIdx.x % 32", "const int lane = threadIdx.x"),
    ]
    found = [r.status for r in run_plain_rows(rows)]
    assert found[0] == found[3] == found[4] == "agrees"
    assert all(status in ("data_race", "read_out_of_bounds") for status in found[1:3]), found
    assert found[5:8] == ["wrong_value"] * 3
    assert found[8] in ("wrong_value", "timeout")
    assert found[9:11] == ["agrees", "wrong_value"]
    assert found[11] in ("wrote_out_of_bounds", "read_out_of_bounds", "wrong_value", "data_race")


def test_a_block_keeps_no_more_than_fits(all_accepted: list[Accepted]) -> None:
    pairs = [pair for pair in in_style(all_accepted, "block_bins") if pair[1].tile]
    one, schedule = pairs[0]
    for tile, word in ((0, "from 1 on"), (100_000, "shared memory")):
        with pytest.raises(ValueError, match=word):
            check_schedule(one.program, replace(schedule, tile=tile))


def test_plans_follow_from_sizes(all_accepted: list[Accepted]) -> None:
    """Of bins whose number only a launch knows a block keeps the first; of more places fewer lanes
    meet at one."""
    style = styles()["block_bins"]
    pairs = [pair for pair in in_style(all_accepted, "block_bins") if pair[1].tile]
    for one, schedule in pairs:
        program = settled(one.program)
        form = scattered(program.kernel)
        assert form is not None
        sizes = middle_sizes(program)
        plan = style.plan(program, schedule, sizes)
        assert set(plan.in_shared) == set(form.bins)
        is_open = [key for key, t in form.bins.items() if t.places is None]
        assert plan.held == dict.fromkeys(is_open, float(schedule.tile))
    assert 1.0 <= lanes_at_one(5000.0) < lanes_at_one(2.0) <= 32.0


def test_a_style_gives_no_name_that_a_flat_index_has(all_accepted: list[Accepted]) -> None:
    """`cell` was both a flat index that accesses share and the bin that a block keeps."""
    program = all_accepted[0].program
    text = KernelText(program, schedule_for(program, None))
    body = Body(text.library, text.names, {"x": ["n", "m"], "y": ["n", "m"]}, "return;")
    i, j, value = Var("i", INT32), Var("j", INT32), Var("v", Scalar("float32"))
    x, y = (Var(name, Array(Scalar("float32"), 2)) for name in "xy")
    stores = [ir.Store(array, (i, j), "add", value) for array in (x, y, x)]
    lines = body.run(tuple(stores), {"i": INT32, "j": INT32, "v": value.type}, 1)
    (index,) = re.findall(r"const int (\w+) = i \* m \+ j;", "\n".join(lines))
    assert text.fresh(index, "other") == "other"


JOINED = ("block_total", "warp_total", "block_bins", "warp_aggregated")
_SECOND_OF_LANES = (r"(\w+\.y = fm)in(f?\(\w+\.y, )", r"\1ax\2")
_SECOND_IN_BINS = (r"min(\(&address->y)", r"max\1")
"""Of two components or three, the second by the other extreme."""
_EXTREMES = [accepted_draw("atomic", "group_extremes", *at) for at in ((1, 7), (1, 9), (2, 9))]


@pytest.mark.parametrize("style", JOINED)
def test_extremes_of_vectors_are_joined_component_by_component(style: str) -> None:
    fitting = [a for a in _EXTREMES if style in schedules_of(a.program)]
    assert fitting
    rows = [row_of(a, schedules_of(a.program)[style][0]) for a in fitting]
    assert [(r.status, r.reason) for r in run_plain_rows(rows) if r.status != "agrees"] == []
    wrong = _SECOND_IN_BINS if style == "block_bins" else _SECOND_OF_LANES
    for row in rows:
        text = re.sub(*wrong, row["cuda_plain"])
        assert text != row["cuda_plain"]
        row["cuda_plain"] = text
    assert not any(r.status == "agrees" for r in run_plain_rows(rows))


@pytest.mark.parametrize(("level", "seed"), [(4, 8), (5, 8)])
def test_places_that_come_in_rounds_are_bins(level: int, seed: int) -> None:
    """Copies of each channel's peak, the next sample's in the next: all come back all the time."""
    accepted = accepted_draw("atomic", "peak_hold", level, seed)
    assert "mod" in repr(accepted.program.kernel.body)
    rows = [row_of(accepted, s) for s in schedules_of(accepted.program)["block_bins"][::5]]
    assert [(r.status, r.reason) for r in run_plain_rows(rows) if r.status != "agrees"] == []
