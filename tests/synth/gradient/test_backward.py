"""Backward kernels of small programs: run on the host, compared with central differences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generators.program import ir
from generators.program.dtypes import INT32, Array, Scalar, Struct, Vec
from generators.program.expr import Cast, Expr, Field, Load, Var, literal, op
from synth.gates.contract import args_of, launch_of, sizes_of
from synth.gradient.program import backward_program, maxima
from synth.gradient.terms import Undifferentiable, chosen
from synth.gradient.vjp import VJPS
from synth.render.reference import module as render_reference
from synth.rows.gradients import gradient_columns
from validate.host import clang
from validate.host.adjoint import Adjoint
from validate.host.gradient import check_gradient
from validate.host.texts import GradientCases, Kept
from validate.statuses import AdjointStatus

F32 = Scalar("float32")
I, J, N = Var("i", INT32), Var("j", INT32), Var("n", INT32)  # noqa: E741
X, Y = Var("x", Array(F32, 1)), Var("y", Array(F32, 1))
OUT = Var("out", Array(F32, 1))
TOTAL, V = Var("total", F32), Var("v", F32)
ZERO, ONE = literal(0.0, F32), literal(1.0, F32)


def _program(body: Sequence[ir.Statement], name: str) -> ir.Program:
    params = (
        ir.Param("x", Array(F32, 1), "in", ("n",), "uniform", "0.5", "1.5"),
        ir.Param("y", Array(F32, 1), "in", ("n",), "uniform", "0.5", "1.5"),
        ir.Param("n", INT32, "in", (), "size:n"),
        ir.Param("out", Array(F32, 1), "out", ("n",)),
    )
    kernel = ir.Kernel(name, params, ("i",), ("n",), tuple(body))
    return ir.Program("test", "test", 1, "", (), (), kernel, (ir.Size("n", 7),), 3)


def _row(program: ir.Program) -> dict[str, Any]:
    return {
        "id": program.kernel.name,
        "kernel_name": program.kernel.name,
        "reference": render_reference.render(program),
        "args": args_of(program),
        "sizes": sizes_of(program),
        "launch": launch_of(program),
        "input_seed": program.input_seed,
        "relaunch": False,
    }


def _checked(program: ir.Program, folder: Path, wrong: tuple[str, str] = ("", "")) -> Adjoint:
    clang.start()
    row = {**_row(program), **gradient_columns(program)}
    text = row["cuda_plain_backward"]
    assert not wrong[0] or wrong[0] in text, text
    row["cuda_plain_backward"] = text.replace(*wrong) if wrong[0] else text
    cases = GradientCases(folder, Kept())
    handle = f"{program.kernel.name}{len(wrong[0])}"
    cases.build([row], folder / f"{handle}.o", folder)
    clang.load(folder / f"{handle}.o", handle)
    return check_gradient(row, cases.entry(handle, 0, row))


def _store(value: Any) -> ir.Store:
    return ir.Store(OUT, (I,), "", value)


BODIES: dict[str, list[ir.Statement]] = {
    "map_of_two": [_store(op("sin", X[I]) * Y[I] + X[I] * X[I])],
    "nonlinear_after_loop": [
        ir.Assign("total", ZERO),
        ir.For("j", literal(0, INT32), N, 1, (ir.AugAssign("total", "add", X[I] * Y[J]),)),
        _store(TOTAL * TOTAL),
    ],
    "recurrence": [
        ir.Assign("total", X[I]),
        ir.For(
            "j",
            literal(0, INT32),
            literal(3, INT32),
            1,
            (ir.Assign("total", op("sin", TOTAL) * Y[I] + TOTAL),),
        ),
        _store(TOTAL),
    ],
    "branch": [
        ir.Assign("v", X[I]),
        ir.If(((X[I] > Y[I], (ir.Assign("v", V * V * Y[I]),)),), (ir.AugAssign("v", "sub", Y[I]),)),
        _store(V),
    ],
    "overwritten": [
        ir.Assign("v", X[I] * Y[I]),
        ir.Assign("v", op("exp", V)),
        ir.AugAssign("v", "mul", V),
        _store(V),
    ],
    "element_written_again": [
        _store(X[I] * X[I]),
        ir.If(((X[I] > Y[I], (_store(X[I] * Y[I]),)),), ()),
    ],
    "element_scaled": [_store(X[I]), ir.Store(OUT, (I,), "div", Y[I])],
    "element_read_again": [_store(X[I] * Y[I]), _store(OUT[I] * OUT[I])],
    "turns_left_out": [
        ir.Assign("total", ZERO),
        ir.For(
            "j",
            literal(0, INT32),
            N,
            1,
            (
                ir.If(((X[J] > Y[J], (ir.Continue(),)),), ()),
                ir.AugAssign("total", "add", X[J] * X[J] * Y[I]),
            ),
        ),
        _store(TOTAL),
    ],
}


BODIES["left_early"] = [
    ir.Assign("total", ZERO),
    ir.For(
        "j",
        literal(0, INT32),
        N,
        1,
        (
            ir.AugAssign("total", "add", X[J] * X[J] * Y[I]),
            ir.If(((TOTAL > 2.0, (ir.Break(),)),), ()),
        ),
    ),
    _store(TOTAL * TOTAL),
]
LARGEST = Var("largest", F32)
SOFTMAX = [
    ir.Assign("largest", X[I]),
    ir.For("j", literal(0, INT32), N, 1, (ir.Assign("largest", op("max", LARGEST, X[J])),)),
    ir.Assign("total", ZERO),
    ir.For(
        "k",
        literal(0, INT32),
        N,
        1,
        (ir.AugAssign("total", "add", op("exp", X[Var("k", INT32)] - LARGEST)),),
    ),
]
BODIES["softmax"] = [*SOFTMAX, _store(op("exp", X[I] - LARGEST) / TOTAL * Y[I])]


def test_nothing_flows_through_what_a_softmax_takes_off() -> None:
    whole = _program(BODIES["softmax"], "softmax")
    assert maxima(whole) == {"largest"}
    assert "adj_largest" in gradient_text(backward_program(whole))
    assert "adj_largest" not in gradient_columns(whole)["cuda_plain_backward"]
    # The sum alone, and not the quotient, does depend on what is taken off.
    sum_alone = _program([*SOFTMAX, _store(TOTAL * Y[I])], "shifted_sum")
    assert "adj_largest" in gradient_columns(sum_alone)["cuda_plain_backward"]


def gradient_text(program: ir.Program) -> str:
    return render_reference.render(program)


def test_a_sum_that_keeps_fewer_bits_is_noticed(tmp_path: Path) -> None:
    program = _program(BODIES["map_of_two"], "rounded")
    wrong = ("= adj_out * y", "= __int_as_float(__float_as_int(adj_out) & 0xffffe000) * y")
    found = _checked(program, tmp_path, wrong)
    assert found.status == AdjointStatus.WARP_DIFFERS
    assert "rounding" in found.reason


@pytest.mark.parametrize("name", BODIES)
def test_the_backward_kernel_agrees_with_differences(name: str, tmp_path: Path) -> None:
    found = _checked(_program(BODIES[name], name), tmp_path)
    assert found.status == AdjointStatus.AGREES, found.reason


def test_a_wrong_backward_kernel_is_noticed(tmp_path: Path) -> None:
    program = _program(BODIES["map_of_two"], "map_wrong")
    found = _checked(program, tmp_path, ("cosf", "sinf"))
    assert found.status == AdjointStatus.WARP_DIFFERS


def test_what_has_no_backward_says_why() -> None:
    loop = [ir.Assign("v", X[I]), ir.While(V < 2.0, (ir.AugAssign("v", "mul", V),)), _store(V)]
    with pytest.raises(Undifferentiable, match="while"):
        backward_program(_program(loop, "doubling"))


def test_an_output_that_is_scaled_elsewhere_has_none() -> None:
    later = ir.Store(OUT, (I,), "div", Y[I])
    body = [ir.If(((X[I] > Y[I], (_store(X[I]),)),), (_store(Y[I]),)), later]
    with pytest.raises(Undifferentiable, match="scales"):
        backward_program(_program(body, "scaled"))


def test_gradients_by_halves_are_summed_in_floats(tmp_path: Path) -> None:
    half = Array(Scalar("float16"), 1)
    read = Cast(Var("x", half)[J], F32)
    program = _program(
        [
            ir.Assign("total", ZERO),
            ir.For("j", literal(0, INT32), N, 1, (ir.AugAssign("total", "add", read * Y[I]),)),
            _store(TOTAL),
        ],
        "halves",
    )
    first, *others = program.kernel.params
    params = (replace(first, type=half), *others)
    program = replace(program, kernel=replace(program.kernel, params=params))
    backward = backward_program(program)
    types = {p.name: p.type for p in backward.kernel.params}
    assert types["grad_x"] == Array(F32, 1)
    found = _checked(program, tmp_path)
    assert found.status == AdjointStatus.AGREES, found.reason


BALL = Struct("Ball", (("pos", Vec(3, F32)), ("mass", F32), ("kind", INT32)))


def _of_balls(body: Sequence[ir.Statement], role: str) -> ir.Program:
    params = (
        ir.Param("balls", Array(BALL, 1), role, ("n",)),
        ir.Param("y", Array(F32, 1), "in", ("n",), "uniform", "0.5", "1.5"),
        ir.Param("out", Array(F32, 1), "out", ("n",)),
    )
    inits = (
        ir.FieldInit("pos", Vec(3, F32), "uniform", "0.5", "1.5"),
        ir.FieldInit("mass", F32, "uniform", "0.5", "1.5"),
        ir.FieldInit("kind", INT32, "integers", "0", "3"),
    )
    params = (replace(params[0], fields=inits), *params[1:])
    kernel = ir.Kernel(f"weigh_{role}", params, ("i",), ("n",), tuple(body))
    return ir.Program("test", "test", 1, "", (BALL,), (), kernel, (ir.Size("n", 7),), 3)


def test_an_array_of_structs_has_gradients_by_field(tmp_path: Path) -> None:
    ball = Var("ball", BALL)
    pos, mass = Field(ball, "pos", Vec(3, F32)), Field(ball, "mass", F32)
    body = [
        ir.Assign("ball", Load(Var("balls", Array(BALL, 1)), (I,), BALL)),
        _store(mass * op("dot", pos, pos) * Y[I]),
    ]
    program = _of_balls(body, "in")
    names = {p.name for p in backward_program(program).kernel.params}
    assert {"grad_balls_pos", "grad_balls_mass"} <= names
    assert "grad_balls_kind" not in names
    found = _checked(program, tmp_path)
    assert found.status == AdjointStatus.AGREES, found.reason


def test_structs_that_are_changed_in_place_agree(tmp_path: Path) -> None:
    balls, ball = Var("balls", Array(BALL, 1)), Var("ball", BALL)
    mass = Field(ball, "mass", F32)
    body = [
        ir.Assign("ball", Load(balls, (I,), BALL)),
        ir.SetField("ball", BALL, "mass", mass * mass * Y[I]),
        ir.Store(balls, (I,), "", ball),
        _store(mass * Y[I]),
    ]
    program = _of_balls(body, "inout")
    found = _checked(program, tmp_path)
    assert found.status == AdjointStatus.AGREES, found.reason


def test_a_cotangent_that_stays_as_it_is_is_only_read() -> None:
    total = Var("out", Array(F32, 1))
    program = _program([ir.Store(total, (I,), "add", X[I] * Y[I])], "added")
    *others, last = program.kernel.params
    params = (*others, replace(last, role="inout", init="uniform", low="0", high="1"))
    program = replace(program, kernel=replace(program.kernel, params=params))
    roles = {p.name: p.role for p in backward_program(program).kernel.params}
    assert roles["grad_out_in_place"] == "in"


def test_names_have_no_numbers_that_nothing_asks_for() -> None:
    text = gradient_columns(_program(BODIES["branch"], "branch"))["cuda_plain_backward"]
    assert not re.search(r"\bv_2\b", text), text


def test_a_sum_needs_nothing_computed_again() -> None:
    backward = backward_program(_program(BODIES["nonlinear_after_loop"][:2] + [_store(TOTAL)], "s"))
    assert "y" in {p.name for p in backward.kernel.params}
    assert "total" not in {s.name for s in backward.kernel.body if isinstance(s, ir.Assign)}


@pytest.mark.parametrize(
    ("name", "args", "test"),
    [
        ("max", (V, ZERO), ("gt", V, ZERO)),
        ("max", (ZERO, V), ("ge", ZERO, V)),
        ("max", (V, ONE), ("ge", V, ONE)),
        ("max", (ONE, V), ("gt", ONE, V)),
        ("min", (V, ONE), ("le", V, ONE)),
        ("min", (ONE, V), ("lt", ONE, V)),
        ("max", (V, TOTAL), ("ge", V, TOTAL)),
    ],
)
def test_at_a_bound_gradients_are_those_of_pytorch(
    name: str, args: tuple[Expr, Expr], test: tuple[str, Expr, Expr]
) -> None:
    """``relu`` lets nothing through at 0, ``clamp`` all at a bound."""
    first, second = VJPS[name](args, V, V)
    condition = op(test[0], test[1], test[2])
    assert first == chosen(condition, V, ZERO)
    assert second == chosen(condition, ZERO, V)
