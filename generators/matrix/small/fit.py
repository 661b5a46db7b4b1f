"""Least squares by normal equations of two or three unknowns: lines, planes, curves, maps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.naming import helper
from generators.kit.outputs import Extra, extras
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.matrix.small.parts import gets, times_identity
from generators.program.dtypes import Mat, Scalar, Vec
from generators.program.expr import Expr, Var, literal

Basis = Callable[[Expr], tuple[Expr, ...]]


@dataclass
class Model:
    """The rows of a design matrix, sample by sample."""

    row: Callable[[BodyBuilder, Expr], Expr]
    vec: Vec
    text: str
    shared: bool


BASES: dict[str, tuple[int, Basis, str]] = {
    "line": (2, lambda t: (literal(1, t.type), t), "(1, t)"),
    "parabola": (3, lambda t: (literal(1, t.type), t, t * t), "(1, t, t * t)"),
    "through zero": (2, lambda t: (t, t * t), "(t, t * t)"),
    "wave": (2, lambda t: (fn("cos", t), fn("sin", t)), "(cos(t), sin(t))"),
    "offset wave": (
        3,
        lambda t: (literal(1, t.type), fn("cos", t), fn("sin", t)),
        "(1, cos(t), sin(t))",
    ),
    "odd": (2, lambda t: (t, t * t * t), "(t, t * t * t)"),
    "decay": (2, lambda t: (literal(1, t.type), fn("exp", -t)), "(1, exp(-t))"),
}


def _model(k: KernelBuilder, g: Site, scalar: Scalar, level: int) -> Model:
    """Rows by a basis of one abscissa, of a place in the plane, or read from an array."""
    way = k.draw.shape.weighted({"basis": 5, "plane": 3, "rows": 3})
    shared = k.draw.shape.chance(0.5)
    dims = ("m",) if shared else (*g.dims, "m")
    if way == "rows":
        vec = Vec(k.draw.shape.choice((2, 3)), scalar)
        rows = k.array("rows features design", vec, dims, low=-1.5, high=1.5)
        return Model(
            lambda _, j: rows[j if shared else g.index(j)], vec, f"a of {rows.name}", shared
        )
    if way == "plane":
        places = k.array("places uv xy", Vec(2, scalar), dims, low=-1.5, high=1.5)
        vec = Vec(3, scalar)
        first = k.draw.shape.chance(0.5)

        def row(body: BodyBuilder, j: Expr) -> Expr:
            p = body.let("p at", places[j if shared else g.index(j)])
            one = literal(1, scalar)
            return make(vec, one, p[0], p[1]) if first else make(vec, p[0], p[1], one)

        shape = "(1, p[0], p[1])" if first else "(p[0], p[1], 1)"
        return Model(row, vec, f"a = {shape}, p of {places.name}", shared)
    kind = k.draw.shape.choice(sorted(BASES))
    size, basis, text = BASES[kind]
    low, high = (0.0, 3.0) if "wave" in kind or kind == "decay" else (-1.5, 1.5)
    times = k.array("times abscissas ts", scalar, dims, low=low, high=high)
    vec = Vec(size, scalar)
    made = ""
    if level >= 3 and k.draw.shape.chance(0.6):
        made = helper(k, "basis design_row", (("t", scalar),), lambda _, t: make(vec, *basis(t)))

    def based(body: BodyBuilder, j: Expr) -> Expr:
        t = body.let("t tj", times[j if shared else g.index(j)])
        return k.call(made, t) if made else make(vec, *basis(t))

    return Model(based, vec, f"a = {text}, t of {times.name}", shared)


_SAMPLE = ("j", "s", "obs")
_ROW = ("a", "row", "basis")


def _summed(
    k: KernelBuilder, g: Site, model: Model, level: int, values: Var, count: Expr
) -> tuple[Var, Var, str]:
    """A^T W A and A^T W y over the samples."""
    mat = Mat(model.vec.size, model.vec.size, model.vec.scalar)
    ridge = given(g, "ridge damping lam", mat.scalar, 0.2, 0.8)
    normal = k.let("normal ata gram", times_identity(mat, ridge))
    rhs = k.let("rhs aty moment", zero(model.vec))
    weights = None
    if level >= 2 and k.draw.shape.chance(0.5):
        dims = ("m",) if k.draw.shape.chance(0.5) else (*g.dims, "m")
        weights = k.array("weights confidence", mat.scalar, dims, low=0.2, high=1.5)
    before = set(k.used)
    with k.for_("j s obs", count) as j:
        a = k.let(_ROW, model.row(k, j))
        y = values[g.index(j)]
        if weights is None:
            k.augment(normal, "add", fn("outer", a, a))
            k.augment(rhs, "add", y * a)
        else:
            w = k.let("w wj", weights[j if _flat(weights) else g.index(j)])
            k.augment(normal, "add", w * fn("outer", a, a))
            k.augment(rhs, "add", w * y * a)
    # The next passes over the samples call all as this one does.
    k.used = before | {f.name for f in k.functions}
    text = f"with the rows {model.text}"
    if weights is not None:
        text += f", weights {weights.name}"
    return normal, rhs, f"{text} and {say(k, ridge)} * I added to the normal matrix"


def _flat(array: Var) -> bool:
    return getattr(array.type, "ndim", 1) == 1


def _solved(k: KernelBuilder, normal: Var, rhs: Var, level: int) -> Expr:
    """By the inverse, or for two unknowns by the formula, inline or in a helper."""
    mat, vec = normal.type, rhs.type
    assert isinstance(mat, Mat)
    assert isinstance(vec, Vec)
    names = ("coef", "beta", "fit")
    if mat.rows == 3 or k.draw.shape.chance(0.4):
        return k.let(names, fn("inverse", normal) * rhs)

    def build(body: BodyBuilder, m: Expr, b: Expr) -> Expr:
        det = body.let("det d", m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0])
        x = m[1, 1] * b[0] - m[0, 1] * b[1]
        y = m[0, 0] * b[1] - m[1, 0] * b[0]
        return make(vec, x / det, y / det)

    if level >= 3:
        made = helper(k, "solve2 solve_normal", (("m", mat), ("b", vec)), build)
        return k.let(names, k.call(made, normal, rhs))
    return k.let(names, build(k, normal, rhs))


def _residuals(
    k: KernelBuilder, g: Site, model: Model, values: Var, count: Expr, coef: Expr, level: int
) -> str:
    """A second pass over the samples: how well it fits."""
    way = k.draw.shape.choice(("squares", "worst", "each", "robust"))
    start = zero(model.vec.scalar)
    text = f"y - dot(a, x), y being {values.name}"
    if way == "each":
        target = k.out("residuals errors", model.vec.scalar, (*g.dims, "m"))
        with k.for_(_SAMPLE, count) as q:
            row = k.let(_ROW, model.row(k, q))
            k.store(target, g.index(q), values[g.index(q)] - fn("dot", row, coef))
        k.used -= {row.name, q.name}
        return f" {target.name} gets each {text}."
    total = k.let("sse misfit loss", start)
    with k.for_(_SAMPLE, count) as q:
        row = k.let(_ROW, model.row(k, q))
        error = k.let("err res", values[g.index(q)] - fn("dot", row, coef))
        if way == "worst":
            k.assign(total, fn("max", total, fn("abs", error)))
        elif way == "robust":
            k.augment(total, "add", fn("sqrt", 1.0 + error * error) - 1.0)
        else:
            k.augment(total, "add", error * error)
    k.used -= {row.name, q.name, error.name}
    target = g.put(f"{total.name}_out fit_errors", total)
    what = {"squares": "the sum of e * e", "worst": "the largest |e|"}
    what["robust"] = "the sum of sqrt(1 + e * e) - 1"
    return f" {target.name} gets {what[way]} over e = {text}."


def _reweighted(
    k: KernelBuilder, g: Site, model: Model, values: Var, count: Expr, coef: Expr
) -> str:
    """One more solution, samples that fit badly counting less."""
    mat = Mat(model.vec.size, model.vec.size, model.vec.scalar)
    scale = given(g, "scale inlier", mat.scalar, 0.5, 1.5)
    normal = k.let("robust_normal robust_gram", times_identity(mat, 0.1))
    rhs = k.let("robust_moment robust_rhs", zero(model.vec))
    with k.for_(_SAMPLE, count) as z:
        row = k.let(_ROW, model.row(k, z))
        y = k.let("yj seen", values[g.index(z)])
        error = k.let("err res miss", y - fn("dot", row, coef))
        w = k.let("w trust", scale / (scale + error * error))
        k.augment(normal, "add", w * fn("outer", row, row))
        k.augment(rhs, "add", w * y * row)
    return gets(
        g,
        "robust_fit refit",
        fn("inverse", normal) * rhs,
        f"the same fit with 0.1 * I and weights s / (s + e * e), where e = y -"
        f" dot(a, x) and s = {say(k, scale)}",
    )


@idiom
def normal_equations(k: KernelBuilder, level: int) -> Title:
    """Fits by normal equations: summed up, solved, judged."""
    shape = k.draw.shape
    g = launch(k, {"list": 6, "grid": 3}, "i tid series")
    scalar = k.draw.wide_float_type()
    k.size("m", 4, 5)
    count = k.trip_count("num_obs obs_count", "m")
    model = _model(k, g, scalar, level)
    values = k.array("values observed y", scalar, (*g.dims, "m"), low=-2.0, high=2.0)
    normal, rhs, text = _summed(k, g, model, level, values, count)
    if level == 1 and not model.shared and shape.chance(0.5):
        first = g.put("normals gram_out", normal)
        second = g.put("moments rhs_out", rhs)
        done = f"Normal equations of least squares for {values.name} {text}: {first.name} gets the"
        return _title(k, f"{done} matrix, {second.name} the right-hand side.")
    coef = _solved(k, normal, rhs, level)
    done = f"Least squares x for {values.name} {text}."
    if level >= 2 and shape.chance(0.4):
        share = given(g, "blend momentum", scalar, 0.2, 0.8)
        past = g.array("previous last_fit", model.vec, -1.0, 1.0)
        coef = k.let("smooth updated", fn("lerp", past[g.at], coef, share))
        done += f" Then x = {past.name} + {say(k, share)} * (x - {past.name})."
    done += gets(g, "coefficients fits params", coef, "x")
    if level >= 4 or (level == 3 and shape.chance(0.5)):
        done += _residuals(k, g, model, values, count, coef, level)
    if level >= 5:
        done += _reweighted(k, g, model, values, count, coef)
    menu = {
        "det": Extra("dets leverage", lambda: fn("determinant", normal), "det of the matrix"),
        "drop": Extra("explained drops", lambda: fn("dot", coef, rhs), "dot(x, b) with its b"),
        "diagonal": Extra(
            "informations row_norms", lambda: fn("get_diag", normal), "the diagonal of the matrix"
        ),
        "slope": Extra("slopes trend", lambda: coef[1], "x[1]"),
        "length": Extra("lengths norms", lambda: fn("length", coef), "the length of x"),
    }
    if model.shared:
        del menu["det"], menu["diagonal"]
    done += extras(g, menu, (0, 1, shape.integer(0, 1), 1, 2)[level - 1])
    return _title(k, done)


def _title(k: KernelBuilder, done: str) -> Title:
    return Title(k.name("normal_equations least_squares_fit fit_series fit_model"), done)
