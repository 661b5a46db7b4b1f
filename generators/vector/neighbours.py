"""Forces between a point and its listed neighbours: springs, repulsion, smoothing, kernels."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, sqrt
from generators.kit.naming import maybe, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part
from generators.kit.sites import Site, launch
from generators.kit.sources import ANY, constant, zero
from generators.kit.words import say
from generators.program.dtypes import INT32, Vec, scalar_of
from generators.program.expr import Expr, Var
from generators.vector.shelf import VectorShelf, further, settings

_TERMS = VectorShelf(scalars="a c")
"""What a neighbour xj adds to a point xi, with numbers written out in the kernel."""

_TERMS.add("smoothing", "smoothed", lambda xi, xj, a: a * (xj - xi))
_TERMS.add("damped_smoothing", "smoothed", lambda xi, xj, a, c: a * (c * xj - xi))


@_TERMS.formula("forces")
def spring(body: BodyBuilder, xi: Expr, xj: Expr, a: Expr, c: Expr) -> Expr:
    delta = body.let("delta edge", xj - xi)
    dist = body.let("dist len_ij", sqrt(dot(delta, delta) + 0.02))
    return a * (dist - c) / dist * delta


@_TERMS.formula("forces")
def repulsion(body: BodyBuilder, xi: Expr, xj: Expr, a: Expr, c: Expr) -> Expr:
    away = body.let("away delta", xi - xj)
    r2 = body.let("r2 dist_sq", dot(away, away) + c)
    return a * away / (r2 * sqrt(r2))


@_TERMS.formula("pulls")
def attraction(body: BodyBuilder, xi: Expr, xj: Expr, a: Expr) -> Expr:
    delta = body.let("delta to_other", xj - xi)
    return exp(-a * dot(delta, delta)) * delta


@_TERMS.formula("pulls")
def rational_pull(body: BodyBuilder, xi: Expr, xj: Expr, a: Expr) -> Expr:
    delta = body.let("delta to_other", xj - xi)
    return delta / (1.0 + a * dot(delta, delta))


_RANGES = {
    "smoothing": {"a": (0.05, 0.6)},
    "damped_smoothing": {"a": (0.05, 0.6), "c": (0.6, 0.99)},
    "spring": {"a": (0.8, 6.0), "c": (0.2, 0.95)},
    "repulsion": {"a": (0.15, 0.99), "c": (0.1, 0.6)},
    "attraction": {"a": (0.3, 2.0)},
    "rational_pull": {"a": (0.3, 2.0)},
}


def _pair(k: KernelBuilder, level: int, vec: Vec) -> tuple[Callable[..., Expr], str, str]:
    """What each pair gives, in a helper or in place; its text and its name."""
    formula = k.draw.shape.choice(_TERMS.cards)
    ranges = _RANGES[formula.name]
    numbers = {key: k.lift(constant(k, *bounds), vec) for key, bounds in ranges.items()}
    texts = {key: say(k, number) for key, number in numbers.items()}
    use = routine(
        k,
        {1: 0.0, 2: 0.5}.get(level, 1.0),
        f"{formula.name}_term pair_{formula.name} {formula.name}_between",
        {"xi": vec, "xj": vec},
        lambda b, x, y: formula.build(b, x, y, *numbers.values()),
    )
    return use, formula.said({"xi": "xi", "xj": "xj"} | texts), formula.name


@idiom
def neighbour_forces(k: KernelBuilder, level: int) -> Title:
    """Sum over the listed neighbours of each point: springs, repulsion, smoothing."""
    shape = k.draw.shape
    vec = Vec(k.draw.shape.weighted({3: 3, 2: 2}), k.draw.wide_float_type())
    site, degree = launch(k, list=5, batch=3 + level // 3), k.size("k", 3, 6)
    points = site.array("positions points nodes", vec, -1.0, 1.0)
    near = f"index_of:{site.dims[-1]}"
    links = site.array("neighbors links adjacency", INT32, more=degree, init=near)
    use, text, form = _pair(k, level, vec)
    weights = None
    if level >= 2 and shape.chance(0.5):
        weights = site.array("weights strengths", vec.scalar, 0.3, 1.5, more=degree)
        text = f"the link's entry of {weights.name} times {text}"
    count = k.trip_count("degree neighbor_count num_links", degree)
    xi = k.let("xi here p", points[site.at])
    total = k.let("total force acc", zero(vec))
    used = k.let("used near hits", zero(vec.scalar)) if level >= 3 else None
    with ExitStack() as blocks:
        slot = (*site.at, blocks.enter_context(k.for_("s slot e", count)))
        j = k.let("j other nb", links[slot])
        if level >= 4 and shape.chance(0.5):
            with k.if_(fn("eq", j, site.at[-1])):
                k.continue_()
            text += ", skipping j = i"
        there = (*site.at[:-1], j)
        xj = k.let("xj there q", points[there])
        value = use(xi, xj)
        if weights is not None:
            value = weights[slot] * value
        if used is not None:
            reach = constant(k, 0.6, 1.6)
            value = maybe(k, "term pull", value)
            blocks.enter_context(k.if_(fn("length_sq", xj - xi) < reach))
            k.augment(used, "add", 1.0)
            text += f", where |xj - xi|^2 < {reach}"
        k.augment(total, "add", value)
    done = f"Sum over the neighbours j in {links.name} of each point i, x = {points.name}, {text}."
    if used is not None:
        k.augment(total, "div", 1.0 + used)
        done += " The sum is divided by one plus the number of its terms."
    done += deliver(site, level, "forces pulls result", total)
    if level >= 3:
        done += _gathered(site, level, total, xi)
    return Title(k.name(f"{form}_sum neighbor_{form} gather_{form}"), done)


_GATHERED = VectorShelf(scalars="dt drag")
_GATHERED.add("virial", "virial power work", lambda f, x: dot(f, x))
_GATHERED.add("size", "loads magnitudes", lambda f: dot(f, f))
_GATHERED.add("moved", "moved new_points", lambda f, x, dt: x + dt * f)
_GATHERED.add("drag", "net_forces damped", lambda f, drag, v: f - drag * v)


def _gathered(site: Site, level: int, total: Var, xi: Var) -> str:
    """What is done with the sum: a step, its work, its size."""
    scalar, known = scalar_of(total.type), {"f": total, "x": xi}
    ranges = {"dt": ("dt step_size rate", 0.05, 0.4), "drag": ("drag damping", 0.1, 0.9)}
    parts = settings(scalar, ANY, ranges)
    parts["v"] = Part("velocity drift", total.type, -1.0, 1.0, forms={"each": 1})
    done = " Let f be the divided sum and x the point."
    return done + further(site, _GATHERED.cards, 2 if level >= 5 else 1, known, parts)
