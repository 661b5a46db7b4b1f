"""The gates find each kind of mistake in a planted program, and pass a right one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from generators.build import KernelBuilder, cast, fn, make
from generators.build.draw import Draw, Reject
from generators.program.dtypes import FLOAT32, INT32, Scalar, Vec
from generators.program.expr import Expr, Var, literal
from generators.program.ir import Program
from synth.gates.edges import Edge, choose_edges
from synth.gates.judge import Tolerance, judge

N = "n"
V3 = Vec(3, FLOAT32)
Body = Callable[[KernelBuilder, Var, Var, Var, Var], None]


def planted(body: Body, type_: Scalar = FLOAT32, low: object = 0.5, high: object = 2.0) -> Program:
    """A kernel over arrays a and b of 64 elements with thread index i and output out."""
    k = KernelBuilder(Draw(3, "test", 0, 0))
    n = k.size(N, 64, 64)
    a = k.array("a", type_, n, low=low, high=high)
    b = k.array("b", type_, n, low=low, high=high)
    out = k.out("out", type_, n)
    (i,) = k.thread(n)
    body(k, a, b, out, i)
    return k.program("test", 1, "kernel", "A planted kernel for a test.")


def judged(
    body: Body, type_: Scalar = FLOAT32, low: object = 0.5, high: object = 2.0
) -> dict[str, Tolerance]:
    return judge(planted(body, type_, low, high))


def test_a_right_kernel_passes_with_a_tight_tolerance() -> None:
    def body(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
        k.store(out, i, a[i] * b[i] + 0.5)

    tolerance = judged(body)["out"]
    assert tolerance.rtol == 5e-7
    assert tolerance.atol is not None
    assert 1e-7 < tolerance.atol <= 1e-5


def test_integers_are_exact() -> None:
    def body(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
        k.store(out, i, a[i] * b[i])

    assert judged(body, INT32, 0, 100)["out"] == Tolerance(None, None)


def _overflow(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    k.store(out, i, a[i] * b[i])


def test_signed_overflow() -> None:
    for name, high in (("int32", 2**20), ("int8", 100), ("int64", 2**40)):
        with pytest.raises(Reject, match="signed_overflow"):
            judged(_overflow, Scalar(name), 0, high)
    judged(_overflow, Scalar("uint32"), 0, 2**31)


def _out_of_bounds(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    k.store(out, i, a[i + 1] + b[i])


def _collision(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    k.store(out, i // 2, a[i] + b[i])


def _unwritten(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    with k.if_(a[i] > 1.0):
        k.store(out, i, a[i] + b[i])


def _unused(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    k.store(out, i, a[i] * 2.0)


def _constant(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    k.store(out, i, (a[i] - a[i]) * b[i] + 1.0)


def _copy(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    k.store(out, i, a[i] + 1e-30 * b[i])


def _dead_branch(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    value = k.let("value", a[i] + b[i])
    with k.if_(a[i] > 10.0):
        k.assign(value, 0.0)
    k.store(out, i, value)


def _dead_operand(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    k.store(out, i, fn("min", a[i] * b[i], 1000.0))


def _dead_loop(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    value = k.let("value", a[i] * b[i])
    with k.while_(value > 1000.0):
        k.augment(value, "mul", 0.5)
    k.store(out, i, value)


def _endless(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    value = k.let("value", a[i] * b[i])
    with k.while_(value > 0.0):
        k.augment(value, "add", 1.0)
    k.store(out, i, value)


def _domain(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    k.store(out, i, fn("sqrt", a[i] - b[i]))


def _division(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    k.store(out, i, a[i] / (b[i] - b[i]))


def _infinite(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    k.store(out, i, fn("exp", 1000.0 * a[i]) + b[i])


def _bad_cast(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    small = k.let("small", cast(1000.0 * a[i], Scalar("int8")))
    k.store(out, i, cast(small, FLOAT32) + b[i])


def _ill_conditioned(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    k.store(out, i, (a[i] + 100000.0) - 100000.0 + b[i] * 0.001)


def _precision(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    third = k.let("third", a[i] / 3.0 * 3.0)
    value = k.let("value", b[i])
    with k.if_(third > a[i]):
        k.assign(value, -b[i])
    k.store(out, i, value)


def _reads_neighbour(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    k.store(out, i, a[i] * b[i])
    k.store(out, i, out[fn("max", i - 1, 0)] + a[i])


def _reads_unwritten(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    k.store(out, i, out[i] + a[i] * b[i])


PLANTED = {
    "out_of_bounds": _out_of_bounds,
    "write_collision": _collision,
    "unwritten_output": _unwritten,
    "unused_input: b": _unused,
    "constant_output": _constant,
    "trivial_output": _copy,
    "dead_branch": _dead_branch,
    "dead_operand": _dead_operand,
    "dead_loop": _dead_loop,
    "too_many_iterations": _endless,
    "domain_error: sqrt": _domain,
    "domain_error: div": _division,
    "not_finite": _infinite,
    "bad_cast": _bad_cast,
    "ill_conditioned": _ill_conditioned,
    "precision_dependent": _precision,
    "order_dependent": _reads_neighbour,
    "reads_unwritten": _reads_unwritten,
}


@pytest.mark.parametrize("reason", sorted(PLANTED))
def test_planted_mistake_is_rejected(reason: str) -> None:
    with pytest.raises(Reject, match=reason):
        judged(PLANTED[reason])


def test_atomics_and_plain_stores_do_not_mix() -> None:
    def body(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
        k.store(out, i, a[i] * b[i])
        k.atomic("add", out, 0, a[i])

    with pytest.raises(Reject, match="order_dependent"):
        judged(body)


def test_two_kinds_of_atomics_do_not_mix() -> None:
    k = KernelBuilder(Draw(3, "test", 0, 0))
    n = k.size(N, 64, 64)
    a = k.array("a", INT32, n, low=1, high=9)
    total = k.accumulator("total", INT32, "4")
    (i,) = k.thread(n)
    k.atomic("add", total, i % 4, a[i])
    k.atomic("max", total, i % 4, a[i])
    with pytest.raises(Reject, match="order_dependent"):
        judge(k.program("test", 1, "kernel", "A planted kernel for a test."))


def _vector_verdict(build: Callable[[Expr], Expr]) -> dict[str, Tolerance]:
    k = KernelBuilder(Draw(3, "test", 0, 0))
    n = k.size(N, 64, 64)
    v = k.array("v", V3, n, low=-1.0, high=1.0)
    out = k.out("out", V3, n)
    (i,) = k.thread(n)
    k.store(out, i, build(k.let("value", v[i] * 2.0)))
    return judge(k.program("test", 1, "kernel", "A planted kernel for a test."))


def test_a_vector_output_is_judged_by_component() -> None:
    assert _vector_verdict(lambda v: make(V3, v[2], v[0], v[1]))["out"].rtol == 5e-7
    zero = literal(0.0, FLOAT32)
    with pytest.raises(Reject, match="constant_output"):
        _vector_verdict(lambda v: make(V3, v[2], v[0], zero))
    with pytest.raises(Reject, match="ill_conditioned"):
        _vector_verdict(lambda v: make(V3, 1000.0 * v[2], v[0] * 0.0001, v[1]))


def test_struct_fields_are_judged_by_the_tolerance_that_is_published() -> None:
    k = KernelBuilder(Draw(3, "test", 0, 0))
    pair = k.struct("Pair", ("big", FLOAT32), ("small", FLOAT32))
    n = k.size(N, 64, 64)
    x = k.array("x", FLOAT32, n, low=-1.0, high=1.0)
    out = k.out("out", pair, n)
    (i,) = k.thread(n)
    k.store(out, i, make(pair, (12345.0 * x[i] + 3000.0) * x[i], x[i] * 0.0001))
    with pytest.raises(Reject, match="ill_conditioned"):
        judge(k.program("test", 1, "kernel", "A planted kernel for a test."))


def test_an_output_whose_small_values_are_not_seen_is_rejected() -> None:
    def body(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
        with k.if_(a[i] > 1.7):
            k.store(out, i, 30000.0 * b[i] * b[i])
        with k.else_():
            k.store(out, i, 0.0001 * b[i])

    with pytest.raises(Reject, match="uneven_output"):
        judged(body)


def test_a_collision_at_another_size_is_found() -> None:
    k = KernelBuilder(Draw(3, "test", 0, 0))
    n = k.size(N, 64, 64)
    x = k.array("x", FLOAT32, n, low=-1.0, high=1.0)
    y = k.array("y", FLOAT32, "64", role="inout", low=1.0, high=2.0)
    (i,) = k.thread(n)
    k.store(y, i % 64, 2.0 * x[i], op="add")
    with pytest.raises(Reject, match=r"write_collision|order_dependent"):
        judge(k.program("test", 1, "kernel", "A planted kernel for a test."))


def test_an_index_out_of_bounds_at_the_smallest_size_is_found() -> None:
    def body(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
        k.store(out, i, a[i] + b[(i + 1) % 32])

    with pytest.raises(Reject, match="out_of_bounds"):
        judged(body)


def edges_of(
    body: Body, type_: Scalar = FLOAT32, low: object = 0.5, high: object = 2.0
) -> list[Edge]:
    program = planted(body, type_, low, high)
    return choose_edges(program, judge(program))


def _among(edge: Edge, name: str) -> list[str]:
    found: list[str] = next(v["among"] for v in edge["values"] if v["arg"] == name)
    return found


def test_edges_hold_the_ends_and_what_the_program_compares_with() -> None:
    def body(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
        k.store(out, i, fn("where", a[i] > 1.25, a[i] + b[i], b[i]))

    (edge,) = edges_of(body)
    assert {"0.5", "2.0", "1.25", "drawn"} <= set(_among(edge, "a"))
    assert any(1.25 < float(v) < 1.27 for v in _among(edge, "a") if v != "drawn")


def test_a_ladder_has_a_value_at_and_beyond_each_of_its_steps() -> None:
    """Five thresholds, beside a whole number that is none of `a`."""
    steps = ("0.75", "1.0", "1.25", "1.5", "1.75")

    def body(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
        value: Expr = fn("where", (i % 7) > 1, b[i], b[i] + 1.0)
        for step in steps:
            value = fn("where", a[i] > float(step), value + a[i], value)
        k.store(out, i, value)

    found = edges_of(body)
    assert found
    for edge in found:
        among = _among(edge, "a")
        assert {*steps} <= {*among}
        assert all(
            any(0 < float(v) / float(s) - 1 < 0.01 for v in among if v != "drawn") for s in steps
        )


def test_a_threshold_that_float32_does_not_have_is_no_tie() -> None:
    """In the reference 0.7 is less than the float32 that CUDA reads: a tie would part them."""

    def body(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
        k.store(out, i, fn("where", a[i] > 0.7, a[i] + b[i], b[i]))

    (edge,) = edges_of(body)
    near = [float(v) for v in _among(edge, "a") if v != "drawn" and 0.69 < float(v) < 0.71]
    assert len(near) == 1
    assert 0.7 < near[0] < 0.707


def test_whole_numbers_lie_beside_thresholds_and_at_multiples() -> None:
    def body(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
        k.store(out, i, fn("where", a[i] > 30, a[i] % 25, b[i]))

    (edge,) = edges_of(body, INT32, 0, 90)
    assert {"0", "90", "29", "30", "31", "75", "74"} <= {*_among(edge, "a")}


def test_a_program_that_compares_twice_has_another_order_of_values() -> None:
    def body_of(count: int) -> Body:
        def body(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
            value: Expr = b[i]
            for step in range(count):
                value = fn("where", a[i] > 0.75 + 0.25 * step, value + a[i], value)
            k.store(out, i, value)

        return body

    assert [edge["name"] for edge in edges_of(body_of(1))] == ["edges"]
    found = edges_of(body_of(2))
    assert [edge["name"] for edge in found] == ["edges", "edges 2"]
    first, second = (_among(edge, "a") for edge in found)
    assert first != second
    assert sorted(first) == sorted(second)


def test_no_edge_lies_where_rounding_decides() -> None:
    def body(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
        k.store(out, i, fn("where", a[i] * 0.7 > b[i] * 0.7, a[i], b[i]))

    for edge in edges_of(body):
        values = {entry["arg"]: set(entry["among"]) - {"drawn"} for entry in edge["values"]}
        assert not values.get("a", set()) & values.get("b", set()), edge


def test_edges_are_the_same_every_time() -> None:
    def body(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
        k.store(out, i, fn("max", a[i], b[i]) - 0.5)

    assert edges_of(body) == edges_of(body)


def _times_one(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    k.store(out, i, (a[i] + b[i]) * 1.0)


def _less_zero(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    total = k.let("total", a[i] * b[i])
    k.augment(total, "sub", 0.0)
    k.store(out, i, total)


def _started_twice(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    value = k.let("value", a[i])
    k.assign(value, b[i] * 2.0)
    k.store(out, i, value + a[i])


def _set_to_what_it_is(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    value = k.let("value", k.lift(0.0, FLOAT32))
    with k.if_(a[i] < b[i]):
        k.assign(value, 0.0)
    with k.else_():
        k.assign(value, a[i])
    k.store(out, i, value + b[i])


def _own_atomic(k: KernelBuilder, a: Var, b: Var, out: Var, i: Var) -> None:
    total = k.accumulator("sums", FLOAT32, N)
    k.atomic("add", total, i, a[i])
    k.store(out, i, b[i] * a[i])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (_times_one, "neutral_operation"),
        (_less_zero, "neutral_operation"),
        (_started_twice, "dead_start"),
        (_set_to_what_it_is, "dead_start"),
        (_own_atomic, "lone_atomic"),
    ],
)
def test_what_nobody_writes_is_rejected(body: Body, reason: str) -> None:
    with pytest.raises(Reject) as found:
        judged(body)
    assert found.value.reason == reason
