"""Terms of the light at a surface: by normal n, direction to the lamp, view and a parameter."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, fn
from generators.program.expr import Expr

Term = Callable[[BodyBuilder, Expr, Expr, Expr, Expr], Expr]


def _lambert(b: BodyBuilder, n: Expr, lt: Expr, v: Expr, p: Expr) -> Expr:
    return fn("max", fn("dot", n, lt), 0.0)


def _half_lambert(b: BodyBuilder, n: Expr, lt: Expr, v: Expr, p: Expr) -> Expr:
    h = b.let(("wrapped", "half_dot"), 0.5 * fn("dot", n, lt) + 0.5)
    return h * h


def _wrap(b: BodyBuilder, n: Expr, lt: Expr, v: Expr, p: Expr) -> Expr:
    return fn("max", (fn("dot", n, lt) + p) / (1.0 + p), 0.0)


def _phong(b: BodyBuilder, n: Expr, lt: Expr, v: Expr, p: Expr) -> Expr:
    facing = b.let(("facing", "n_dot_l"), fn("dot", n, lt))
    mirror = b.let(("mirror", "refl"), 2.0 * facing * n - lt)
    spot = b.let(("spot", "r_dot_v"), fn("max", fn("dot", mirror, v), 0.0))
    return spot * spot * p


def _blinn(b: BodyBuilder, n: Expr, lt: Expr, v: Expr, p: Expr) -> Expr:
    half = b.let(("half_vec", "h"), fn("normalize", lt + v))
    spot = b.let(("n_dot_h", "spec_cos"), fn("max", fn("dot", n, half), 0.0))
    power = b.let(("s2", "spot2"), spot * spot)
    return p * power * power


def _ggx(b: BodyBuilder, n: Expr, lt: Expr, v: Expr, p: Expr) -> Expr:
    half = b.let(("half_vec", "h"), fn("normalize", lt + v))
    cos_h = b.let(("n_dot_h", "cos_h"), fn("dot", n, half))
    a2 = b.let(("a2", "alpha_sq"), p * p)
    denom = b.let(("denom", "d_ggx"), cos_h * cos_h * (a2 - 1.0) + 1.0)
    return a2 / (3.14159 * denom * denom)


def _schlick(b: BodyBuilder, n: Expr, lt: Expr, v: Expr, p: Expr) -> Expr:
    m = b.let(("m", "grazing"), 1.0 - fn("abs", fn("dot", n, v)))
    m2 = b.let(("m2", "grazing_sq"), m * m)
    return p + (1.0 - p) * m2 * m2 * m


DIFFUSE: dict[str, tuple[Term, str, bool]] = {
    "lambert": (_lambert, "max(dot(n, l), 0)", False),
    "half_lambert": (_half_lambert, "(0.5 * dot(n, l) + 0.5)^2", False),
    "wrap": (_wrap, "max((dot(n, l) + p) / (1 + p), 0)", True),
}
GLOSS: dict[str, tuple[Term, str, bool]] = {
    "phong": (_phong, "p * max(dot(2 * dot(n, l) * n - l, v), 0)^2", True),
    "blinn": (_blinn, "p * max(dot(n, h), 0)^4, h = (l + v) / |l + v|", True),
    "ggx": (
        _ggx,
        "p^2 / (3.14159 * (dot(n, h)^2 * (p^2 - 1) + 1)^2), h = (l + v) / |l + v|",
        True,
    ),
    "schlick": (_schlick, "p + (1 - p) * (1 - |dot(n, v)|)^5", True),
}
PARAMS = {
    "wrap": (("wrap", "softness"), 0.2, 0.7),
    "phong": (("gloss", "ks"), 0.4, 1.2),
    "blinn": (("gloss", "ks"), 0.4, 1.2),
    "ggx": (("roughness", "alpha"), 0.5, 0.9),
    "schlick": (("f0", "base_reflect"), 0.04, 0.4),
}
