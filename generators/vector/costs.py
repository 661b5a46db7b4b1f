"""Costs of vector variables: robust data terms, smoothness, priors, sparsity; descent on them."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Build, Formula
from generators.kit.functions import dot
from generators.kit.naming import BY_LEVEL, evaluated, local
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import SETTING, given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Var

_SOURCES = {"shared": 4, "literal": 2, "each": 1, "first": 1}


def _penalties(vec: Vec) -> dict[str, Formula]:
    """Norms of a vector, some of a width too, by name."""
    codes: dict[str, Build] = {
        "l1": lambda v: fn("norm_l1", v),
        "l2": lambda v: fn("norm_l2", v),
        "huber": lambda v, delta: fn("norm_huber", v, delta),
        "pseudo_huber": lambda v, delta: fn("norm_pseudo_huber", v, delta),
        "square": lambda v: 0.5 * dot(v, v),
        "largest": lambda v: fn("max_element", abs(v)),
        "geman": lambda v, delta: dot(v, v) / (delta * delta + dot(v, v)),
    }
    return {
        name: Formula(f"{name}_penalty", name, code, types=(vec, FLOAT32))
        for name, code in codes.items()
    }


_LIKELY = {"l1": 4, "l2": 3, "huber": 4, "pseudo_huber": 4, "square": 2, "largest": 1, "geman": 1}


class Costs:
    """Terms of one cost: what they are of, how each is penalised and weighted."""

    def __init__(self, k: KernelBuilder, level: int, site: Site, vec: Vec, x: Var) -> None:
        self.k, self.level, self.site, self.vec, self.x = k, level, site, vec, x
        self.delta: Expr | None = None
        self.texts: list[str] = []
        self.left, self.penalties = dict(_LIKELY), _penalties(vec)

    def width(self) -> Expr:
        """The width of robust penalties, which all of them share."""
        if self.delta is None:
            self.delta = given(
                self.site, "delta huber_delta scale", FLOAT32, 0.4, 1.2, forms=_SOURCES
            )
        return self.delta

    def term(self, v: Expr, name: str) -> Expr:
        """The penalty of a vector, by a norm that no other term has, and its weight."""
        k = self.k
        rough = ("l2", "huber") if name == "s" else ()
        kind = k.draw.shape.weighted({n: w for n, w in self.left.items() if n not in rough})
        self.left.pop(kind)
        penalty = self.penalties[kind]
        if penalty.reads("v") > 1:
            v = local(k, (f"r_{name}", f"{name}_res"), v)
        values = {"v": v} | ({"delta": self.width()} if "delta" in penalty.keys else {})
        value = evaluated(k, 0.5 * BY_LEVEL[self.level], penalty, values)
        text = penalty.said({key: say(k, part) for key, part in values.items()} | {"v": name})
        if not self.texts or k.draw.shape.chance(0.3):
            self.texts.append(text)
            return value
        names = (f"w_{name}", f"lambda_{name}", f"{name}_weight")
        weight = given(self.site, names, FLOAT32, 0.1, 1.5, forms=_SOURCES)
        self.texts.append(f"{say(k, weight)} * {text}")
        return weight * value


def _beside(k: KernelBuilder, site: Site, grid: Var) -> tuple[Expr, str]:
    """The next variable along the last index, the last being its own neighbour."""
    size = k.size_param("count width", site.dims[-1])
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
            mean = given(site, "prior_mean anchor", vec, -1.0, 1.0, shared=2, first=1)
            found.append(("p", x - mean, f"p = x - {say(k, mean)}"))
        elif name == "size":
            found.append(("x", x, ""))
        elif name == "change":
            before = site.read("previous last_step", vec, -1.5, 1.5)
            found.append(("c", x - before, f"c = x - {say(k, before)}"))
        elif grid is not None:
            near, text = _beside(k, site, grid)
            found.append(("s", near - x, f"s = x' - x, x' being {text}"))
    return found


@idiom
def residual_costs(k: KernelBuilder, level: int) -> Title:
    """Sums of robust and sparse penalties of vector variables, and steps that lower them."""
    shape = k.draw.shape
    site = launch(k, list=3, grid=2)
    vec = Vec(shape.weighted({2: 3, 3: 4, 4: 1}), FLOAT32)
    grid: Var | None = None
    if shape.chance(0.4):
        parts = {
            "x": Part("estimate node offset flow", vec, -1.5, 1.5),
            "goal": Part("target measured", vec, -1.5, 1.5),
        }
        r = record(site, "Factor Term Track", parts, 1.0)
        var, goal = r["x"], r["goal"]
    else:
        grid = site.array("estimates nodes state", vec, -1.5, 1.5)
        var = grid[site.at]
        goal = given(site, "target measured", vec, -1.5, 1.5, each=5, shared=1, first=1)
    names = [say(k, var), say(k, goal)]
    x = k.let("x est", var)
    costs = Costs(k, level, site, vec, x)
    residual: Expr = x - goal
    if level >= 4 or shape.chance(0.4):
        residual = k.let("e err", residual)
    where = [f"e = x - {names[1]}"]
    total: Expr = costs.term(residual, "e")
    for name, value, text in _residuals(k, level, site, vec, x, grid):
        part = costs.term(value, name)
        total = total + part
        where += [text] if text else []
    done = f"With x = {names[0]}, {', '.join(where)}, take {' + '.join(costs.texts)}."
    if level >= 3:
        total = k.let("cost energy", total)
    done += deliver(site, level, "costs energies losses", total)
    if level >= 3:
        done += _descent(k, level, site, x, residual, total)
    return Title(k.name("residual_costs robust_energy cost_terms"), done)


def _descent(k: KernelBuilder, level: int, site: Site, x: Var, residual: Expr, cost: Expr) -> str:
    """A step, a direction, a weight or a flag that solvers take from the residual."""
    forms = k.draw.shape.sample(("step", "direction", "weight", "worst"), 2 if level >= 5 else 1)
    done = ""
    for form in forms:
        if form == "worst":
            up = k.draw.shape.chance(0.6)
            picks = fn("argmax" if up else "argmin", fn("abs", residual))
            side = "largest" if up else "smallest"
            out = site.put("worst_axes axes", cast(picks, INT32))
            done += f" {out.name} gets the component of e that is {side} in size."
            continue
        soft = given(site, "softening rho floor_len", FLOAT32, 0.2, 0.8, forms=SETTING)
        unit = f"e / sqrt({say(k, soft)}^2 + dot(e, e))"
        if form == "direction":
            out = site.put("directions pulls", -fn("smooth_normalize", residual, soft))
            done += f" {out.name} gets -{unit}, by smooth_normalize."
        elif form == "step":
            rate = given(site, "rate step_size", FLOAT32, 0.1, 0.6, forms=_SOURCES)
            moved = x - rate * fn("smooth_normalize", residual, soft)
            out = site.put("updated next_state", moved)
            done += f" {out.name} gets x - {say(k, rate)} * {unit}, by smooth_normalize."
        else:
            out = site.put("irls_weights trust", 1.0 / (soft + cost))
            done += f" {out.name} gets 1 / ({say(k, soft)} + cost)."
    return done
