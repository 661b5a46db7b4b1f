"""Steering: agents that seek, flee, arrive and wander, and flocks of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from generators.build import BodyBuilder, KernelBuilder, field, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, least, most, sqrt
from generators.kit.naming import BY_LEVEL, evaluated, held, local
from generators.kit.outputs import deliver
from generators.kit.records import Part, array_of, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Vec, scalar_of
from generators.program.expr import Expr, Load, Var
from generators.vector.shelf import VectorShelf, summed

_SOURCES = {"each": 1, "shared": 5}
_SET = {"shared": 3}

_FORCES = VectorShelf(scalars="s r")
_FORCES.add("seek", "seek", lambda x, v, g, s: s * fn("normalize", g - x) - v)
# Like seek, but gentle near the goal; for float32 alone.
_FORCES.add(
    "ease",
    "ease",
    lambda x, v, g, s, r: s * fn("smooth_normalize", g - x, r) - v,
    "{s} * (g - x) / ({r} * sqrt(1 + |g - x|^2 / {r}^2)) - v",
)


@_FORCES.formula("flee", "{s} * normalize(x - g) - v where |x - g| < {r}, else -v")
def flee(body: BodyBuilder, x: Expr, v: Expr, g: Expr, s: Expr, r: Expr) -> Expr:
    away = body.let("away from_threat", x - g)
    dist = body.let("dist d", fn("length", away))
    return fn("where", dist < r, s * fn("normalize", away), zero(x.type)) - v


@_FORCES.formula("arrive")
def arrive(body: BodyBuilder, x: Expr, v: Expr, g: Expr, s: Expr, r: Expr) -> Expr:
    offset = body.let("offset to_goal", g - x)
    dist = body.let("dist d", fn("length", offset))
    ramped = body.let("ramped target_speed", s * least(dist / r, 1.0))
    return ramped * fn("normalize", offset) - v


@_FORCES.formula("pursue")
def pursue(body: BodyBuilder, x: Expr, v: Expr, g: Expr, u: Expr, s: Expr, r: Expr) -> Expr:
    offset = body.let("offset to_target", g - x)
    ahead = body.let("t_ahead lead_time", least(fn("length", offset) / s, r))
    return s * fn("normalize", offset + ahead * u) - v


def _agent(vec: Vec) -> dict[str, Part]:
    return {
        "x": Part("position pos place", vec, -2.0, 2.0),
        "v": Part("velocity vel", vec, -1.0, 1.0),
    }


def _limited(k: KernelBuilder, v: Expr, limit: Expr) -> tuple[Expr, str]:
    """A vector shortened to a length: by a branch, or a factor."""
    form = k.draw.shape.choice(("if", "min", "where"))
    text = f"shortened to length {say(k, limit)} where longer"
    push = k.let("push steer force", v)
    if form == "min":
        return push * least(limit / fn("length", push), 1.0), text
    size = k.let("size mag", fn("length", push))
    if form == "where":
        return fn("where", size > limit, limit / size * push, push), text
    with k.if_(size > limit):
        k.assign(push, limit / size * push)
    return push, text


def _moved(k: KernelBuilder, site: Site, state: Sequence[Expr], force: Expr, capped: bool) -> str:
    """The step that the force brings about."""
    (x, v), scalar = state, scalar_of(force.type)
    dt = given(site, "dt time_step", scalar, 0.05, 0.2, forms=_SET)
    speed: Expr = k.let("v_new v_next", v + force * dt)
    after = ""
    if capped:
        limit = given(site, "max_speed v_max", scalar, 0.6, 1.1, forms=_SOURCES)
        speed, text = _limited(k, speed, limit)
        speed, after = local(k, "v_kept v_lim", speed), f" (before masks or weights), {text}"
    first = site.put("new_velocities vel_out", speed)
    second = site.put("new_positions pos_out", x + dt * speed)
    h = say(k, dt)
    return f" {first.name} gets w = v + {h} * force{after}; {second.name} gets x + {h} * w."


_TASKS = {
    "seek": "Steer agents to their goals at full speed.",
    "ease": "Steer agents to their goals, gently near them.",
    "flee": "Steer agents away from threats that are near.",
    "arrive": "Steer agents to their goals, slowing down near them.",
    "pursue": "Steer agents to where their moving targets will be (pursuit).",
}


def _one_goal(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """The steering force of an agent towards or away from its goal."""
    shape, scalar = k.draw.shape, vec.scalar
    forms = ("seek", "arrive") if level == 1 else ("arrive", "flee", "pursue", "seek")
    formula = _FORCES.card(shape.choice((*forms, "ease") if scalar == FLOAT32 else forms))
    agent = record(site, "Agent Boid Robot", _agent(vec), 0.5)
    aims = {"flee": "threat danger", "pursue": "target prey"}.get(
        formula.name, "goal target waypoint"
    )
    goal = given(site, aims, vec, -2.0, 2.0, each=3, shared=2)
    speed = given(site, "max_speed speed cruise_speed", scalar, 0.8, 2.0, forms=_SOURCES)
    values = {"x": agent["x"], "v": agent["v"], "g": goal, "s": speed}
    if "u" in formula.keys:
        values["u"] = given(site, "target_vel prey_vel", vec, -1.0, 1.0, each=1)
    if "r" in formula.keys:
        names = {"pursue": "max_lead_time horizon", "flee": "panic_radius safe_dist"}.get(
            formula.name, "slow_radius arrive_radius"
        )
        values["r"] = given(site, names, scalar, 1.2, 2.4, forms=_SOURCES)
    done = f"{_TASKS[formula.name]} With "
    done += f"{', '.join(f'{key} = {say(k, value)}' for key, value in values.items())}, the "
    done += f"steering force is {formula.said({key: key for key in values})}."
    locals_ = {"x": "x here", "v": "v vel_now", "g": "g", "s": "s"}
    values |= {key: local(k, locals_[key], values[key]) for key in "xvgs"}
    force = evaluated(k, BY_LEVEL[level], formula, values)
    if level >= 2 and (level >= 3 or shape.chance(0.5)):
        strongest = given(site, "max_force force_limit", scalar, 0.8, 1.6, forms=_SOURCES)
        force, after = _limited(k, force, strongest)
        done += f" It is {after}."
    if level <= 2 or shape.chance(0.4):
        out = site.put("steering forces steer_forces", force)
        return formula.name, f"{done} Store it in {out.name}."
    return formula.name, done + _moved(k, site, (values["x"], values["v"]), force, capped=False)


_RULES = {
    "separation": "(xi - xj) / (|xi - xj|^2 + 0.1)",
    "alignment": "vj - vi",
    "cohesion": "xj - xi",
}


class Flock:
    """Agents that read each other: structs, or arrays of places and velocities."""

    def __init__(self, site: Site, vec: Vec) -> None:
        self.site, k = site, site.k
        me = record(site, "Boid Agent Fish", _agent(vec), 0.6)
        self.me = me
        self.said = [me.say("x"), me.say("v")]
        self.here = [held(k, names, me[key]) for names, key in (("xi x_me", "x"), ("vi v_me", "v"))]

    def other(self, j: Expr) -> list[Expr]:
        """Place and velocity of another agent."""
        k, at = self.site.k, (*self.site.at[:-1], j)
        if self.me.whole is None:
            arrays = [array_of(self.me[key]) for key in "xv"]
            return [
                k.let(n, a[at]) for n, a in zip(("xj there", "vj v_other"), arrays, strict=True)
            ]
        assert isinstance(self.me.whole, Var)
        item = k.meaning(self.me.whole)
        assert isinstance(item, Load)
        one = k.let("nb other_boid", item.array[at])
        return [field(one, self.me.fields[key].name) for key in "xv"]

    def terms(self, j: Expr) -> tuple[Var, dict[str, Expr]]:
        """The squared distance of another agent, and what each rule makes of it."""
        (xi, vi), (xj, vj), k = self.here, self.other(j), self.site.k
        delta = k.let("delta to_other", xj - xi)
        square = k.let("d2 dist_sq", dot(delta, delta))
        away = -delta / (square + 0.1)
        return square, {"separation": away, "alignment": vj - vi, "cohesion": delta}


def _flock(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """Separation, alignment and cohesion over listed neighbours."""
    shape, scalar = k.draw.shape, vec.scalar
    k.size("k", 3, 5)
    links = site.array("neighbors nbrs", INT32, more="k", init=f"index_of:{site.dims[-1]}")
    few = ["alignment", shape.choice(("separation", "cohesion"))]
    rules = shape.sample(sorted(_RULES), 3) if level >= 5 else shape.sample(few, 2)
    ranged = shape.chance(0.6)
    reach = given(site, "perception view_radius", scalar, 1.4, 2.4, forms=_SOURCES)
    gains = {
        rule: given(site, f"w_{rule} {rule}_gain", scalar, 0.3, 1.5, shared=3, literal=2)
        for rule in rules
    }
    count = k.trip_count("neighbor_count num_neighbors", "k")
    flock = Flock(site, vec)
    sums = {rule: k.let(f"{rule} {rule}_sum", zero(vec)) for rule in sorted(rules)}
    seen = k.let("seen near", zero(scalar)) if ranged else None
    with ExitStack() as blocks:
        s = blocks.enter_context(k.for_("s slot e", count))
        square, terms = flock.terms(k.let("j other", links[site.index(s)]))
        if seen is not None:
            blocks.enter_context(k.if_(square < reach * reach))
            k.augment(seen, "add", 1.0)
        for rule in sums:
            k.augment(sums[rule], "add", terms[rule])
    total = summed(gains[rule] * sums[rule] for rule in rules)
    force = k.let("force accel", total if seen is None else 1.0 / most(seen, 1.0) * total)
    listed = " and ".join(f"{say(k, gains[rule])} * ({_RULES[rule]})" for rule in rules)
    where = f" with |xi - xj| < {say(k, reach)}" if ranged else ""
    done = f"Over the neighbours j of each i in {links.name}{where}, x = {flock.said[0]} and v = "
    done += f"{flock.said[1]}, sum {listed}{', over their number (at least 1)' * ranged}."
    if not ranged:
        size = sqrt(dot(force, force) + 1.0e-4)
        force = k.let("pushed steer", force * least(reach / k.let("size mag", size), 1.0))
        done += f" It is multiplied by min({say(k, reach)} / sqrt(|sum|^2 + 1.0e-4), 1)."
    done += deliver(site, level, "forces steering", force)
    return "flock", done + (_moved(k, site, flock.here, force, True) if level >= 5 else "")


@idiom(depth=2)
def steering(k: KernelBuilder, level: int) -> Title:
    """Agents that seek, flee, arrive or pursue, and flocks of them."""
    site = launch(k, list=5, batch=3 + level // 3)
    vec = Vec(k.draw.shape.weighted({2: 4, 3: 3}), k.draw.wide_float_type())
    form, done = (_one_goal if level <= 3 else _flock)(k, level, site, vec)
    return Title(k.name(f"{form}_steering steer_{form} {form}_agents"), done)
