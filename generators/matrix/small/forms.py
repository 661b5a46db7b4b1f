"""Quadratic forms: distances in a metric, Gaussians and mixtures, ellipsoids."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.naming import held, helper
from generators.kit.outputs import Extra, extras
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.matrix.small.parts import POINTS, gets, identity, rows_of, symmetric, times_identity
from generators.program import ir
from generators.program.dtypes import INT32, Mat, Scalar, Type, Vec
from generators.program.expr import Expr, Var


def _metric(k: KernelBuilder, g: Site, mat: Mat, level: int) -> tuple[Expr, str]:
    """A positive definite matrix: of a factor, an inverse covariance, of a slope, of scales."""
    way = k.draw.shape.choice(("factor", "covariance", "scales", "surface"))
    value: Expr
    if way == "factor":
        ridge = _ridge(g, mat)
        source = given(g, "factor root", mat, -1.0, 1.0)
        f = held(k, "f low", source)
        value = f * fn("transpose", f) + times_identity(mat, ridge)
        text = f"W = F * transpose(F) + {say(k, ridge)} * I, F = {say(k, source)}"
    elif way == "covariance":
        ridge = _ridge(g, mat)
        source = g.array("covs spreads", mat, -0.5, 0.5, init="well_conditioned")
        c = k.let("c cov", source[g.at])
        value = fn("inverse", symmetric(c) + times_identity(mat, ridge))
        text = f"W = inverse(sym({source.name}) + {say(k, ridge)} I), sym(A) = (A + A^T) / 2"
    elif way == "surface":
        slopes = g.array("slopes height_grads", rows_of(mat), -1.0, 1.0)
        s = k.let("slope grad_h", slopes[g.at])
        value = identity(k, mat) + fn("outer", s, s)
        text = f"W = I + outer(s, s), s = {slopes.name}"
    else:
        scales = g.array("scales stddevs", rows_of(mat), 0.5, 1.6)
        s = k.let("s sd", scales[g.at])
        one = make(rows_of(mat), k.lift(1.0, mat.scalar))
        value = fn("diag", fn("cw_div", one, fn("cw_mul", s, s)))
        text = f"W = diag(1 / s^2), s = {scales.name}"
    return k.let("w metric precision", value), text


def _ridge(g: Site, mat: Mat) -> Expr:
    return given(g, "ridge floor", mat.scalar, 0.2, 0.8)


def _form(k: KernelBuilder, level: int, vec: Vec) -> str:
    """dot(d, W d) in a helper."""
    if level < 2 or k.draw.shape.chance(0.5):
        return ""
    mat = Mat(vec.size, vec.size, vec.scalar)

    def build(_: BodyBuilder, d: Expr, w: Expr) -> Expr:
        return fn("dot", d, w * d)

    return helper(k, "quad_form mahalanobis_sq", (("d", vec), ("w", mat)), build)


def _mixture(k: KernelBuilder, g: Site, x: Expr, made: str, vec: Vec, level: int) -> str:
    """Components of a mixture: their densities up to a factor, summed; and the nearest one."""
    mat = Mat(vec.size, vec.size, vec.scalar)
    k.size("c", 3, 5)
    count = k.trip_count("num_comps component_count", "c")
    if k.draw.shape.chance(0.5):
        inits = [
            ir.FieldInit("mean", vec, "uniform", "-1.0", "1.0"),
            ir.FieldInit("precision", mat, "well_conditioned", "-0.4", "0.4"),
            ir.FieldInit("weight", vec.scalar, "uniform", "0.3", "1.0"),
        ]
        fields: tuple[tuple[str, Type], ...] = tuple((f.name, f.type) for f in inits)
        struct = k.struct(k.name("Component Gaussian Cluster"), *fields)
        items = k.array("components mixture clusters", struct, "c", fields=inits)
        source = f"mean, precision W and weight of {items.name}"
    else:
        means = k.array("means centers", vec, "c", low=-1.0, high=1.0)
        mats = k.array("precisions inv_covs", mat, "c", init="well_conditioned", low=-0.4, high=0.4)
        weights = k.array("weights priors", vec.scalar, "c", low=0.3, high=1.0)
        source = f"mean, W and weight of {means.name}, {mats.name} and {weights.name}"
        items = None

    def component(q: Expr) -> tuple[Expr, Expr, Expr]:
        if items is None:
            return means[q], mats[q], weights[q]
        one = k.let("gauss item", items[q])
        return field(one, "mean"), field(one, "precision"), field(one, "weight")

    def measured(q: Expr) -> tuple[Expr, Expr, Var, Expr]:
        """The offset from a component, W and the weight of that, and the squared distance."""
        mean, w, weight = component(q)
        d = k.let("d off", x - mean)
        return d, w, k.let("sq dist", _measured(k, made, d, w)), weight

    total = k.let("density likelihood", zero(vec.scalar))
    nearest = k.let("nearest best_sq", k.lift(100.0, vec.scalar))
    label = k.let("label best", k.lift(0, INT32))
    with k.for_("comp q", count) as q:
        _, _, sq, weight = measured(q)
        k.augment(total, "add", weight * fn("exp", -0.5 * sq))
        with k.if_(sq < nearest):
            k.assign(nearest, sq)
            k.assign(label, q)
    first = g.put("densities scores", total)
    second = g.put("labels assignments", label)
    text = f"over the components ({source}), with r = dot(x - mean, W * (x - mean)): {first.name}"
    text += f" gets the sum of weight * exp(-r / 2), {second.name} the first component of least r"
    if k.draw.shape.chance(0.5) or level >= 5:
        third = g.put("nearest_sq min_dist", nearest)
        text += f", {third.name} that r"
    return f"{text}.{_shares(k, g, level, vec, total, (count, measured)) if level >= 4 else ''}"


def _measured(k: KernelBuilder, made: str, d: Expr, w: Expr) -> Expr:
    return k.call(made, d, w) if made else fn("dot", d, w * d)


Measured = Callable[[Expr], tuple[Expr, Expr, Var, Expr]]


def _shares(
    k: KernelBuilder, g: Site, level: int, vec: Vec, total: Var, again: tuple[Expr, Measured]
) -> str:
    """A second pass: the share of each component, and the slope of the log density."""
    count, measured = again
    ways = ["shares", "slope"] if level >= 5 else [k.draw.shape.choice(("shares", "slope"))]
    k.used -= {"d", "off", "sq", "dist", "gauss", "item"}
    slope = k.let("pull toward", zero(vec)) if "slope" in ways else None
    shares = None
    if "shares" in ways:
        names = ("responsibilities", "shares")
        shares = k.out(names, vec.scalar, (*g.dims, "c"))
    with k.for_("n j2", count) as n:
        d, w, sq, weight = measured(n)
        share = k.let("share resp", weight * fn("exp", -0.5 * sq) / total)
        if shares is not None:
            k.store(shares, g.index(n), share)
        if slope is not None:
            k.augment(slope, "sub", share * (w * d))
    done = " The share of a component is its weight * exp(-r / 2) over that sum."
    done += f" {shares.name} gets all shares." if shares is not None else ""
    if slope is not None:
        done += gets(g, "score_out log_slopes", slope, "minus the sum of share * W * (x - mean)")
    return done


@idiom
def quadratic_form(k: KernelBuilder, level: int) -> Title:
    """Distances that a matrix measures, alone or over the components of a mixture."""
    shape = k.draw.shape
    g = launch(k, POINTS, "i tid sample")
    scalar = k.draw.wide_float_type()
    size = shape.weighted({2: 3, 3: 3, 4: 1})
    vec, mat = Vec(size, scalar), Mat(size, size, scalar)
    points = g.array("points samples x", vec, -1.5, 1.5)
    x = k.let("xi p", points[g.at])
    made = _form(k, level, vec)
    done = f"With x = {points.name}: "
    if level >= 3 and shape.chance(0.5):
        return _title(k, done + _mixture(k, g, x, made, vec, level))
    w, text = _metric(k, g, mat, level)
    center = given(g, "center mean_x", vec, -0.5, 0.5)
    d = k.let("delta gap", x - center)
    wd = k.let("wd lowered", w * d)
    sq = k.let("form r2", k.call(made, d, w) if made else fn("dot", d, wd))
    done += f"let d = x - {say(k, center)}, {text}, r = dot(d, W * d)."
    menu = {
        "form": Extra("forms dist_sq", lambda: sq, "r"),
        "root": Extra("distances metric_len", lambda: fn("sqrt", sq + 0.01), "sqrt(r + 0.01)"),
        "bell": Extra("bells kernel_values", lambda: fn("exp", -0.5 * sq), "exp(-r / 2)"),
        "cauchy": Extra("robust weights_out", lambda: 1.0 / (1.0 + sq), "1 / (1 + r)"),
        "gradient": Extra("gradients covectors", lambda: wd, "W * d"),
        "logdet": Extra(
            "log_densities log_p",
            lambda: 0.5 * (fn("log", fn("determinant", w)) - sq),
            "(log(determinant(W)) - r) / 2",
        ),
        "volume": Extra(
            "volumes area_factor", lambda: fn("sqrt", fn("determinant", w)), "sqrt(det(W))"
        ),
    }
    if level >= 2:
        done += _angled(k, g, w, d, wd, sq, level)
    if level >= 3 and shape.chance(0.6):
        done += _inside(k, g, sq, scalar)
    used = (1, 1, 2, 2, 3)[level - 1]
    if made:
        del menu["gradient"]
    first = shape.choice(("form", "root", "bell", "cauchy"))
    rest = {key: menu[key] for key in menu if key != first}
    done += extras(g, {first: menu[first]}, 1) + extras(g, rest, used - (level > 1))
    return _title(k, done)


def _title(k: KernelBuilder, done: str) -> Title:
    names = ("quadratic_form", "mahalanobis", "metric_distance", "gaussian_score")
    return Title(k.name(*names), done)


def _angled(k: KernelBuilder, g: Site, w: Expr, d: Expr, wd: Expr, sq: Expr, level: int) -> str:
    """A second vector in the same metric: its product with d, its angle, the part beside d."""
    vec = d.type
    assert isinstance(vec, Vec)
    way = k.draw.shape.choice(("product", "cosine", "beside", "descent"))
    if way == "descent":
        rate = given(g, "rate lr", vec.scalar, 0.1, 0.6)
        return gets(g, "moved stepped", d - rate * wd, f"d - {say(k, rate)} * W * d")
    others = g.array("directions tangent_vecs", vec, -1.0, 1.0)
    v = k.let("v tangent", others[g.at])
    inner = k.let("inner vw", fn("dot", v, wd))
    if way == "product":
        return gets(g, "inner_products projections", inner, f"dot(v, W * d), v = {others.name}")
    if way == "cosine":
        size = k.let("v_sq vv", fn("dot", v, w * v))
        target = g.put("cosines alignment", inner / fn("sqrt", sq * size + 0.05))
        text = "dot(v, W * d) / sqrt(r * dot(v, W * v) + 0.05)"
        return f" {target.name} gets {text}, v = {others.name}."
    return gets(
        g,
        "beside rejected",
        v - (inner / (sq + 0.1)) * d,
        f"v - dot(v, W * d) / (r + 0.1) * d, v = {others.name}",
    )


def _inside(k: KernelBuilder, g: Site, sq: Expr, scalar: Scalar) -> str:
    """Whether the point lies in the ellipsoid; how far out it is, in shells."""
    gate = given(g, "gate radius_sq", scalar, 0.8, 3.0)
    flag = k.let("inside accepted", k.lift(0, INT32))
    with k.if_(sq < gate):
        k.assign(flag, 1)
    if k.draw.shape.chance(0.5):
        with k.elif_(sq < 2.5 * gate):
            k.assign(flag, 2)
        text = f"1 where r < {say(k, gate)}, else 2 where r < 2.5 times that, else 0"
    else:
        text = f"1 where r < {say(k, gate)}, else 0"
    return gets(g, "inside_out gated", flag, f"{text}")
