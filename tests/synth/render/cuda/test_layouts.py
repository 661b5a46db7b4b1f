"""Vectors, stencils and products: what their texts must not leave out, and where there is none."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from drawn_programs import fitting_in

from generators.program import ir
from generators.program.dtypes import FLOAT32, INT32, Array, Quat, Transform, Vec
from generators.program.expr import Expr, Var, literal, op
from synth.render.cuda.choose import schedule_for, schedules_of
from synth.render.cuda.find.forms import Elementwise, elementwise
from synth.render.cuda.find.halos import Halo, stencil_of
from synth.render.cuda.find.products import product_of
from synth.render.cuda.kernel import aligned_elements
from synth.render.cuda.module import render
from synth.render.warp import render as render_warp
from synth.rows.maker import Accepted, program_columns
from validate.host.runner import HostRunner


def statuses(accepted: list[Accepted], style: str, pattern: str, new: str) -> set[str]:
    """What the host run says of texts in a style, each with one part of it replaced."""
    rows = []
    for a in accepted:
        plain = render(a.program, schedule_for(a.program, style))
        text, count = re.subn(pattern, new, plain.text, count=1)
        assert count == 1, plain.text
        python = render_warp(a.program)
        columns = program_columns(a.program, a.tolerances, a.edges, a.keys, python)
        rows.append(columns | plain.columns() | {"cuda_plain": text})
    with HostRunner() as host:
        return {result.status for result in host.run_plain(rows, relaunch=True)}


def vectorized(all_accepted: list[Accepted], flat: bool) -> list[Accepted]:
    """Some programs with vectors over all elements, or along rows."""
    found = []
    for a in all_accepted:
        form = elementwise(a.program.kernel)
        if form is not None and form.flat == flat and "vectorized" in schedules_of(a.program):
            found.append(a)
    return found[:: len(found) // 3][:3]


@pytest.mark.parametrize("style", ["halo_tiled", "register_tiled"])
def test_a_barrier_left_out_is_noticed(style: str, all_accepted: list[Accepted]) -> None:
    chosen = fitting_in(style, all_accepted)[:3]
    found = statuses(chosen, style, r" *__syncthreads\(\);\n", "")
    # A thread meets what nobody has written yet (garbage, when cast, is undefined), or what
    # another one writes.
    assert found <= {"data_race", "read_out_of_bounds", "undefined"}


def test_a_vector_past_the_end_is_noticed(all_accepted: list[Accepted]) -> None:
    chosen = vectorized(all_accepted, flat=True)
    found = statuses(chosen, "vectorized", r"if \(first \+ \d+ < ", "if (first < ")
    assert found <= {"wrote_out_of_bounds", "read_out_of_bounds"}


def test_rows_that_are_no_whole_vectors_are_noticed(all_accepted: list[Accepted]) -> None:
    chosen = vectorized(all_accepted, flat=False)
    found = statuses(chosen, "vectorized", r"if \(\S.* % \d+ != 0\) \{", "if (false) {")
    assert "agrees" not in found


@pytest.mark.parametrize(
    ("pattern", "new"),
    [
        (r"(= \w+ \+ threadIdx\.x)", r"\1 + 1"),
        (r"(\w+) \+= (\w+)\) \{", r"\1 += 2 * \2) {"),
        (r"(= \d+ \* \w+ \* blockIdx\.x);", r"\1 * 2;"),
        (r"= min\((\w+) \+ \d+ \*", r"= min(\1 +"),
    ],
)
def test_elements_of_such_rows_left_out_are_noticed(
    pattern: str, new: str, all_accepted: list[Accepted]
) -> None:
    chosen = vectorized(all_accepted, flat=False)
    assert "agrees" not in statuses(chosen, "vectorized", pattern, new)


def out_of(body: ir.Body) -> Elementwise:
    """The form of a kernel that reads ``a`` and writes ``out`` at its own place."""
    kinds = {"a": "in", "out": "out"}
    params = tuple(ir.Param(n, Array(FLOAT32, 1), role, ("n",)) for n, role in kinds.items())
    form = elementwise(ir.Kernel("k", params, ("i",), ("n",), body))
    assert form is not None
    return form


def test_outputs_are_loaded_where_some_threads_leave_them() -> None:
    i = Var("i", INT32)
    a, out = Var("a", Array(FLOAT32, 1)), Var("out", Array(FLOAT32, 1))
    store = ir.Store(out, (i,), "", a[i])
    test = op("gt", a[i], a[i] * 2.0)
    both = ir.If(((test, (store,)),), (store,))
    leaves = ir.If(((test, (ir.Return(None),)),), ())
    stores_and_leaves = ir.If(((test, (store, ir.Return(None))),), ())
    sure: list[ir.Body] = [(store,), (both,), (stores_and_leaves, store)]
    for body in sure:
        assert not out_of(body).loaded
    again = ir.Store(out, (i,), "", out[i] + 1.0)
    unsure: list[ir.Body] = [(ir.If(((test, (store,)),), ()),), (leaves, store), (store, again)]
    for body in unsure:
        assert out_of(body).loaded == {"out"}


def test_rows_are_loaded_unless_all_of_them_is_written_first() -> None:
    i, k = Var("i", INT32), Var("k", INT32)
    out = Var("out", Array(FLOAT32, 2))
    params = (ir.Param("out", Array(FLOAT32, 2), "out", ("n", "3")),)
    zero, one, three = (literal(value, INT32) for value in (0, 1, 3))
    fills = ir.For("k", zero, three, 1, (ir.Store(out, (i, k), "", literal(1.0, FLOAT32)),))
    reads = ir.Store(out, (i, zero), "", out[i, one] * 2.0)
    for body, loaded in (((fills, reads), set()), ((reads, fills), {"out"}), ((reads,), {"out"})):
        form = elementwise(ir.Kernel("k", params, ("i",), ("n",), body))
        assert form is not None
        assert (dict(form.rows), form.loaded, form.width) == ({"out": 3}, loaded, 4)


def test_types_within_others_keep_their_alignment() -> None:
    quats = ir.Param("q", Array(Quat(FLOAT32), 1), "in", ("n",))
    poses = ir.Param("t", Array(Transform(FLOAT32), 1), "in", ("n",))
    long = ir.Param("v", Array(Vec(6, FLOAT32), 1), "in", ("n",))
    kernel = ir.Kernel("k", (quats, long), ("i",), ("n",), ())
    assert aligned_elements(kernel) == {Quat(FLOAT32): 16, Vec(6, FLOAT32): 8}
    with_poses = replace(kernel, params=(quats, poses, long))
    assert aligned_elements(with_poses) == {Vec(6, FLOAT32): 8}


def test_products_know_no_thread_in_their_turns(all_accepted: list[Accepted]) -> None:
    """Sums of a square are told apart by the elements alone that each turn reads."""
    for a in fitting_in("register_tiled", all_accepted):
        kernel = a.program.kernel
        found = product_of(kernel)
        assert found is not None
        own = Var(kernel.threads[-1], INT32)
        turns = (*found.loop.body, ir.Assign("mine", own + 1))
        body = tuple(replace(s, body=turns) if s is found.loop else s for s in kernel.body)
        assert product_of(replace(kernel, body=body)) is None


def halo_of(*places: Expr) -> Halo | None:
    """The tile that a kernel of one dimension needs for these places of ``a``."""
    a, out = Var("a", Array(FLOAT32, 1)), Var("out", Array(FLOAT32, 1))
    params = (
        ir.Param("a", Array(FLOAT32, 1), "in", ("n",)),
        ir.Param("out", Array(FLOAT32, 1), "out", ("n",)),
        ir.Param("n", INT32, "in", (), "size:n"),
    )
    value: Expr = a[places[0]]
    for place in places[1:]:
        value = value + a[place]
    body = (ir.Store(out, (Var("i", INT32),), "", value),)
    found = stencil_of(ir.Kernel("k", params, ("i",), ("n",), body))
    return None if found is None else found.halos["a"]


def test_stencils_reach_as_far_as_their_offsets() -> None:
    i, n = Var("i", INT32), Var("n", INT32)
    zero = literal(0, INT32)
    left, right = op("max", i - 2, zero), op("min", i + 1, n - 1)
    assert halo_of(left, i, right) == Halo((), (-2,), (1,), ("clamp",))
    assert halo_of((i - 1 + n) % n, i, (i + 3) % n) == Halo((), (-1,), (3,), ("wrap",))
    assert halo_of(i, i + 1, i + 2) == Halo((), (0,), (2,), ("",))
    # Two edges, too few reads, and a bound that is not the last place.
    assert halo_of(left, i, (i + 1) % n) is None
    assert halo_of(left, i) is None
    assert halo_of(left, i, op("min", i + 1, n - 2)) is None
