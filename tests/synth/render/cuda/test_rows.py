"""Rows shared out to lanes, warps and blocks: what their texts must not leave out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from drawn_programs import accepted_draw, fitting_in, schedules_in

from generators.build.registry import LEVELS
from generators.program import ir
from generators.program.dtypes import FLOAT32, Array
from generators.program.expr import Const, Expr, Load, Var
from generators.program.walk import expressions, statements
from synth.render.cuda.choose import check_schedule, schedules_of
from synth.render.cuda.find.softmax import softmax, substituted
from synth.render.cuda.module import render
from synth.render.cuda.schedule import Schedule
from synth.render.warp import render as render_warp
from synth.rows.maker import Accepted, program_columns
from validate.host.runner import run_plain_rows

Pick = Callable[[Schedule], bool]


def statuses(accepted: list[Accepted], style: str, pick: Pick, pattern: str, new: str) -> set[str]:
    """What the host run says of texts under the schedules picked, with parts of them replaced."""
    rows = []
    for a in accepted:
        python = render_warp(a.program)
        columns = program_columns(a.program, a.tolerances, a.edges, a.keys, python)
        for schedule in filter(pick, schedules_of(a.program).get(style, ())):
            plain = render(a.program, schedule)
            text, count = re.subn(pattern, new, plain.text)
            assert count, plain.text
            rows.append(columns | plain.columns() | {"cuda_plain": text})
    assert rows
    return {result.status for result in run_plain_rows(rows)}


def of_blocks(schedule: Schedule) -> bool:
    return schedule.group == schedule.threads == 128 and schedule.vector_width == 1


def in_vectors(schedule: Schedule) -> bool:
    return schedule.vector_width > 1


def with_vectors(all_accepted: list[Accepted]) -> list[Accepted]:
    """Programs whose own shape has rows of whole vectors."""
    found = [
        a for a in all_accepted if any(map(in_vectors, schedules_in("warp_per_row", a.program)))
    ]
    return found[:2]


def test_vectors_agree_and_need_whole_ones(all_accepted: list[Accepted]) -> None:
    chosen = with_vectors(all_accepted)
    assert statuses(chosen, "lanes_per_row", in_vectors, "$", "") == {"agrees"}
    whole = r"if \(.* % [24] == 0\) \{"
    assert "agrees" not in statuses(chosen, "warp_per_row", in_vectors, whole, "if (true) {")


def test_an_index_of_a_loop_that_is_printed_twice_is_computed_twice(
    all_accepted: list[Accepted],
) -> None:
    """Once for vectors and once for rows that hold no whole ones."""
    seen = 0
    for a in all_accepted:
        for schedule in filter(in_vectors, schedules_in("lanes_per_row", a.program)):
            text = render(a.program, schedule).text
            assert not re.search(r"\bint (\w+) = \1;", text), text
            seen += 1
    assert seen


def test_parts_of_vectors_left_out_are_noticed(all_accepted: list[Accepted]) -> None:
    """The own shape of a row runs the loop in vectors, so that a fault in it is met."""
    chosen = with_vectors(all_accepted)
    found = statuses(chosen, "warp_per_row", in_vectors, r"(\w+) < [24]; \+\+", r"\1 < 1; ++")
    assert "agrees" not in found


def test_vectors_only_where_the_own_shape_has_them(all_accepted: list[Accepted]) -> None:
    (a, *_) = with_vectors(all_accepted)
    wide = next(filter(in_vectors, schedules_of(a.program)["warp_per_row"]))
    sizes = tuple(replace(s, value=s.value + 1) for s in a.program.sizes)
    with pytest.raises(ValueError, match="vector_width"):
        check_schedule(replace(a.program, sizes=sizes), wide)


@pytest.mark.parametrize("style", ["block_per_row", "online_softmax", "block_total"])
def test_a_barrier_left_out_is_noticed(style: str, all_accepted: list[Accepted]) -> None:
    chosen = fitting_in(style, all_accepted)[:2]
    pick = (lambda s: s.elements_a_thread == 4) if style == "block_total" else of_blocks
    found = statuses(chosen, style, pick, r" *__syncthreads\(\);\n", "")
    assert "agrees" not in found


def _styled(a: Accepted) -> list[Schedule]:
    return schedules_of(a.program)["online_softmax"]


def test_sums_that_are_not_scaled_are_noticed(all_accepted: list[Accepted]) -> None:
    # In a kernel with a scale of its own the printer calls this one otherwise.
    chosen = [
        a
        for a in fitting_in("online_softmax", all_accepted)
        if re.search(r" \* scale\b", render(a.program, next(filter(of_blocks, _styled(a)))).text)
    ][:2]
    assert statuses(chosen, "online_softmax", of_blocks, "$", "") == {"agrees"}
    found = statuses(chosen, "online_softmax", of_blocks, r" \* scale\b", "")
    # Where a lane has one element, there is nothing before it to scale.
    assert "wrong_value" in found
    assert found <= {"wrong_value", "agrees"}


def test_lanes_of_a_row_that_is_none_leave_before_the_others_join(
    all_accepted: list[Accepted],
) -> None:
    """Each lane is its row's alone, so that rows may also be changed in place."""
    in_place = 0
    for a in all_accepted:
        known = schedules_of(a.program)
        assert ("lanes_per_row" in known) == ("warp_per_row" in known), a.program.idiom
        if "lanes_per_row" not in known:
            continue
        text = render(a.program, known["lanes_per_row"][0]).text
        kernel = text[text.index('extern "C"') :]
        assert kernel.index("return;") < kernel.index("_lanes("), text
        body = a.program.kernel.body
        stored = {s.array.name for s in statements(body) if isinstance(s, ir.Store)}
        loaded = {e.array.name for e in expressions(body) if isinstance(e, Load)}
        in_place += bool(stored & loaded)
    assert in_place


