"""What is said of values holds for all that the gates' evaluation sees, and no guard too many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from generators.program import expr, ir
from generators.program.dtypes import FLOAT32, Quat, Type, Vec
from generators.program.expr import Construct, Expr, Var, literal, op
from generators.program.walk import bodies, expressions, parts
from scripts.measure.edges.op_programs import I, array, program, var
from synth.gates.contract import sizes_of
from synth.gates.evaluate import Evaluation
from synth.gates.lanes.values import NOISE, NUDGED, REDRAWN
from synth.gates.variants import prepare
from synth.render.cuda.module import render
from synth.render.ranges.edges import Walk, edges_of
from synth.render.ranges.known import Known, Value, joined
from synth.rows.maker import Accepted
from validate.row.sizes import awkward_sizes

VEC3, QUAT = Vec(3, FLOAT32), Quat(FLOAT32)


class _Seen(Evaluation):
    """Notes the least and largest of each part of each float expression, by node."""

    seen: dict[int, tuple[Any, Any]]

    def value(self, e: Expr, mask: Any) -> Any:
        found = super().value(e, mask)
        if isinstance(found, np.ndarray) and found.dtype == np.float64:
            kinds = self.lanes.variant_of_lane
            # Nudged and noisy lanes leave the contract on purpose.
            kept = ~((kinds == NUDGED) | ((kinds >= NOISE) & (kinds < REDRAWN)))
            kept = kept if mask is None else kept & mask
            if kept.any():
                parts = found.reshape(-1, found.shape[-1])[:, kept]
                old = self.seen.get(id(e), (np.inf, -np.inf))
                least, most = np.fmin(old[0], parts.min(1)), np.fmax(old[1], parts.max(1))
                self.seen[id(e)] = (least, most)
        return found


class _Told(Walk):
    """Notes what is said of each expression, by node."""

    def __init__(self, program: ir.Program) -> None:
        super().__init__(program)
        self.told: dict[int, Value] = {}

    def value(self, e: Expr) -> Value:
        found = super().value(e)
        old = self.told.get(id(e))
        self.told[id(e)] = found if old is None else joined(old, found)
        return found


def _choices(program: ir.Program) -> Iterator[int]:
    """Nodes of the choices of ``where``: lanes evaluate both, what is told is of the one taken."""
    stack = [
        choice
        for body in bodies(program)
        for e in expressions(body)
        if isinstance(e, expr.Op) and e.op == "where"
        for choice in e.args[1:]
    ]
    while stack:
        e = stack.pop()
        yield id(e)
        stack.extend(parts(e))


def _compared(program: ir.Program) -> int:
    """Compare what was told with what was seen; how many expressions something was known of."""
    walk = _Told(program)
    walk.kernel()
    evaluation = prepare(program, awkward_sizes(sizes_of(program))[0])
    evaluation.__class__ = _Seen
    evaluation.seen = {}  # type: ignore[attr-defined]
    evaluation.run()
    narrow, chosen = 0, set(_choices(program))
    for node, (least, most) in evaluation.seen.items():  # type: ignore[attr-defined]
        if node in chosen:
            continue
        told = walk.told[node]
        assert isinstance(told, Known)
        low, high = np.array(told.parts).T
        assert ((low <= least) & (most <= high)).all(), (program.idiom, told.parts, least, most)
        narrow += bool(np.isfinite(low).any())
    return narrow


def test_what_is_said_of_values_holds(all_accepted: list[Accepted]) -> None:
    narrow = sum(_compared(a.program) for a in all_accepted[::2])
    assert narrow > 1000


def test_programs_of_all_idioms_can_be_walked(all_accepted: list[Accepted]) -> None:
    for accepted in all_accepted:
        walk = Walk(accepted.program)
        walk.kernel()


def _text(value: Expr, *params: ir.Param, before: tuple[ir.Statement, ...] = ()) -> str:
    out = array("out", value.type, "out")
    body = [*before, ir.Store(var(out), (I,), "", value)]
    return render(program("edged", [*params, out], body)).text


def _given(name: str, type_: Type, low: str | None, high: str | None, init: str) -> ir.Param:
    given = array(name, type_)
    return ir.Param(name, given.type, "in", given.shape, init, low, high)


A = _given("a", VEC3, "-1.0", "1.0", "uniform")
B = _given("b", VEC3, "0.5", "1.0", "uniform")
U = _given("u", VEC3, None, None, "unit")
Q = _given("q", QUAT, None, None, "unit")
S = _given("s", FLOAT32, "-2.0", "2.0", "uniform")
a, b, u, q, s = (var(p)[I] for p in (A, B, U, Q, S))
ONE, SMALL = literal(1.0, FLOAT32), literal(0.001, FLOAT32)
D = Var("d", VEC3)
GUARDED = "len > 0.0f ?"


@pytest.mark.parametrize(
    ("value", "param", "guarded"),
    [
        (op("normalize", a), A, True),
        (op("normalize", b), B, False),
        (op("normalize", u), U, False),
        (op("normalize", a + b), A, True),
        (op("normalize", q * q), Q, False),
        (op("normalize", q + q), Q, True),
        (op("normalize", Construct((s, s, ONE), VEC3)), S, False),
        (op("acos", s), S, True),
        (op("acos", op("clamp", s, -ONE, ONE)), S, False),
        (op("acos", expr.Component(q, (literal(3, expr.INT32),), FLOAT32)), Q, False),
        (op("acos", op("dot", u, u)), U, True),
        (op("asin", op("sin", s)), S, True),
    ],
)
def test_a_guard_stands_where_the_input_can_get_there(
    value: Expr, param: ir.Param, guarded: bool
) -> None:
    others = [p for p in (A, B) if p is not param and "+" in str(value)]
    text = _text(value, *dict.fromkeys((param, *others, B)))
    shown = GUARDED in text or text.count("fminf(") > str(value).count("clamp")
    assert shown == guarded, text


def test_a_condition_makes_a_guard_needless() -> None:
    far = op("length", D) > SMALL
    direct = op("where", far, op("normalize", D), D)
    assert GUARDED not in _text(direct, A, before=(ir.Assign("d", a),))
    left = ir.If((((op("length_sq", D) < SMALL), (ir.Return(None),)),), ())
    assert GUARDED not in _text(op("normalize", D), A, before=(ir.Assign("d", a), left))
    moved = (ir.Assign("d", a), left, ir.AugAssign("d", "sub", a))
    assert GUARDED in _text(op("normalize", D), A, before=moved)


def test_what_a_loop_changes_is_unknown_in_it() -> None:
    loop = ir.For(
        "k",
        literal(0, expr.INT32),
        literal(3, expr.INT32),
        1,
        (ir.AugAssign("d", "sub", op("normalize", D)),),
    )
    assert GUARDED in _text(D, B, before=(ir.Assign("d", b), loop))


def test_no_edges_are_looked_for_where_no_op_has_one() -> None:
    found = edges_of(program("bare", [A, array("out", VEC3, "out")], []))
    assert not found.safe
    assert not found.at
