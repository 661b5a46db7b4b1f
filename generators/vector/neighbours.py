"""Sums over the listed neighbours of points: springs, repulsion, smoothing, mean shift, t-SNE."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, sqrt
from generators.kit.naming import routine
from generators.kit.sites import Site, launch
from generators.kit.sources import zero
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Operand, Var
from generators.vector.shelf import VectorShelf
from generators.vector.simulation.parts import index

_TERMS = VectorShelf(scalars="a c")
"""The force of a neighbour xj on a point xi, by numbers that the caller sets."""


@_TERMS.formula("forces spring_forces_out")
def spring(body: BodyBuilder, xi: Expr, xj: Expr, a: Expr, c: Expr) -> Expr:
    delta = body.let("delta edge", xj - xi)
    dist = body.let("dist len_ij", fn("length", delta))
    return a * (dist - c) / dist * delta


@_TERMS.formula("forces repulsions")
def repulsion(body: BodyBuilder, xi: Expr, xj: Expr, a: Expr, c: Expr) -> Expr:
    away = body.let("away delta", xi - xj)
    r2 = body.let("r2 dist_sq", dot(away, away) + c * c)
    return a * away / (r2 * sqrt(r2))


@_TERMS.formula("attractions attract_forces")
def attraction(body: BodyBuilder, xi: Expr, xj: Expr, a: Expr) -> Expr:
    """Van der Maaten and Hinton, Visualizing data using t-SNE, eq. 5, without the constant 4."""
    delta = body.let("delta to_other", xj - xi)
    return a * delta / (1.0 + dot(delta, delta))


_TASKS = {
    "spring": "Sum the spring forces on linked points.",
    "repulsion": "Push points away from their neighbours by softened inverse squares.",
    "attraction": "Sum the attractive forces of t-SNE, but for its factor 4, on embedded points.",
}
_NUMBERS = {
    "spring": {"a": ("stiffness ks", 0.8, 6.0), "c": ("rest_length rest", 0.2, 0.95)},
    "repulsion": {"a": ("strength k_rep", 0.15, 0.99), "c": ("softening eps", 0.3, 0.8)},
    "attraction": {"a": ("affinity", 0.01, 0.5)},
}
"""Of each form: names of its numbers, and their bounds."""
_OF_LINKS = {
    "spring": {"a": "link_ks spring_ks", "c": "rest_lengths link_rests"},
    "repulsion": {"a": "link_strengths strengths"},
    "attraction": {"a": "affinities p_ij"},
}
"""What each link may have of its own: names of an array of it."""


@dataclass(frozen=True)
class _Linked:
    """Points, each with a row of neighbours, and the thread's own one."""

    site: Site
    points: Var
    links: Var
    degree: str
    xi: Var
    count: Expr

    def of_links(self, names: str, low: float, high: float) -> Var:
        """A number of each link."""
        return self.site.array(names, self.scalar, low, high, more=self.degree)

    @property
    def scalar(self) -> Scalar:
        assert isinstance(self.xi.type, Vec)
        return self.xi.type.scalar

    @contextmanager
    def each(self, alone: bool) -> Iterator[tuple[tuple[Operand, ...], Expr]]:
        """A loop over the neighbours: the index of the link and the point; with ``alone`` a point
        that is listed as its own neighbour is left out."""
        k, site = self.site.k, self.site
        with ExitStack() as blocks:
            slot = (*site.at, blocks.enter_context(k.for_("s slot e", self.count)))
            j = k.let("j other nb", self.links[slot])
            if alone:
                with k.if_(fn("eq", j, site.at[-1])):
                    k.continue_()
            name = "xj" if self.xi.name == "xi" else "q"
            yield slot, k.let(name, self.points[index(*site.at[:-1], j)])

    @property
    def said(self) -> str:
        return f"the neighbours j in {self.links.name} of each point i, x = {self.points.name}"