def test_sums_of_a_loop_share_a_barrier(all_accepted: list[Accepted]) -> None:
    """Of several sums, each has a barrier less than it would have alone."""
    counted = 0
    places = (("matrix", "gated_product"), ("matrix", "feature_covariance"))
    several = [accepted_draw(*place, level) for place in places for level in LEVELS]
    styled = [a for a in several if "block_per_row" in schedules_of(a.program)]
    for a in [*fitting_in("block_per_row", all_accepted), *styled]:
        plain = render(a.program, schedules_of(a.program)["block_per_row"][0])
        kernel = plain.text[plain.text.index('extern "C"') :]
        loops = sum(isinstance(s, ir.For) for s in a.program.kernel.body)
        assert len(re.findall(r"\bblock_\w+\(", kernel)) <= loops
        counted += bool(re.search(r"\n    block_\w+\(\w+, ", kernel))
    assert counted


def _other_start(kernel: ir.Kernel, value: Expr) -> ir.Kernel:
    form = softmax(kernel)
    assert form is not None
    own = ir.Assign(form.largest.name, value)
    return replace(
        kernel, body=tuple(own if k == form.start else s for k, s in enumerate(kernel.body))
    )


def test_online_softmax_only_in_that_shape(all_accepted: list[Accepted]) -> None:
    kernels = [a.program.kernel for a in fitting_in("online_softmax", all_accepted)]
    # Another softmax of the same kernel would still have the shape.
    kernel, form = next(
        (kernel, form)
        for kernel in kernels
        if (form := softmax(kernel)) and len(form.split.sums) == 2
    )
    # No largest value is less than any yet: the difference of two infinite ones is no number.
    assert softmax(_other_start(kernel, Const("-inf", FLOAT32))) is None
    loop = kernel.body[form.second]
    assert isinstance(loop, ir.For)
    # The sum is of something else than what the largest value was taken of.
    array = Var("other", Array(FLOAT32, 1))
    other = Load(array, (Var(loop.name, form.value.type),), FLOAT32)
    turn = tuple(
        replace(s, value=substituted(s.value, {form.value: other})) if hasattr(s, "value") else s
        for s in loop.body
    )
    body = [replace(loop, body=turn) if s is loop else s for s in kernel.body]
    assert softmax(replace(kernel, body=tuple(body))) is None


def test_what_is_read_again_behind_the_sums_is_read_by_who_writes_it() -> None:
    """Other lanes would read an element after one has written it."""
    name = "farthest_point_update"
    places = [accepted_draw("control_flow", name, n, seed) for n in (2, 3) for seed in range(8, 11)]
    seen = 0
    for a in places:
        in_place = [p.name for p in a.program.kernel.params if p.role == "inout"]
        for schedule in schedules_of(a.program).get("warp_per_row", []):
            text = render(a.program, schedule).text
            body = text[text.index("lane = threadIdx.x") :]
            for name in in_place:
                assert 0 < body.find("lane != 0") < body.index(f"{name}["), text
                seen += 1
    assert seen
