"""Tests of rays against flat shapes and boxes: the distance, or a value for a miss."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, fn
from generators.program.dtypes import Vec
from generators.program.expr import Expr, op


def _plane(b: BodyBuilder, o: Expr, d: Expr, parts: list[Expr], miss: float, culled: bool) -> Expr:
    denom = b.let(("denom", "d_dot_n"), fn("dot", d, parts[1]))
    t = b.let(("t", "dist"), b.lift(miss, denom.type))
    with b.if_(denom < -0.1 if culled else fn("abs", denom) > 0.1):
        b.assign(t, fn("dot", parts[0] - o, parts[1]) / denom)
        reached: Expr = t < 0.0
        if len(parts) > 2:
            reached = op("or", reached, fn("length", o + t * d - parts[0]) > parts[2])
        with b.if_(reached):
            b.assign(t, b.lift(miss, denom.type))
    return t


def _triangle(b: BodyBuilder, o: Expr, d: Expr, parts: list[Expr], miss: float, _: bool) -> Expr:
    e1 = b.let(("e1", "edge1", "ab"), parts[1] - parts[0])
    e2 = b.let(("e2", "edge2", "ac"), parts[2] - parts[0])
    p = b.let(("pvec", "h", "p"), fn("cross", d, e2))
    det = b.let(("det", "a_det"), fn("dot", e1, p))
    hit_t = b.let(("t_hit", "t"), b.lift(miss, det.type))
    with b.if_(det > 0.1):
        s = b.let(("tvec", "s"), o - parts[0])
        u = b.let(("u", "bary_u"), fn("dot", s, p) / det)
        q = b.let(("qvec", "q"), fn("cross", s, e1))
        v = b.let(("v", "bary_v"), fn("dot", d, q) / det)
        t = b.let(("dist", "t_tri"), fn("dot", e2, q) / det)
        inside = op("and", op("and", u > 0.0, v > 0.0), op("and", u + v < 1.0, t > 0.0))
        with b.if_(inside):
            b.assign(hit_t, t)
    return hit_t


def _box(b: BodyBuilder, o: Expr, d: Expr, parts: list[Expr], miss: float, _: bool) -> Expr:
    assert isinstance(o.type, Vec)
    near: Expr | None = None
    far: Expr | None = None
    t1 = b.let(("t_lo", "t0"), fn("cw_div", parts[0] - o, d))
    t2 = b.let(("t_hi", "t1"), fn("cw_div", parts[1] - o, d))
    for c in range(o.type.size):
        first, last = fn("min", t1[c], t2[c]), fn("max", t1[c], t2[c])
        near = first if near is None else fn("max", near, first)
        far = last if far is None else fn("min", far, last)
    assert near is not None
    assert far is not None
    enter = b.let(("enter", "t_near"), fn("max", near, 0.0))
    leave = b.let(("leave", "t_far"), far)
    return fn("where", leave < enter, b.lift(miss, enter.type), enter)


def shape_test(form: str, miss: float, culled: bool) -> Callable[..., Expr]:
    build = {"plane": _plane, "disc": _plane, "triangle": _triangle, "box": _box}[form]
    return lambda b, o, d, *parts: build(b, o, d, list(parts), miss, culled)
