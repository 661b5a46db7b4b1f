"""Steering: agents that seek, flee, arrive and wander, and flocks of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from generators.build import BodyBuilder, KernelBuilder, field, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, least, sqrt
from generators.kit.naming import BY_LEVEL, maybe, routine
from generators.kit.outputs import deliver
from generators.kit.pieces import float_vec
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import plurals, say
from generators.program.dtypes import FLOAT32, INT32, Type, Vec
from generators.program.expr import Expr, Var

_SOURCES = {"each": 1, "first": 1, "shared": 4, "literal": 1}
Force = Callable[[BodyBuilder, Expr, Expr, Expr, Expr, Expr], Expr]


def _seek(b: BodyBuilder, x: Expr, v: Expr, goal: Expr, speed: Expr, radius: Expr) -> Expr:
    return speed * fn("normalize", goal - x) - v


def _ease(b: BodyBuilder, x: Expr, v: Expr, goal: Expr, speed: Expr, radius: Expr) -> Expr:
    """Like seek, but gentle near the goal; for float32 alone."""
    return speed * fn("smooth_normalize", goal - x, radius) - v


def _flee(b: BodyBuilder, x: Expr, v: Expr, goal: Expr, speed: Expr, radius: Expr) -> Expr:
    away = b.let("away from_goal", x - goal)
    dist = b.let("dist d", fn("length", away))
    return fn("where", dist < radius, speed / dist * away, zero(x.type)) - v


def _arrive(b: BodyBuilder, x: Expr, v: Expr, goal: Expr, speed: Expr, radius: Expr) -> Expr:
    offset = b.let("offset to_goal", goal - x)
    dist = b.let("dist d", fn("length", offset))
    ramped = b.let("ramped target_speed", speed * least(dist / radius, 1.0))
    return ramped / dist * offset - v


def _pursue(b: BodyBuilder, x: Expr, v: Expr, goal: Expr, speed: Expr, radius: Expr) -> Expr:
    offset = b.let("offset to_goal", goal - x)
    lead = b.let("lead t_ahead", fn("length", offset) / speed)
    return speed * fn("normalize", offset - least(lead, radius) * v) - v


_FORCES: dict[str, tuple[Force, str, bool]] = {
    "ease": (_ease, "s * (g - x) / sqrt(r^2 + |g - x|^2) - v, by smooth_normalize", True),
    "seek": (_seek, "s * (g - x) / |g - x| - v", False),
    "flee": (_flee, "s * (x - g) / |x - g| - v where |x - g| < r, else -v", True),
    "arrive": (_arrive, "s * min(|g - x| / r, 1) * (g - x) / |g - x| - v", True),
    "pursue": (_pursue, "s * e / |e| - v with e = g - x - min(|g - x| / s, r) * v", True),
}


def _agent(vec: Vec) -> list[Part]:
    return [
        Part("position pos place", vec, -2.0, 2.0),
        Part("velocity vel heading", vec, -1.0, 1.0),
    ]


def _limited(k: KernelBuilder, v: Expr, limit: Expr, name: str) -> tuple[Expr, str]:
    """A vector shortened to a length: by a branch, or a factor."""
    form = k.draw.shape.choice(("if", "min", "where"))
    text = f"shortened to length {name} where longer"
    if form == "min":
        return v * least(limit / fn("length", v), 1.0), text
    held = k.let("push steer force", v)
    size = k.let("size mag", fn("length", held))
    if form == "where":
        return fn("where", size > limit, limit / size * held, held), text
    with k.if_(size > limit):
        k.assign(held, limit / size * held)
    return held, text


def _one_goal(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    shape, scalar = k.draw.shape, vec.scalar
    names = ("seek", "arrive") if level == 1 else ("arrive", "flee", "pursue", "seek")
    if scalar == FLOAT32:
        names = (*names, "ease")
    form = shape.choice(names)
    build, text, ringed = _FORCES[form]
    place, speed_v = record(site, "Agent Boid Robot", _agent(vec), 0.5)
    goals: Mapping[str, int] = {"each": 2, "first": 2, "shared": 3}
    goal = given(site, "goal target waypoint", vec, -2.0, 2.0, forms=goals)
    speed = given(site, "max_speed speed cruise_speed", scalar, 0.8, 2.0, forms=_SOURCES)
    radius = k.lift(1.0, scalar)
    if ringed:
        radius = given(site, "radius slow_radius reach", scalar, 1.2, 2.4, forms=_SOURCES)
    x, v = k.let("x here", place), k.let("v vel_now", speed_v)
    kinds: list[tuple[str, Type]] = [("x", vec), ("v", vec), ("goal", vec), ("speed", scalar)]
    if ringed:
        kinds.append(("radius", scalar))

    def inner(b: BodyBuilder, *args: Expr) -> Expr:
        at, vel, g, s = args[:4]
        return build(b, at, vel, g, s, args[4] if ringed else radius)

    steer = routine(k, BY_LEVEL[level], (form, f"{form}_force"), kinds, inner)
    g: Expr = goal if isinstance(goal, Var) else k.let("g aim", goal)
    s: Expr = speed if isinstance(speed, Var) else k.let("s pace", speed)
    force = steer(x, v, g, s, radius) if ringed else steer(x, v, g, s)
    of = f"x = {say(k, place)}, v = {say(k, speed_v)}, g = {say(k, goal)}, s = {say(k, speed)}"
    of += f", r = {say(k, radius)}" if ringed else ""
    done = f"With {of}, the {form} force is {text}."
    if level >= 2 and (level >= 3 or shape.chance(0.5)):
        most = given(site, "max_force force_limit", scalar, 0.8, 1.6, forms=_SOURCES)
        force, after = _limited(k, force, most, say(k, most))
        done += f" It is {after}."
    if level <= 2 or shape.chance(0.4):
        return form, done + deliver(site, level, "steering forces accel", force)
    dt = given(site, "dt time_step", scalar, 0.05, 0.2, shared=3, literal=1)
    v_new = k.let("v_new v_next", v + force * dt)
    speed_out = site.put("new_velocities vel_out", v_new)
    place_out = site.put("new_positions pos_out", x + v_new * dt)
    done += f" {speed_out.name} gets w = v + {say(k, dt)} * force, {place_out.name} gets x + "
    return form, done + f"{say(k, dt)} * w."


def _flock(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """Separation, alignment and cohesion over listed neighbours."""
    shape, scalar = k.draw.shape, vec.scalar
    k.size("k", 3, 5)
    n = site.dims[-1]
    if shape.chance(0.6):
        struct, fields = struct_of(k, k.draw.word.choice(("Boid", "Agent", "Fish")), _agent(vec))
        flock = site.array("boids agents flock", struct, fields=fields)
        parts = [f.name for f in fields]

        def read(at: tuple[Expr, ...], me: bool) -> list[Expr]:
            one = k.let(("me", "self_boid") if me else ("nb", "other_boid"), flock[at])
            return [field(one, name) for name in parts]

    else:
        arrays = [site.array(plurals(p.names[:2]), vec, p.low, p.high) for p in _agent(vec)]
        parts = [a.name for a in arrays]

        def read(at: tuple[Expr, ...], me: bool) -> list[Expr]:
            names = (("x", "xi"), ("v", "vi")) if me else (("xj", "there"), ("vj", "v_other"))
            return [k.let(n, a[at]) for n, a in zip(names, arrays, strict=True)]

    links = k.array("neighbors nbrs", INT32, (*site.dims, "k"), init=f"index_of:{n}")
    rules = ["alignment", shape.choice(("separation", "cohesion"))]
    if level >= 5:
        rules = ["separation", "alignment", "cohesion"]
    rules = shape.sample(rules, len(rules))
    ranged = shape.chance(0.6)
    reach = given(site, "perception view_radius", scalar, 1.4, 2.4, forms=_SOURCES)
    weights = {
        r: given(site, f"w_{r} {r}_gain", scalar, 0.3, 1.5, shared=3, literal=2)
        for r in sorted(rules)
    }
    count = k.trip_count("neighbor_count num_neighbors", "k")
    xi, vi = read(site.at, True)
    sums = {r: k.let(f"{r} {r}_sum", zero(vec)) for r in sorted(rules)}
    seen = k.let("seen near", zero(scalar)) if ranged else None
    with k.for_("s slot e", count) as s:
        slot = (*site.at, s)
        j = k.let("j other", links[slot])
        xj, vj = read((*site.at[:-1], j), False)
        delta = k.let("delta to_other", xj - xi)
        square = k.let("d2 dist_sq", dot(delta, delta))
        terms = {"separation": -delta / (square + 0.1), "alignment": vj - vi, "cohesion": delta}
        if seen is None:
            for r in sorted(rules):
                k.augment(sums[r], "add", terms[r])
        else:
            with k.if_(square < reach * reach):
                for r in sorted(rules):
                    k.augment(sums[r], "add", terms[r])
                k.augment(seen, "add", 1.0)
    total: Expr | None = None
    for r in rules:
        part = weights[r] * sums[r]
        total = part if total is None else total + part
    assert total is not None
    share = 1.0 / fn("max", seen, 1.0) if seen is not None else None
    force = k.let("force accel", total if share is None else share * total)
    said_terms = {
        "separation": "(xi - xj) / (|xi - xj|^2 + 0.1)",
        "alignment": "vj - vi",
        "cohesion": "xj - xi",
    }
    listed = " and ".join(f"{say(k, weights[r])} * ({said_terms[r]})" for r in rules)
    where = f" with |xi - xj| < {say(k, reach)}" if ranged else ""
    done = f"Over the neighbours j of each i in {links.name}{where}, x = {parts[0]} and v = "
    done += f"{parts[1]}, sum {listed}"
    done += ", over the number of these (at least 1)." if ranged else "."
    if not ranged:
        size = k.let("size mag", sqrt(dot(force, force) + 1.0e-4))
        force = k.let("pushed steer", force * least(reach / size, 1.0))
        done += f" It is multiplied by min({say(k, reach)} / sqrt(|sum|^2 + 1.0e-4), 1)."
    done += deliver(site, level, "forces steering", force)
    if level >= 5:
        done += _moved(k, site, vec, xi, vi, force)
    return "flock", done


def _moved(k: KernelBuilder, site: Site, vec: Vec, x: Expr, v: Expr, force: Expr) -> str:
    """The step that the force brings about."""
    scalar = vec.scalar
    dt = given(site, "dt time_step", scalar, 0.05, 0.2, shared=3, literal=1)
    limit = given(site, "max_speed v_max", scalar, 0.6, 1.1, forms=_SOURCES)
    fast = maybe(k, "v_new v_next", v + force * dt, 1.0)
    kept, text = _limited(k, fast, limit, say(k, limit))
    kept = kept if isinstance(kept, Var) else k.let("v_kept v_lim", kept)
    first = site.put("new_velocities vel_out", kept)
    second = site.put("new_positions pos_out", x + dt * kept)
    return (
        f" {first.name} gets w = v + {say(k, dt)} * force (before masks or weights), {text}; "
        f"{second.name} gets x + {say(k, dt)} * w."
    )


@idiom
def steering(k: KernelBuilder, level: int) -> Title:
    """Agents that seek, flee, arrive or pursue, and flocks of them."""
    site = launch(k, list=5, batch=3 + level // 3)
    vec = float_vec(k, {2: 4, 3: 3})
    form, done = (_one_goal if level <= 3 else _flock)(k, level, site, vec)
    return Title(k.name(f"{form}_steering steer_{form} {form}_agents"), done)
