"""Whole-array NumPy: how forms are written, that every text agrees, and what may not be in one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from generators.program import ir
from generators.program.dtypes import FLOAT32, INT32, Array
from generators.program.expr import Const, Expr, Extent, Var, op
from synth.render.array.module import columns, render
from synth.render.array.values import NoForm
from synth.rows.maker import Accepted, Row
from validate.host.runner import HostRunner
from validate.oracle.arrays import ArraysFailed, run_arrays
from validate.row.inputs import draw_inputs
from validate.row.sizes import own_sizes
from validate.statuses import ArrayStatus

THREAD, J = Var("i", INT32), Var("j", INT32)
A = Var("a", Array(FLOAT32, 2))
B = Var("b", Array(FLOAT32, 2))
V = Var("v", Array(FLOAT32, 1))
AT = Var("at", Array(INT32, 1))
CELLS = Var("cells", Array(INT32, 2))
W = Var("w", Array(FLOAT32, 1))
OUT = Var("out", Array(FLOAT32, 1))
SHAPES = {
    **{"a": ("m", "n"), "b": ("n", "k"), "v": ("m",), "at": ("m",), "out": ("m",)},
    **{"cells": ("m", "n"), "w": ("n",), "starts": ("m + 1",)},
}
ZERO = Const("0.0", FLOAT32)


def text_of(
    body: tuple[ir.Statement, ...], *arrays: Var, role: str = "out", threads: str = "i"
) -> str:
    """The text of a kernel of one thread for each of ``m``, or of ``m`` times ``n``."""
    params = tuple(ir.Param(v.name, v.type, "in", SHAPES[v.name]) for v in arrays)
    params += (ir.Param("out", OUT.type, role, SHAPES["out"]),)
    sizes = tuple(ir.Size(name, 4) for name in "mnk")
    kernel = ir.Kernel("f", params, tuple(threads), tuple("mn"[: len(threads)]), body)
    text = render(ir.Program("math", "x", 1, "", (), (), kernel, sizes, 0))
    return text.partition("def f")[2].partition("\n")[2]


def put(value: Expr) -> ir.Store:
    return ir.Store(OUT, (THREAD,), "", value)


def loop(*body: ir.Statement) -> ir.For:
    return ir.For("j", Const(0, INT32), Extent(A, 1), 1, body)


def test_whole_arrays_need_no_index() -> None:
    assert text_of((put(V[THREAD] * 2.0),), V) == "    out = v * 2.0\n    return out\n"


def test_sums_of_products_are_matrix_products() -> None:
    s = Var("s", FLOAT32)
    body = (ir.Assign("s", ZERO), loop(ir.AugAssign("s", "add", A[THREAD, J] * B[J, 0])), put(s))
    assert "    s = a @ b[:, 0]\n" in text_of(body, A, B)


def test_sums_over_a_dimension_are_reductions() -> None:
    s = Var("s", FLOAT32)
    body = (ir.Assign("s", ZERO), loop(ir.AugAssign("s", "add", op("exp", A[THREAD, J]))), put(s))
    assert "    s = np.exp(a).sum(axis=-1)\n" in text_of(body, A)


def test_turns_that_store_elements_of_their_own_are_a_dimension() -> None:
    """A loop over columns is one expression; where turns read what others store, it is a loop."""
    out = Var("y", Array(FLOAT32, 2))

    def text(value: Expr) -> str:
        store = ir.Store(out, (THREAD, J), "", value)
        params = (ir.Param("a", A.type, "in", ("m", "n")), ir.Param("v", V.type, "in", ("m",)))
        params += (ir.Param("y", out.type, "out", ("m", "n")),)
        kernel = ir.Kernel("f", params, ("i",), ("m",), (loop(store),))
        sizes = (ir.Size("m", 4), ir.Size("n", 4))
        return render(ir.Program("math", "x", 1, "", (), (), kernel, sizes, 0))

    assert "    y = a * v[:, None]\n" in text(A[THREAD, J] * V[THREAD])
    assert "    for j in range(n):\n" in text(out[THREAD, Const(0, INT32)] + A[THREAD, J])


def test_products_of_more_dimensions_are_einsum() -> None:
    """Neither operand has all dimensions, so that the product itself would be the largest array."""
    batch, row, column = (Var(name, INT32) for name in "bij")
    k, s = Var("k", INT32), Var("s", FLOAT32)
    left, right, out = (Var(name, Array(FLOAT32, 3)) for name in ("q", "keys", "y"))
    joined = ir.AugAssign("s", "add", left[batch, row, k] * right[batch, column, k])
    turns = ir.For("k", Const(0, INT32), Extent(left, 2), 1, (joined,))
    store = ir.Store(out, (batch, row, column), "", s)
    shapes = {"q": ("p", "m", "n"), "keys": ("p", "r", "n"), "y": ("p", "m", "r")}
    params = tuple(
        ir.Param(v.name, v.type, "out" if v is out else "in", shapes[v.name])
        for v in (left, right, out)
    )
    body = (ir.Assign("s", ZERO), turns, store)
    kernel = ir.Kernel("f", params, ("b", "i", "j"), ("p", "m", "r"), body)
    sizes = tuple(ir.Size(name, 4) for name in "pmnr")
    text = render(ir.Program("math", "x", 1, "", (), (), kernel, sizes, 0))
    assert 's = np.einsum("bik,bjk->bij", q, keys)' in text


def test_variables_that_only_rename_an_array_are_left_out() -> None:
    s = Var("s", FLOAT32)
    text = text_of((ir.Assign("s", V[THREAD]), put(s * 2.0)), V)
    assert text == "    out = v * 2.0\n    return out\n"


def test_what_depends_on_the_turn_before_is_a_loop() -> None:
    s = Var("s", FLOAT32)
    body = (ir.Assign("s", ZERO), loop(ir.Assign("s", s * 0.5 + A[THREAD, J])), put(s))
    text = text_of(body, A)
    assert "    s = np.zeros(m, dtype=np.float32)\n    for j in range(n):\n" in text
    assert "        s = s * 0.5 + a[:, j]\n" in text


def test_conditions_choose_and_gathers_index() -> None:
    body = (ir.If(((V[THREAD] > 0.0, (put(V[AT[THREAD]]),)),), (put(ZERO),)),)
    text = text_of(body, V, AT)
    assert "out = np.where(v > 0.0, v[at], np.zeros(m, dtype=np.float32))" in text


def test_interiors_are_slices_and_edges_come_first() -> None:
    last = op("eq", THREAD, Extent(V, 0) - 1)
    body = (ir.If(((last, (put(ZERO), ir.Return(None))),), ()), put(V[THREAD + 1] - V[THREAD]))
    text = text_of(body, V)
    assert "    out = np.zeros(m, dtype=np.float32)\n    out[:-1] = v[1:] - v[:-1]\n" in text


def test_variables_that_an_interior_changes_are_changed_there() -> None:
    best = Var("best", FLOAT32)
    inside = op("gt", THREAD, Const(0, INT32))
    least = ir.Assign("best", op("min", best, V[THREAD - 1]))
    body = (ir.Assign("best", V[THREAD]), ir.If(((inside, (least,)),), ()), put(best * 2.0))
    text = text_of(body, V)
    assert "    best = v.copy()\n    best[1:] = np.minimum(best[1:], v[:-1])\n" in text


def test_threads_that_a_mask_leaves_go_on_alone() -> None:
    """Of a mask that is no interior."""
    ends = op("lt", V[THREAD], ZERO)
    body = (ir.If(((ends, (put(ZERO), ir.Return(None))),), ()), put(V[THREAD + 1] - V[THREAD]))
    assert "    i = np.flatnonzero(~mask)\n" in text_of(body, V)


def test_guarded_reads_are_brought_back_into_the_array() -> None:
    far = ir.If(((V[THREAD] > 0.0, (put(V[THREAD + 2]),)),), (put(ZERO),))
    assert "v[np.clip(i + 2, 0, m - 1)]" in text_of((far,), V)


def test_reads_before_an_array_are_brought_back_where_threads_have_ended() -> None:
    """NumPy counts back from the end, but not further than the array is long."""
    ends = op("lt", THREAD, AT[Const(0, INT32)])
    body = (
        ir.If(((ends, (put(ZERO), ir.Return(None))),), ()),
        put(V[THREAD - AT[Const(0, INT32)]]),
    )
    assert "v[np.clip(i - at[0], 0, m - 1)]" in text_of(body, V, AT)


def test_a_place_that_is_bounded_above_is_bounded_below_as_well() -> None:
    place = Var("place", INT32)
    body = (
        ir.Assign("place", THREAD - AT[THREAD]),
        ir.If(((V[THREAD] > 0.0, (put(V[op("min", place, Extent(V, 0) - 1)]),)),), (put(ZERO),)),
    )
    assert "np.clip(np.minimum(place, m - 1), 0, m - 1)" in text_of(body, V, AT)


def test_numbers_on_either_side_of_a_size_are_one() -> None:
    """`m + 1 - 1` is `m`."""
    starts = Var("starts", Array(FLOAT32, 1))
    text = text_of((put(V[THREAD] * starts[Extent(starts, 0) - 1]),), V, starts)
    assert "v * starts[m]" in text


def test_several_elements_a_thread_are_the_whole_array() -> None:
    wide = Var("x", Array(FLOAT32, 1))
    e = Var("e", INT32)
    store = ir.Store(wide, (e,), "", wide[e] * 2.0)
    place = ir.Assign("e", THREAD * 4 + J)
    turns = ir.For("j", Const(0, INT32), Const(4, INT32), 1, (place, store))
    params = (ir.Param("x", wide.type, "inout", ("4*m",)),)
    kernel = ir.Kernel("f", params, ("i",), ("m",), (turns,))
    text = render(ir.Program("math", "x", 1, "", (), (), kernel, (ir.Size("m", 4),), 0))
    assert text.endswith("def f(x):\n    x = x * 2.0\n    return x\n")


def test_choices_by_the_turn_of_a_loop_are_pythons() -> None:
    s = Var("s", FLOAT32)
    first = ir.If(((op("eq", J, Const(0, INT32)), (ir.Assign("s", A[THREAD, J]),)),), ())
    step = ir.Assign("s", s * 0.5 + A[THREAD, J])
    text = text_of((ir.Assign("s", V[THREAD]), loop(first, step), put(s)), V, A)
    assert "        if j == 0:\n            s = a[:, j]\n" in text


def test_threads_of_two_dimensions_that_end_one_by_one_have_a_text_or_a_reason() -> None:
    """Columns at the edge end first, then cells of a mask; the rest reads a neighbour."""
    row, column = Var("r", INT32), Var("c", INT32)
    fixed, out = Var("fixed", Array(INT32, 2)), Var("out", Array(FLOAT32, 2))

    def store(value: Expr) -> ir.Store:
        return ir.Store(out, (row, column), "", value)

    def ends(condition: Expr) -> ir.If:
        return ir.If(((condition, (store(A[row, column]), ir.Return(None))),), ())

    neighbour = store(A[row, column + 1] - A[row, column - 1])
    edge = op("eq", column, Extent(A, 1) - 1)
    body = (ends(edge), ends(op("ne", fixed[row, column], Const(0, INT32))), neighbour)
    params = tuple(ir.Param(v.name, v.type, "in", ("m", "n")) for v in (A, fixed))
    params += (ir.Param("out", out.type, "out", ("m", "n")),)
    kernel = ir.Kernel("f", params, ("r", "c"), ("m", "n"), body)
    sizes = (ir.Size("m", 4), ir.Size("n", 4))
    made = columns(ir.Program("math", "x", 1, "", (), (), kernel, sizes, 0))
    assert made["array_python"] or made["array_reason"] == ArrayStatus.WALK


def test_updates_of_chosen_elements_are_unbuffered() -> None:
    text = text_of((ir.Atomic("add", OUT, (AT[THREAD],), V[THREAD]),), V, AT, role="inout")
    assert "    out = out.copy()\n    np.add.at(out, at, v)\n" in text


def test_a_row_of_values_for_a_table_of_places_has_its_rank() -> None:
    """`np.add.at` reads what lies behind a row that it should repeat."""
    update = ir.Atomic("add", OUT, (CELLS[THREAD, J],), W[J])
    text = text_of((update,), CELLS, W, role="inout", threads="ij")
    assert "np.add.at(out, cells, w[None, :])\n" in text


def test_chosen_threads_alone_store_where_others_name_the_same_element() -> None:
    """`np.where` over all would let a thread that is left out write back what was there."""
    body = (ir.If(((V[THREAD] > 0.0, (ir.Store(OUT, (AT[THREAD],), "", V[THREAD]),)),), ()),)
    text = text_of(body, V, AT, role="inout")
    assert "    out[at[v > 0.0]] = v[v > 0.0]\n" in text


def test_what_is_read_of_an_array_that_changes_is_a_copy() -> None:
    row, s = Var("r", Array(FLOAT32, 2)), Var("s", FLOAT32)
    turn = (
        ir.Assign("s", row[Const(0, INT32), THREAD]),
        ir.Store(row, (Const(0, INT32), THREAD), "", s + 1.0),
        ir.Store(row, (J, THREAD), "", s),
    )
    loop_ = ir.For("j", Const(0, INT32), Extent(row, 0), 1, turn)
    params = (ir.Param("r", row.type, "inout", ("n", "m")),)
    kernel = ir.Kernel("f", params, ("i",), ("m",), (loop_,))
    sizes = (ir.Size("m", 4), ir.Size("n", 4))
    text = render(ir.Program("math", "x", 1, "", (), (), kernel, sizes, 0))
    assert "        s = r[0].copy()\n" in text


def test_a_data_dependent_walk_has_no_form() -> None:
    s = Var("s", FLOAT32)
    walk = ir.While(s > 1.0, (ir.AugAssign("s", "mul", V[THREAD]),))
    with pytest.raises(NoForm, match="walk"):
        text_of((ir.Assign("s", V[THREAD]), walk, put(s)), V)


def test_most_idioms_have_a_form_and_others_a_reason(all_accepted: list[Accepted]) -> None:
    found = [columns(a.program) for a in all_accepted]
    assert all((c["array_python"] is None) != (c["array_reason"] is None) for c in found)
    reasons = Counter(c["array_reason"] for c in found)
    assert reasons[None] > 0.6 * len(found), reasons
    assert {*reasons} - {None} <= {*ArrayStatus} - {ArrayStatus.OFF, ArrayStatus.DIFFERS}


def test_no_text_differs_from_the_reference(all_rows: list[Row]) -> None:
    """Where the host run says otherwise, the text is left out: that is to stay rare."""
    some = [row for row in all_rows if row["array_python"] is not None][::4]
    with HostRunner() as runner:
        found = Counter(result.array for result in runner.run(some))
    assert found["agrees"] >= 0.97 * len(some), found


def outputs(text: str, row: Row) -> dict[str, Any]:
    sizes = own_sizes(row["sizes"])
    inputs = draw_inputs(row["args"], sizes, row["input_seed"])
    return run_arrays(text, row["kernel_name"], row["args"], sizes, inputs)


@pytest.fixture(scope="module")
def whole(all_rows: list[Row]) -> Row:
    """A row of one output, whose text is a function of whole arrays."""
    return next(
        row
        for row in all_rows
        if row["array_python"] is not None
        and [a["role"] == "in" for a in row["args"]].count(0) == 1
    )


def test_outputs_keep_their_dtypes(whole: Row) -> None:
    for value in outputs(whole["array_python"], whole).values():
        assert isinstance(value, np.ndarray)


@pytest.mark.parametrize(
    "line",
    [
        "import os",
        "from os import system",
        "open('x', 'w')",
        "np.save('x', 1)",
        "(1).__class__",
        "np.zeros(1).tofile('x')",
        "np.load = 1",
        "eval('1')",
    ],
)
def test_a_text_may_not_reach_out(whole: Row, line: str) -> None:
    with pytest.raises(ArraysFailed):
        outputs(f"{whole['array_python']}\n{line}\n", whole)


def test_a_wrong_text_is_named(whole: Row) -> None:
    name = whole["kernel_name"]
    wrong = f"{whole['array_python']}\n_right = {name}\n\ndef {name}(*args):\n    return None\n"
    with pytest.raises(ArraysFailed):
        outputs(wrong, whole)
    altered = {**whole, "array_python": f"{whole['array_python'].rstrip()} + 1\n"}
    with HostRunner() as runner:
        (result,) = runner.run([altered])
    assert (result.status, result.array) == ("agrees", "wrong_value")


@pytest.mark.parametrize(
    ("joined", "kept"), [(op("abs", A[THREAD, J]), False), (A[THREAD, J] * 2.0, True)]
)
def test_a_largest_value_starts_at_zero_only_where_values_may_be_below(
    joined: Expr, kept: bool
) -> None:
    acc = Var("acc", FLOAT32)
    body = (
        ir.Assign("acc", ZERO),
        loop(ir.Assign("acc", op("max", acc, joined))),
        put(acc),
    )
    assert ("np.maximum(" in text_of(body, A)) is kept
