"""Costs of vector variables: robust data terms, smoothness, priors, sparsity; descent on them."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import FLOAT32, INT32, Type, Vec
from generators.program.expr import Expr, Var
from generators.vector.kit import (
    EACH,
    GRID,
    LIST,
    LITERAL,
    ROW,
    SHARED,
    Part,
    Site,
    launch,
    named_helper,
    quantity,
    record,
    routine,
    said,
    vector,
)
from generators.vector.output import deliver, put

_SOURCES = {SHARED: 4, LITERAL: 2, EACH: 1, ROW: 1}
_VARIABLES = ("estimate", "node", "offset", "flow")
Penalty = Callable[[BodyBuilder, Expr, Expr], Expr]

_PENALTIES: dict[str, tuple[Penalty, str, bool]] = {
    "l1": (lambda b, v, d: fn("norm_l1", v), "|V|_1", False),
    "l2": (lambda b, v, d: fn("norm_l2", v), "|V|_2", False),
    "huber": (lambda b, v, d: fn("norm_huber", v, d), "norm_huber(V, D)", True),
    "pseudo_huber": (
        lambda b, v, d: fn("norm_pseudo_huber", v, d),
        "norm_pseudo_huber(V, D)",
        True,
    ),
    "square": (lambda b, v, d: 0.5 * fn("dot", v, v), "dot(V, V) / 2", False),
    "largest": (
        lambda b, v, d: fn("max_element", fn("abs", v)),
        "the largest |component of V|",
        False,
    ),
    "geman": (
        lambda b, v, d: fn("dot", v, v) / (d * d + fn("dot", v, v)),
        "dot(V, V) / (D^2 + dot(V, V))",
        True,
    ),
}
_LIKELY = {"l1": 4, "l2": 3, "huber": 4, "pseudo_huber": 4, "square": 2, "largest": 1, "geman": 1}


class Costs:
    """Terms of one cost: what they are of, how each is penalised and weighted."""

    def __init__(self, k: KernelBuilder, level: int, site: Site, vec: Vec, x: Var) -> None:
        self.k, self.level, self.site, self.vec, self.x = k, level, site, vec, x
        self.delta: Expr | None = None
        self.texts: list[str] = []
        self.left = dict(_LIKELY)

    def width(self) -> Expr:
        """The width of robust penalties, which all of them share."""
        if self.delta is None:
            names = ("delta", "huber_delta", "scale")
            self.delta = quantity(self.k, self.site, names, FLOAT32, 0.4, 1.2, _SOURCES)
        return self.delta

    def term(self, v: Expr, name: str) -> Expr:
        """The penalty of a vector, by a norm that no other term has, and its weight."""
        k = self.k
        rough = ("l2", "huber") if name == "s" else ()
        kinds = {n: w for n, w in self.left.items() if n not in rough}
        kind = k.draw.shape.weighted(kinds)
        self.left.pop(kind)
        build, text, wide = _PENALTIES[kind]
        if kind in ("square", "geman"):
            v = k.let((f"r_{name}", f"{name}_res"), v)
        params: list[tuple[str, Type]] = [("v", self.vec)]
        params += [("delta", FLOAT32)] if wide else []
        d = self.width() if wide else k.lift(1.0, FLOAT32)
        use = routine(
            k,
            named_helper(k, self.level) and k.draw.shape.chance(0.5),
            (f"{kind}_penalty", f"{kind}_cost"),
            params,
            lambda b, u, *rest: build(b, u, rest[0] if rest else d),
        )
        value = use(v, *((d,) if wide else ()))
        text = text.replace("V", name).replace("D", said(k, d))
        if not self.texts or k.draw.shape.chance(0.3):
            self.texts.append(text)
            return value
        names = (f"w_{name}", f"lambda_{name}", f"{name}_weight")
        weight = quantity(k, self.site, names, FLOAT32, 0.1, 1.5, _SOURCES)
        self.texts.append(f"{said(k, weight)} * {text}")
        return weight * value


def _beside(k: KernelBuilder, site: Site, grid: Var) -> tuple[Expr, str]:
    """The next variable along the last index, the last being its own neighbour."""
    size = k.size_param(("count", "width"), site.dims[-1])
    last = fn("min", site.at[-1] + 1, size - 1)
    at = (*site.at[:-1], last)
    return grid[at], "the next element along the last index (the last: itself)"


def _residuals(
    k: KernelBuilder, level: int, site: Site, vec: Vec, x: Var, grid: Var | None
) -> list[tuple[str, Expr, str]]:
    """The vectors that may be penalised: name, value and text."""
    shape = k.draw.shape
    names = ["prior", "size"] + (["smooth"] if grid is not None else []) + ["change"]
    wanted = {1: 0, 2: 1, 3: 2, 4: 2, 5: 3}[level]
    found: list[tuple[str, Expr, str]] = []
    for name in shape.sample(names, min(wanted, len(names))):
        if name == "prior":
            mean = vector(k, site, ("prior_mean", "anchor"), vec, {SHARED: 2, ROW: 1}, -1.0, 1.0)
            found.append(("p", x - mean, f"p = x - {said(k, mean)}"))
        elif name == "size":
            found.append(("x", x, ""))
        elif name == "change":
            before = k.array(("previous", "last_step"), vec, site.dims, low=-1.5, high=1.5)
            found.append(("c", x - before[site.at], f"c = x - {before.name}"))
        elif grid is not None:
            near, text = _beside(k, site, grid)
            found.append(("s", near - x, f"s = x' - x, x' being {text}"))
    return found


@idiom
def residual_costs(k: KernelBuilder, level: int) -> Title:
    """Sums of robust and sparse penalties of vector variables, and steps that lower them."""
    shape = k.draw.shape
    site = launch(k, {LIST: 3, GRID: 2})
    vec = Vec(shape.weighted({2: 3, 3: 4, 4: 1}), FLOAT32)
    parts = [Part(_VARIABLES, vec, -1.5, 1.5), Part(("target", "measured"), vec, -1.5, 1.5)]
    grid: Var | None = None
    if shape.chance(0.4):
        var, goal = record(k, site, ("Factor", "Term", "Track"), parts, True)
        names = [said(k, var), said(k, goal)]
    else:
        grid = k.array(("estimates", "nodes", "state"), vec, site.dims, low=-1.5, high=1.5)
        sources = {EACH: 5, SHARED: 1, ROW: 1}
        goal = vector(k, site, ("target", "measured"), vec, sources, -1.5, 1.5)
        var, names = grid[site.at], [grid.name, said(k, goal)]
    x = k.let(("x", "est"), var)
    costs = Costs(k, level, site, vec, x)
    residual: Expr = x - goal
    if level >= 4 or shape.chance(0.4):
        residual = k.let(("e", "err"), residual)
    where = [f"e = x - {names[1]}"]
    total: Expr = costs.term(residual, "e")
    for name, value, text in _residuals(k, level, site, vec, x, grid):
        part = costs.term(value, name)
        total = total + part
        where += [text] if text else []
    done = f"With x = {names[0]}, {', '.join(where)}, take {' + '.join(costs.texts)}."
    if level >= 3:
        total = k.let(("cost", "energy"), total)
    done += deliver(k, site, level, ("costs", "energies", "losses"), total)
    if level >= 3:
        done += _descent(k, level, site, x, residual, total)
    return Title(k.name("residual_costs", "robust_energy", "cost_terms"), done)


def _descent(k: KernelBuilder, level: int, site: Site, x: Var, residual: Expr, cost: Expr) -> str:
    """A step, a direction, a weight or a flag that solvers take from the residual."""
    forms = k.draw.shape.sample(("step", "direction", "weight", "worst"), 2 if level >= 5 else 1)
    done = ""
    for form in forms:
        if form == "worst":
            up = k.draw.shape.chance(0.6)
            picks = fn("argmax" if up else "argmin", fn("abs", residual))
            side = "largest" if up else "smallest"
            out = put(k, site, ("worst_axes", "axes"), cast(picks, INT32))
            done += f" {out.name} gets the component of e that is {side} in size."
            continue
        names = ("softening", "rho", "floor_len")
        soft = quantity(k, site, names, FLOAT32, 0.2, 0.8, {SHARED: 3, LITERAL: 2})
        unit = f"e / sqrt({said(k, soft)}^2 + dot(e, e))"
        if form == "direction":
            out = put(k, site, ("directions", "pulls"), -fn("smooth_normalize", residual, soft))
            done += f" {out.name} gets -{unit}, by smooth_normalize."
        elif form == "step":
            rate = quantity(k, site, ("rate", "step_size"), FLOAT32, 0.1, 0.6, _SOURCES)
            moved = x - rate * fn("smooth_normalize", residual, soft)
            out = put(k, site, ("updated", "next_state"), moved)
            done += f" {out.name} gets x - {said(k, rate)} * {unit}, by smooth_normalize."
        else:
            out = put(k, site, ("irls_weights", "trust"), 1.0 / (soft + cost))
            done += f" {out.name} gets 1 / ({said(k, soft)} + cost)."
    return done
