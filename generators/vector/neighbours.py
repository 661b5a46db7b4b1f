"""Forces between a point and its listed neighbours: springs, repulsion, smoothing, kernels."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, sqrt
from generators.kit.naming import helper
from generators.kit.outputs import deliver
from generators.kit.pieces import Pairwise, float_vec
from generators.kit.sites import Site, launch
from generators.kit.sources import constant, given, zero
from generators.kit.words import say
from generators.program.dtypes import INT32, Type, scalar_of
from generators.program.expr import Expr, Var


def _spring(k: KernelBuilder) -> tuple[Pairwise, str]:
    rest, stiffness = constant(k, 0.2, 0.95), constant(k, 0.8, 6.0)
    soft = k.draw.value.choice((0.01, 0.02, 0.05))

    def term(b: BodyBuilder, xi: Expr, xj: Expr) -> Expr:
        delta = b.let("delta edge", xj - xi)
        dist = b.let("dist len_ij", sqrt(dot(delta, delta) + soft))
        return stiffness * (dist - rest) / dist * delta

    text = f"{stiffness} * (dist - {rest}) / dist * delta, with delta = xj - xi and "
    return term, text + f"dist = sqrt(dot(delta, delta) + {soft})"


def _repulsion(k: KernelBuilder) -> tuple[Pairwise, str]:
    strength, soft = constant(k, 0.15, 0.99), constant(k, 0.1, 0.6)

    def term(b: BodyBuilder, xi: Expr, xj: Expr) -> Expr:
        away = b.let("away delta", xi - xj)
        r2 = b.let("r2 dist_sq", dot(away, away) + soft)
        return strength * away / (r2 * sqrt(r2))

    return term, f"{strength} * (xi - xj) / r^3 with r^2 = |xi - xj|^2 + {soft}"


def _attraction(k: KernelBuilder) -> tuple[Pairwise, str]:
    width, rational = constant(k, 0.3, 2.0), k.draw.shape.chance(0.4)

    def term(b: BodyBuilder, xi: Expr, xj: Expr) -> Expr:
        delta = b.let("delta to_other", xj - xi)
        if rational:
            return delta / (1.0 + width * dot(delta, delta))
        return exp(-width * dot(delta, delta)) * delta

    if rational:
        return term, f"(xj - xi) / (1 + {width} * |xj - xi|^2)"
    return term, f"exp(-{width} * |xj - xi|^2) * (xj - xi)"


def _smoothing(k: KernelBuilder) -> tuple[Pairwise, str]:
    rate = constant(k, 0.05, 0.6)
    if k.draw.shape.chance(0.4):
        keep = constant(k, 0.6, 0.99)
        return lambda _, xi, xj: rate * (keep * xj - xi), f"{rate} * ({keep} * xj - xi)"
    return lambda _, xi, xj: rate * (xj - xi), f"{rate} * (xj - xi)"


PAIR_TERMS = {
    "spring": _spring,
    "repulsion": _repulsion,
    "attraction": _attraction,
    "smoothing": _smoothing,
}


@idiom
def neighbour_forces(k: KernelBuilder, level: int) -> Title:
    """Sum over the listed neighbours of each point: springs, repulsion, smoothing."""
    shape = k.draw.shape
    vec = float_vec(k, {3: 3, 2: 2})
    site, degree = launch(k, list=5, batch=3 + level // 3), k.size("k", 3, 6)
    n, i = site.dims, site.at
    form = shape.choice(sorted(PAIR_TERMS))
    points = k.array("positions points nodes", vec, n, low=-1.0, high=1.0)
    links = k.array("neighbors links adjacency", INT32, (*n, degree), init=f"index_of:{n[-1]}")
    term, text = PAIR_TERMS[form](k)
    weights = None
    if level >= 2 and shape.chance(0.5):
        weights = k.array("weights strengths", vec.scalar, (*n, degree), low=0.3, high=1.5)
        text = f"the link's entry of {weights.name} times {text}"
    count = k.trip_count("degree neighbor_count num_links", degree)
    xi = k.let("xi here p", points[i])
    total = k.let("total force acc", zero(vec))
    used = k.let("used near hits", zero(vec.scalar)) if level >= 3 else None
    called = ""
    if level >= 3 or (level == 2 and shape.chance(0.5)):
        kinds: list[tuple[str, Type]] = [("a", vec), ("b", vec)]
        called = helper(k, f"{form}_term pair_{form} {form}_between", kinds, term)
    with k.for_("s slot e", count) as s:
        slot = (*i, s)
        j = k.let("j other nb", links[slot])
        if level >= 4 and shape.chance(0.5):
            with k.if_(fn("eq", j, i[-1])):
                k.continue_()
            text += ", skipping j = i"
        there = (*i[:-1], j)
        xj = k.let("xj there q", points[there])
        value: Expr = k.call(called, xi, xj) if called else term(k, xi, xj)
        if weights is not None:
            value = weights[slot] * value
        if used is None:
            k.augment(total, "add", value)
        else:
            reach = constant(k, 0.6, 1.6)
            with k.if_(fn("length_sq", xj - xi) < reach):
                k.augment(total, "add", value)
                k.augment(used, "add", 1.0)
            text += f", where |xj - xi|^2 < {reach}"
    done = f"Sum over the neighbours j listed for each point i of {text}."
    if used is not None:
        k.augment(total, "div", 1.0 + used)
        done += " The sum is divided by one plus the number of its terms."
    done += deliver(site, level, "forces pulls result", total)
    if level >= 3:
        done += _gathered(k, level, site, total, xi)
    return Title(k.name(f"{form}_sum neighbor_{form} gather_{form}"), done)


def _gathered(k: KernelBuilder, level: int, site: Site, total: Var, xi: Var) -> str:
    """What is done with the sum: a step, its work, its size."""
    scalar = scalar_of(total.type)
    done = ""
    forms = k.draw.shape.sample("virial size moved drag", 2 if level >= 5 else 1)
    for form in forms:
        if form == "virial":
            out = site.put("virial power work", dot(total, xi))
            done += f" {out.name} gets the dot product of the sum and the point."
        elif form == "size":
            out = site.put("loads magnitudes", dot(total, total))
            done += f" {out.name} gets the squared length of the sum."
        elif form == "moved":
            dt = given(site, "dt step_size rate", scalar, 0.05, 0.4)
            out = site.put("moved new_points", xi + dt * total)
            done += f" {out.name} gets the point + {say(k, dt)} * sum."
        else:
            drag = given(site, "drag damping", scalar, 0.1, 0.9)
            sources = {"each": 1}
            v = given(site, "velocity drift", total.type, -1.0, 1.0, forms=sources)
            out = site.put("net_forces damped", total - drag * v)
            done += f" {out.name} gets the sum - {say(k, drag)} * {say(k, v)}."
    return done
