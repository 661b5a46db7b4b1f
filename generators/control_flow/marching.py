"""Marched rays and random walks, which end early."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.old import also, either, function_of, shown
from generators.control_flow.params import with_struct
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Operand, Var


@idiom
@with_struct
def sphere_tracing(k: KernelBuilder, level: int) -> Title:
    """Rays marched through a distance field until they are near a surface or have gone too far."""
    shape = k.draw.shape
    s = k.draw.wide_float_type()
    vec = Vec(3, s)
    n = k.size("num_rays", 48, 72)
    origin = k.array(("origins", "ray_o"), vec, n, low=-0.4, high=0.4)
    direction = k.array(("directions", "ray_d"), vec, n, init="unit")
    field = shape.choice(sorted(_FIELDS))
    radius = either(k, ("radius", "size"), s, 1.2, 1.6)
    steps = k.draw.value.integer(5, 8)
    out = k.out(("depth", "distance", "t_hit"), s, n)
    count_out = also(k, 0.0 if level < 2 else 0.6, ("steps", "iterations"), INT32, n)
    relax = round(k.draw.value.integer(7, 9) / 10, 1) if level >= 2 and shape.chance(0.7) else 1.0
    reach = (1.8, 2.3) if field in _OPEN else (1.1, 1.4)
    limit = either(k, ("max_dist", "t_max"), s, *reach) if level >= 3 else None
    stop = either(k, ("eps", "hit_distance"), s, 0.1, 0.3)
    begin = k.scalar(("t_min", "near"), s, 0.05, 0.2) if shape.chance(0.35) else None
    hit = also(k, 0.5 if field in _OPEN else 0.0, ("hit", "reached"), INT32, n)
    (i,) = k.thread(n, names=(k.name("i", "tid", "ray"),))
    o, d = k.let(("o", "ro"), origin[i]), k.let(("d", "rd"), direction[i])
    field_at = function_of(
        k,
        level,
        (f"{field}_distance", "scene_distance", "sdf"),
        [("p", vec), ("r", s)],
        lambda _, q, r: _field(field, q, r),
    )
    t = k.let(("t", "travel"), begin if begin is not None else k.lift(0.0, s))
    found = k.let(("found", "inside"), k.lift(0, INT32)) if hit is not None else None
    used = k.let(("used", "count"), k.lift(0, INT32)) if count_out is not None else None
    with k.for_(("it", "step"), steps):
        p = k.let(("p", "pos"), o + t * d)
        h = k.let(("h", "dist"), field_at(p, radius))
        with k.if_(h < stop):
            if found is not None:
                k.assign(found, 1)
            k.break_()
        k.augment(t, "add", relax * h if relax != 1.0 else h)
        if limit is not None:
            with k.if_(t > limit):
                k.assign(t, k.lift(limit, s))
                k.break_()
        if used is not None:
            k.augment(used, "add", 1)
    k.store(out, i, t)
    moved = "h" if relax == 1.0 else f"{relax} * h"
    done = f"March each ray p = o + t * d from t = {0 if begin is None else begin.name} for at "
    done += f"most {steps} steps of {moved} with h = {_FIELDS[field].format(r=shown(radius))}"
    done += f", ending where h < {shown(stop)}"
    done += (
        f" or t would exceed {shown(limit)}, where it is set to that" if limit is not None else ""
    )
    done += f"; t goes to {out.name}"
    if count_out is not None and used is not None:
        k.store(count_out, i, used)
        done += f", the number of full steps to {count_out.name}"
    if hit is not None and found is not None:
        k.store(hit, i, found)
        done += f"; {hit.name} is 1 where h fell below {shown(stop)}, else 0"
    return Title(k.name("sphere_trace", "march_rays", "raymarch"), f"{done}.")


_FIELDS = {
    "sphere": "{r} - |p|",
    "slab": "{r} - |p.y|",
    "pillar": "sqrt(p.x^2 + (p.z - 1)^2) - 0.5 * {r}",
    "tube": "{r} - sqrt(p.x^2 + p.z^2)",
    "room": "{r} - max(|p.x|, max(|p.y|, |p.z|))",
    "bowl": "min({r} - |p|, p.y + 0.8)",
}
"""Distances that the fields give, of a point p; {r} is the radius."""


_OPEN = frozenset({"slab", "pillar", "tube"})
"""Fields that some rays never meet."""


def _field(field: str, p: Expr, radius: Operand) -> Expr:
    if field == "sphere":
        return radius - fn("length", p)
    if field == "slab":
        return radius - fn("abs", p[1])
    if field == "pillar":
        side = p[2] - 1.0
        return fn("sqrt", p[0] * p[0] + side * side) - 0.5 * radius
    if field == "tube":
        return radius - fn("sqrt", p[0] * p[0] + p[2] * p[2])
    if field == "bowl":
        return fn("min", radius - fn("length", p), p[1] + 0.8)
    return radius - fn("max", fn("abs", p[0]), fn("max", fn("abs", p[1]), fn("abs", p[2])))


@idiom
@with_struct
def random_walks(k: KernelBuilder, level: int) -> Title:
    """Random walks of each thread until they leave a band, meet a wall or run out of steps."""
    shape = k.draw.shape
    n = k.size("num_walkers", 56, 80)
    seed = k.scalar(("seed", "rng_seed"), INT32, 1, 9999)
    form = shape.choice(("lattice", "uniform", "normal", "dice"))
    whole = form in ("lattice", "dice")
    type_ = INT32 if whole else FLOAT32
    steps = k.draw.value.integer(6, 14)
    out = k.out(("final", "position", "end"), type_, n)
    band = either(k, ("band", "barrier"), type_, *((3, 5) if whole else (1.5, 2.5)))
    start = k.array(("start", "origin"), type_, n, low=-1, high=1) if shape.chance(0.5) else None
    rule = shape.choice(("absorb", "reflect", "reset") if level >= 2 else ("absorb", "reset"))
    absorbs = rule == "absorb"
    taken = also(k, 0.7 if absorbs else 0.0, ("steps_taken", "lifetime"), INT32, n)
    drift = (
        either(k, ("drift", "bias"), type_, *((1, 2) if whole else (0.05, 0.2)))
        if level >= 3 and not whole and shape.chance(0.6)
        else None
    )
    (i,) = k.thread(n, names=(k.name("i", "tid"),))
    state = k.random_state(("state", "rng"), seed, i)
    x = k.let(("x", "pos"), start[i] if start is not None else k.lift(0, type_))
    used = k.let(("used", "count"), k.lift(0, INT32)) if taken is not None else None
    with k.for_(("t", "step"), steps):
        k.augment(x, "add", _move(k, form, state))
        if drift is not None:
            k.augment(x, "add", drift)
        if used is not None:
            k.augment(used, "add", 1)
        with k.if_(fn("abs", x) > band):
            if rule == "absorb":
                k.break_()
            elif rule == "reset":
                k.assign(x, k.lift(0, type_))
            elif whole:
                k.assign(x, -x)
            else:
                k.assign(x, 0.5 * x)
    k.store(out, i, x)
    moves = {
        "lattice": "-1 or 1 (randi(0, 2) * 2 - 1)",
        "dice": "randi(-2, 3)",
        "uniform": "randf(-1, 1)",
        "normal": "0.5 * randn",
    }
    ends = {
        "absorb": "ends the walk",
        "reset": "sets it to 0",
        "reflect": "changes its sign" if whole else "halves it",
    }
    done = f"Walker i, seeded by {seed.name} and i, makes up to {steps} moves of {moves[form]}"
    done += f" plus {shown(drift)}" if drift is not None else ""
    done += (
        f" from {start.name if start is not None else 0}; "
        f"a place beyond +-{shown(band)} {ends[rule]}. "
    )
    done += f"The last place goes to {out.name}"
    if taken is not None and used is not None:
        k.store(taken, i, used)
        done += f", the number of moves to {taken.name}"
    return Title(k.name("random_walk", "walk_in_band", "first_passage"), f"{done}.")


def _move(k: KernelBuilder, form: str, state: Var) -> Expr:
    if form == "lattice":
        return k.sample(("coin", "b"), "randi", state, 0, 2) * 2 - 1
    if form == "dice":
        return k.sample(("jump", "move"), "randi", state, -2, 3)
    if form == "uniform":
        return k.sample(("dx", "move"), "randf", state, -1.0, 1.0)
    return 0.5 * k.sample(("g", "kick"), "randn", state)