def _linked(k: KernelBuilder, level: int, flat: float) -> _Linked:
    vec = Vec(2 if k.draw.shape.chance(flat) else 3, k.draw.wide_float_type())
    site, degree = launch(k, list=5, batch=3 + level // 3), k.size("k", 3, 6)
    points = site.array("positions points nodes", vec, -1.0, 1.0)
    near = f"index_of:{site.dims[-1]}"
    links = site.array("neighbors links adjacency", INT32, more=degree, init=near)
    xi = k.let(k.draw.word.choice(("xi", "p")), points[site.at])
    return _Linked(site, points, links, degree, xi, k.trip_count("num_links max_links", degree))


def _own(near: _Linked, form: str) -> dict[str, Var]:
    """The numbers that each link may have of its own."""
    bounds = _NUMBERS[form]
    return {
        key: near.of_links(names, bounds[key][1], bounds[key][2])
        for key, names in _OF_LINKS[form].items()
    }


def _shared(near: _Linked, form: str, own: dict[str, Var]) -> dict[str, Var]:
    """The numbers that all links share: those that are not their own."""
    k = near.site.k
    return {
        key: k.scalar(names, near.scalar, low, high)
        for key, (names, low, high) in _NUMBERS[form].items()
        if key not in own
    }


def _force(level: int, near: _Linked, form: str) -> Title:
    """The sum of a force over the neighbours, or a step along it."""
    site, k, shape = near.site, near.site.k, near.site.k.draw.shape
    formula = _TERMS.card(form)
    own = _own(near, form) if form == "attraction" or (level >= 2 and shape.chance(0.5)) else {}
    shared = _shared(near, form, own)
    types = dict.fromkeys(_NUMBERS[form], near.scalar)
    chance = {1: 0.0, 2: 0.5}.get(level, 1.0)
    names = f"{form}_term pair_{form} {form}_between"
    use = routine(k, chance, names, {"xi": near.xi.type, "xj": near.xi.type} | types, formula.build)
    total = k.let("total force acc", zero(near.xi.type))
    alone = form == "spring" or (form == "repulsion" and shape.chance(0.5))
    cutoff = form == "repulsion" and level >= 3 and shape.chance(0.6)
    text = formula.said(
        {"xi": "xi", "xj": "xj"} | {key: v.name for key, v in (own | shared).items()}
    )
    if own:
        text += f", {' and '.join(v.name for v in own.values())} being the link's own"
    text += ", skipping j = i" * alone
    with near.each(alone) as (slot, xj), ExitStack() as blocks:
        if cutoff:
            reach = k.scalar("cutoff reach", near.scalar, 0.8, 1.2)
            blocks.enter_context(k.if_(fn("length_sq", xj - near.xi) < reach * reach))
            text += f", where |xj - xi| < {reach.name}"
        numbers = [own[key][slot] if key in own else shared[key] for key in types]
        k.augment(total, "add", use(near.xi, xj, *numbers))
    done = f"{_TASKS[form]} Sum over {near.said}, {text}."
    if level >= 3 and shape.chance(0.4):
        step = k.scalar("step_size rate", near.scalar, 0.05, 0.4)
        out = site.put("new_points moved_points", near.xi + step * total)
        done += f" Store xi + {step.name} * the sum in {out.name}."
    else:
        done += f" Store the sum in {site.put(formula.outs, total).name}."
    return Title(k.name(f"{form}_sum neighbor_{form} gather_{form}"), done)


def _smoothing(level: int, near: _Linked) -> Title:
    """The umbrella operator: the mean of the edges to the neighbours, weighted or not."""
    site, k, shape = near.site, near.site.k, near.site.k.draw.shape
    weights = near.of_links("weights edge_weights", 0.3, 1.5) if shape.chance(0.5) else None
    total = k.let("total lap_sum", zero(near.xi.type))
    norm = k.let("w_sum norm", zero(near.scalar)) if weights is not None else None
    with near.each(False) as (slot, xj):
        edge = xj - near.xi
        if weights is not None and norm is not None:
            w = k.let("w w_ij", weights[slot])
            k.augment(norm, "add", w)
            edge = w * edge
        k.augment(total, "add", edge)
    divisor = norm if norm is not None else cast(near.count, near.scalar)
    mean = k.let("lap mean_edge", total / divisor)
    by = f", each weighted by the link's entry of {weights.name}" if weights is not None else ""
    done = f"Smooth points over their neighbours: L is the mean of xj - xi over {near.said}{by}."
    if shape.chance(0.4):
        done += f" {site.put('laplacians lap_out', mean).name} gets L."
    else:
        rate = k.scalar("rate lam", near.scalar, 0.1, 0.6)
        out = site.put("smoothed new_points", near.xi + rate * mean)
        done += f" {out.name} gets xi + {rate.name} * L."
    return Title(k.name("smooth_points neighbor_smoothing umbrella_step"), done)


def _mean_shift(level: int, near: _Linked) -> Title:
    """A step of mean shift: Comaniciu and Meer, Mean shift (2002), eq. 20 with Gaussian weights."""
    site, k, shape = near.site, near.site.k, near.site.k.draw.shape
    width = k.scalar("bandwidth sigma", near.scalar, 0.4, 0.9)
    total = k.let("total weighted", zero(near.xi.type))
    norm = k.let("w_sum norm", zero(near.scalar))
    squared = level >= 2 and shape.chance(0.5)
    inv = k.let("inv_two_var gain", 0.5 / (width * width)) if squared else None
    with near.each(False) as (_, xj):
        d = k.let("d delta", xj - near.xi)
        power = dot(d, d) / (2.0 * width * width) if inv is None else inv * dot(d, d)
        w = k.let("w kernel_w", exp(-power))
        k.augment(total, "add", w * xj)
        k.augment(norm, "add", w)
    done = f"Shift points to the weighted mean of their neighbours (mean shift): over {near.said}, "
    done += f"the weights are w = exp(-|xj - xi|^2 / (2 * {width.name}^2)). "
    if shape.chance(0.4):
        out = site.put("shifts mean_shifts", total / norm - near.xi)
        done += f"{out.name} gets the sum of w * xj over the sum of w, less xi."
    else:
        out = site.put("shifted_points new_points", total / norm)
        done += f"{out.name} gets the sum of w * xj over the sum of w."
    if level >= 3 and shape.chance(0.5):
        done += f" {site.put('weight_sums densities', norm).name} gets the sum of w."
    return Title(k.name("mean_shift_step shift_points neighbor_mean_shift"), done)


@idiom(depth=4)
def neighbour_forces(k: KernelBuilder, level: int) -> Title:
    """Sums over the listed neighbours of each point: forces, or weighted means."""
    form = k.draw.shape.choice((*_TASKS, "smoothing", "mean_shift"))
    near = _linked(k, level, 0.8 if form == "attraction" else 0.4)
    if form == "smoothing":
        return _smoothing(level, near)
    return _mean_shift(level, near) if form == "mean_shift" else _force(level, near, form)
